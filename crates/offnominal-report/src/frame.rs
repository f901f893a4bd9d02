//! The frame of a chart: two axes around a plane, with grid lines, ticks and names.

use crate::axis::Axis;
use crate::svg::{Anchor, Stroke, Svg};

/// Two axes and where they stand.
#[derive(Debug, Clone)]
pub struct Frame {
    /// From left to right.
    pub x: Axis,
    /// From bottom to top.
    pub y: Axis,
    /// Width and height of the image in pixels.
    pub size: (f64, f64),
    /// Between the axes and the edges of the image.
    pub margins: Margins,
}

/// Distances from the edges of the image in pixels.
#[derive(Debug, Clone, Copy)]
pub struct Margins {
    /// For the labels of the vertical axis.
    pub left: f64,
    /// For the names of lines, if they stand there.
    pub right: f64,
    /// For the title.
    pub top: f64,
    /// For the labels of the horizontal axis.
    pub bottom: f64,
}

const GRID: Stroke<'_> = Stroke { class: "grid", colour: "#e4e4e0", width: 1.0, dash: "" };

impl Frame {
    /// Starts an image of this size with its title.
    pub fn begin(&self, title: &str) -> Svg {
        let mut svg = Svg::new(self.size.0, self.size.1, title);
        Frame::title(&mut svg, title);
        svg
    }

    /// Writes the title of an image.
    pub fn title(svg: &mut Svg, title: &str) {
        svg.text(4.0, 14.0, Anchor::Start, "title", title);
    }

    /// Where a point lies; values outside the axes are put on their edge.
    pub fn at(&self, (x, y): (f64, f64)) -> (f64, f64) {
        let Margins { left, right, top, bottom } = self.margins;
        let (width, height) = (self.size.0 - left - right, self.size.1 - top - bottom);
        (left + width * self.x.place(x), top + height * (1.0 - self.y.place(y)))
    }

    /// Left, top, right and bottom edge of the plane.
    pub fn edges(&self) -> [f64; 4] {
        let Margins { left, right, top, bottom } = self.margins;
        [left, top, self.size.0 - right, self.size.1 - bottom]
    }

    /// Draws a line across the whole plane, and returns its height.
    pub fn across(&self, svg: &mut Svg, y: f64, stroke: &Stroke<'_>) -> f64 {
        let ([left, _, right, _], (_, y)) = (self.edges(), self.at((self.x.low, y)));
        svg.segment((left, y), (right, y), stroke);
        y
    }

    /// Draws the grid lines of the vertical axis with their labels.
    pub fn rows(&self, svg: &mut Svg, ticks: &[f64], label: impl Fn(f64) -> String) {
        for &tick in ticks {
            let y = self.across(svg, tick, &GRID);
            svg.text(self.margins.left - 6.0, y + 4.0, Anchor::End, "label", &label(tick));
        }
    }

    /// Writes the labels of the horizontal axis.
    pub fn columns(&self, svg: &mut Svg, ticks: &[f64], label: impl Fn(f64) -> String) {
        let [.., bottom] = self.edges();
        for &tick in ticks {
            let (x, _) = self.at((tick, self.y.low));
            svg.text(x, bottom + 15.0, Anchor::Middle, "label", &label(tick));
        }
    }

    /// Writes what the horizontal axis shows.
    pub fn name_x(&self, svg: &mut Svg, name: &str) {
        let [.., right, bottom] = self.edges();
        svg.text(right, bottom + 29.0, Anchor::End, "label soft", name);
    }

    /// Writes what the vertical axis shows.
    pub fn name_y(&self, svg: &mut Svg, name: &str) {
        svg.text(4.0, self.margins.top - 6.0, Anchor::Start, "label soft", name);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::number;

    #[test]
    fn points_and_labels_lie_between_the_margins() {
        let margins = Margins { left: 10.0, right: 20.0, top: 30.0, bottom: 40.0 };
        let (x, y) = (Axis::linear(0.0, 10.0), Axis::linear(0.0, 1.0));
        let frame = Frame { x, y, size: (130.0, 170.0), margins };
        assert_eq!([frame.at((0.0, 0.0)), frame.at((5.0, 0.5))], [(10.0, 130.0), (60.0, 80.0)]);
        assert_eq!(frame.at((99.0, 9.0)), (110.0, 30.0));
        let mut svg = frame.begin("t");
        frame.rows(&mut svg, &[0.5], number::plain);
        frame.columns(&mut svg, &[10.0], number::plain);
        let svg = svg.end();
        assert!(svg.contains("x1=\"10\" y1=\"80\" x2=\"110\" y2=\"80\""), "{svg}");
        assert!(svg.contains(">0.5</text>") && svg.contains("x=\"110\" y=\"145\""), "{svg}");
    }
}

//! Curves through measured points with their intervals, over an axis of any quantity, for files of their own.

use crate::axis::Axis;
use crate::colour::Pen;
use crate::frame::{Frame, Margins};
use crate::number;
use crate::svg::{Anchor, Stroke, Svg};

/// One curve.
#[derive(Debug, Clone)]
pub struct Curve {
    /// What the legend calls it.
    pub name: String,
    /// How it is drawn.
    pub pen: Pen,
    /// Its points from left to right.
    pub points: Vec<Point>,
}

/// A measured point.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Point {
    /// Where it stands.
    pub x: f64,
    /// What was measured.
    pub y: f64,
    /// Lower and upper end of the interval of `y`.
    pub interval: (f64, f64),
}

/// Curves over one plane, with a legend at the right.
#[derive(Debug, Clone)]
pub struct Curves {
    /// The title, which is also what a screen reader says.
    pub title: String,
    /// What the horizontal and the vertical axis show.
    pub what: (String, String),
    /// The horizontal axis.
    pub x: Axis,
    /// The vertical axis.
    pub y: Axis,
    /// The curves, in the order of the legend.
    pub curves: Vec<Curve>,
}

const SIZE: (f64, f64) = (640.0, 340.0);
const MARGINS: Margins = Margins { left: 50.0, right: 190.0, top: 42.0, bottom: 38.0 };

impl Curves {
    /// The chart as a file of its own.
    pub fn alone(&self) -> String {
        let frame = Frame { x: self.x.clone(), y: self.y.clone(), size: SIZE, margins: MARGINS };
        let mut svg = Svg::alone(SIZE.0, SIZE.1, &self.title);
        Frame::title(&mut svg, &self.title);
        frame.rows(&mut svg, &self.y.ticks(5), number::plain);
        frame.columns(&mut svg, &self.x.ticks(6), number::plain);
        frame.name_x(&mut svg, &self.what.0);
        frame.name_y(&mut svg, &self.what.1);
        for (i, curve) in self.curves.iter().enumerate() {
            curve.draw(&frame, &mut svg);
            curve.name(&mut svg, MARGINS.top + 8.0 + 17.0 * i as f64);
        }
        svg.end()
    }
}

impl Curve {
    fn stroke(&self, width: f64) -> Stroke<'_> {
        Stroke { class: &self.pen.class, colour: self.pen.colour, width, dash: self.pen.dash }
    }

    fn draw(&self, frame: &Frame, svg: &mut Svg) {
        let places: Vec<(f64, f64)> = self.points.iter().map(|p| frame.at((p.x, p.y))).collect();
        svg.path(&places, &self.stroke(1.8));
        for (point, &place) in self.points.iter().zip(&places) {
            let end = |y: f64| frame.at((point.x, y));
            let whisker = Stroke { dash: "", ..self.stroke(1.0) };
            svg.segment(end(point.interval.0), end(point.interval.1), &whisker);
            svg.dot(place, &self.pen.class, self.pen.colour);
        }
    }

    fn name(&self, svg: &mut Svg, y: f64) {
        let x = SIZE.0 - MARGINS.right + 10.0;
        svg.segment((x, y), (x + 22.0, y), &self.stroke(2.5));
        svg.text(x + 28.0, y + 4.0, Anchor::Start, "label", &self.name);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn points_stand_in_the_plane_with_their_intervals() {
        let point = Point { x: 1.0, y: 0.5, interval: (0.25, 0.75) };
        let curve = Curve { name: "act-offset".into(), pen: Pen::detector(0), points: vec![point] };
        let (x, y) = (Axis::linear(0.0, 2.0), Axis::linear(0.0, 1.0));
        let what = ("magnitude".into(), "score".into());
        let svg = Curves { title: "t".into(), what, x, y, curves: vec![curve] }.alone();
        // The plane is 400 wide and 260 high.
        assert!(svg.contains("<circle cx=\"250\" cy=\"172\""), "{svg}");
        assert!(svg.contains("x1=\"250\" y1=\"237\" x2=\"250\" y2=\"107\""), "{svg}");
        assert!(svg.contains(">act-offset</text>"), "{svg}");
    }
}

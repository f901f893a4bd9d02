//! A scatter chart whose points name the body that they stand for.

use crate::analysis::Curve;
use offnominal_report::axis::Axis;
use offnominal_report::colour::Pen;
use offnominal_report::frame::{Frame, Margins};
use offnominal_report::number;
use offnominal_report::svg::{Anchor, Stroke, Svg};

/// Points of one colour.
pub struct Series {
    /// What the legend calls them.
    pub name: String,
    /// Their colour.
    pub pen: Pen,
    /// Where they are.
    pub dots: Vec<Dot>,
}

/// A point.
pub struct Dot {
    /// Its place.
    pub at: (f64, f64),
    /// The body that it stands for, by its key in the page; empty for none.
    pub body: String,
    /// What hovering says.
    pub says: String,
}

/// A scatter chart.
pub struct Scatter {
    /// Above it.
    pub title: String,
    /// Below it.
    pub across: String,
    /// At its left, above the axis.
    pub up: String,
    /// The points.
    pub series: Vec<Series>,
    /// A fitted curve.
    pub curve: Option<Curve>,
    /// Whether the line of equal values is drawn.
    pub diagonal: bool,
}

const SIZE: (f64, f64) = (330.0, 270.0);
const MARGINS: Margins = Margins { left: 52.0, right: 12.0, top: 50.0, bottom: 40.0 };
const FIT: Stroke<'_> = Stroke { class: "base", colour: "#3a3d42", width: 1.6, dash: "" };
const EQUAL: Stroke<'_> = Stroke { class: "base", colour: "#9a9a96", width: 1.0, dash: "4 3" };

impl Scatter {
    /// The image.
    pub fn draw(&self) -> String {
        let frame = self.frame();
        let mut svg = frame.begin(&self.title);
        frame.rows(&mut svg, &frame.y.ticks(5), number::plain);
        frame.columns(&mut svg, &frame.x.ticks(5), number::plain);
        frame.name_x(&mut svg, &self.across);
        frame.name_y(&mut svg, &self.up);
        self.legend(&mut svg);
        if self.diagonal {
            let (low, high) = (frame.x.low.max(frame.y.low), frame.x.high.min(frame.y.high));
            svg.segment(frame.at((low, low)), frame.at((high, high)), &EQUAL);
        }
        for series in &self.series {
            for dot in &series.dots {
                svg.point(frame.at(dot.at), &series.pen.class, series.pen.colour, &dot.body, &dot.says);
            }
        }
        if let Some(curve) = &self.curve {
            svg.path(&curve.points.iter().map(|&p| frame.at(p)).collect::<Vec<_>>(), &FIT);
        }
        svg.end()
    }

    fn frame(&self) -> Frame {
        let dots = || self.series.iter().flat_map(|s| &s.dots).map(|d| d.at);
        let axis = |values: Vec<f64>| {
            let (low, high) =
                values.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(l, h), &v| (l.min(v), h.max(v)));
            if low > high {
                Axis::linear(0.0, 1.0)
            } else {
                Axis::linear(low - 0.04 * (high - low), high + 0.04 * (high - low))
            }
        };
        let (x, y) = (axis(dots().map(|d| d.0).collect()), axis(dots().map(|d| d.1).collect()));
        Frame { x, y, size: SIZE, margins: MARGINS }
    }

    /// The names of the colours, in one line.
    fn legend(&self, svg: &mut Svg) {
        let mut x = MARGINS.left;
        for series in self.series.iter().filter(|s| !s.name.is_empty()) {
            svg.dot((x + 4.0, 29.0), &series.pen.class, series.pen.colour);
            svg.text(x + 11.0, 33.0, Anchor::Start, "label", &series.name);
            x += 24.0 + 6.2 * series.name.chars().count() as f64;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn points_are_drawn_with_their_bodies_and_nothing_is_no_panic() {
        let dot = Dot { at: (0.1, 5.0), body: "0.1/3".into(), says: "return 5".into() };
        let series = vec![Series { name: "σ = 0.1".into(), pen: Pen::detector(0), dots: vec![dot] }];
        let chart = |series| Scatter {
            title: "t".into(),
            across: "x".into(),
            up: "y".into(),
            series,
            curve: Some(Curve { points: vec![(0.1, 5.0), (0.2, 4.0)] }),
            diagonal: true,
        };
        let svg = chart(series).draw();
        assert!(svg.contains("data-body=\"0.1/3\"") && svg.contains("<title>return 5</title>"), "{svg}");
        assert!(chart(vec![]).draw().ends_with("</svg>"));
    }
}

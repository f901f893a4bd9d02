//! A scatter chart whose points name the body that they stand for.

use crate::analysis::Curve;
use offnominal_report::axis::Axis;
use offnominal_report::colour::Pen;
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
const LEFT: f64 = 52.0;
const RIGHT: f64 = 12.0;
const TOP: f64 = 50.0;
const BOTTOM: f64 = 40.0;
const GRID: Stroke<'_> = Stroke { class: "grid", colour: "#e4e4e0", width: 1.0, dash: "" };
const FIT: Stroke<'_> = Stroke { class: "base", colour: "#3a3d42", width: 1.6, dash: "" };
const EQUAL: Stroke<'_> = Stroke { class: "base", colour: "#9a9a96", width: 1.0, dash: "4 3" };

impl Scatter {
    /// The picture.
    pub fn draw(&self) -> String {
        let mut svg = Svg::new(SIZE.0, SIZE.1, &self.title);
        svg.text(4.0, 14.0, Anchor::Start, "title", &self.title);
        let plane = self.plane();
        plane.axes(&mut svg, &self.across, &self.up);
        self.legend(&mut svg);
        if self.diagonal {
            let (low, high) = (plane.x.low.max(plane.y.low), plane.x.high.min(plane.y.high));
            svg.segment(plane.at((low, low)), plane.at((high, high)), &EQUAL);
        }
        for series in &self.series {
            for dot in &series.dots {
                svg.point(plane.at(dot.at), &series.pen.class, series.pen.colour, &dot.body, &dot.says);
            }
        }
        if let Some(curve) = &self.curve {
            svg.path(&curve.points.iter().map(|&p| plane.at(p)).collect::<Vec<_>>(), &FIT);
        }
        svg.end()
    }

    fn plane(&self) -> Plane {
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
        Plane { x: axis(dots().map(|d| d.0).collect()), y: axis(dots().map(|d| d.1).collect()) }
    }

    /// The names of the colours, in one line.
    fn legend(&self, svg: &mut Svg) {
        let mut x = LEFT;
        for series in self.series.iter().filter(|s| !s.name.is_empty()) {
            svg.dot((x + 4.0, 29.0), &series.pen.class, series.pen.colour);
            svg.text(x + 11.0, 33.0, Anchor::Start, "label", &series.name);
            x += 24.0 + 6.2 * series.name.chars().count() as f64;
        }
    }
}

/// The two axes.
struct Plane {
    x: Axis,
    y: Axis,
}

impl Plane {
    fn at(&self, (x, y): (f64, f64)) -> (f64, f64) {
        let (width, height) = (SIZE.0 - LEFT - RIGHT, SIZE.1 - TOP - BOTTOM);
        (LEFT + width * self.x.place(x), TOP + height * (1.0 - self.y.place(y)))
    }

    fn axes(&self, svg: &mut Svg, across: &str, up: &str) {
        for tick in self.y.ticks(5) {
            let from = self.at((self.x.low, tick));
            svg.segment(from, (SIZE.0 - RIGHT, from.1), &GRID);
            svg.text(LEFT - 6.0, from.1 + 4.0, Anchor::End, "label", &number::plain(tick));
        }
        for tick in self.x.ticks(5) {
            let (x, y) = self.at((tick, self.y.low));
            svg.text(x, y + 15.0, Anchor::Middle, "label", &number::plain(tick));
        }
        svg.text(SIZE.0 - RIGHT, SIZE.1 - 8.0, Anchor::End, "label soft", across);
        svg.text(4.0, TOP - 6.0, Anchor::Start, "label soft", up);
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

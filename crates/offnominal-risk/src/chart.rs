//! The reliability curves: share of runs that are off by more than the factor, against experiments.

use crate::curve::{Curve, Point};
use offnominal_report::axis::Axis;
use offnominal_report::svg::{Anchor, Stroke, Svg};

const SIZE: (f64, f64) = (640.0, 300.0);
const LEFT: f64 = 52.0;
const RIGHT: f64 = 150.0;
const TOP: f64 = 34.0;
const BOTTOM: f64 = 46.0;

const PLAIN: Stroke<'_> = Stroke { class: "cb", colour: "#8a8a8a", width: 2.0, dash: "7 3" };
const METHOD: Stroke<'_> = Stroke { class: "c0", colour: "#0072b2", width: 2.2, dash: "" };
const GRID: Stroke<'_> = Stroke { class: "grid", colour: "#e4e4e0", width: 1.0, dash: "" };
const LIMIT: Stroke<'_> = Stroke { class: "c1", colour: "#d55e00", width: 1.2, dash: "2 3" };

/// Draws the curves; `method` is what the page calls the estimate.
pub fn draw(curve: &Curve, method: &str) -> String {
    let title = format!("Share of runs that are off by more than a factor of {}", curve.delta);
    let mut svg = Svg::new(SIZE.0, SIZE.1, &title);
    let plane = Plane::of(curve);
    svg.text(4.0, 14.0, Anchor::Start, "title", &title);
    plane.grid(&mut svg);
    svg.path(&plane.path(curve, |p| Some(p.plain)), &PLAIN);
    plane.name(&mut svg, curve, |p| Some(p.plain), "plain counting");
    if curve.points.iter().any(|p| p.method.is_some()) {
        let [low, high] =
            [1, 2].map(|i| plane.path(curve, |p| p.method.map(|m| if i == 1 { m.1 } else { m.2 })));
        svg.band(&high, &low, "c0", METHOD.colour);
        svg.path(&plane.path(curve, |p| p.method.map(|m| m.0)), &METHOD);
        plane.name(&mut svg, curve, |p| p.method.map(|m| m.0), method);
    }
    svg.end()
}

/// The two axes.
struct Plane {
    across: Axis,
    up: Axis,
}

impl Plane {
    fn of(curve: &Curve) -> Plane {
        let last = curve.points.last().map_or(100.0, |p| p.experiments);
        let across = Axis { low: 10.0, high: last.max(20.0), logarithmic: true };
        Plane { across, up: Axis::linear(0.0, 1.0) }
    }

    fn at(&self, experiments: f64, share: f64) -> (f64, f64) {
        let width = SIZE.0 - LEFT - RIGHT;
        let height = SIZE.1 - TOP - BOTTOM;
        (LEFT + width * self.across.place(experiments), TOP + height * (1.0 - self.up.place(share)))
    }

    fn path(&self, curve: &Curve, of: impl Fn(&Point) -> Option<f64>) -> Vec<(f64, f64)> {
        curve.points.iter().filter_map(|p| of(p).map(|share| self.at(p.experiments, share))).collect()
    }

    /// Writes a line's name where it has fallen to a half.
    fn name(&self, svg: &mut Svg, curve: &Curve, of: impl Fn(&Point) -> Option<f64>, name: &str) {
        let half = curve.points.iter().find(|p| of(p).is_some_and(|share| share < 0.5));
        if let Some(point) = half.or(curve.points.last()) {
            let (x, y) = self.at(point.experiments, of(point).unwrap_or(0.5));
            svg.text(x + 8.0, y - 4.0, Anchor::Start, "label strong", name);
        }
    }

    fn grid(&self, svg: &mut Svg) {
        let end = self.at(f64::MAX, 0.0);
        for share in [0.0, 0.25, 0.5, 0.75, 1.0] {
            let from = self.at(self.across.low, share);
            svg.segment(from, (end.0, from.1), &GRID);
            svg.text(LEFT - 6.0, from.1 + 4.0, Anchor::End, "label", &format!("{:.0} %", 100.0 * share));
        }
        let limit = self.at(self.across.low, 0.05);
        svg.segment(limit, (end.0, limit.1), &LIMIT);
        svg.text(end.0 + 6.0, limit.1 + 4.0, Anchor::Start, "label", "5 %");
        for tick in self.across.ticks(6) {
            let (x, y) = self.at(tick, 0.0);
            svg.text(x, y + 16.0, Anchor::Middle, "label", &count(tick));
        }
        svg.text(end.0, end.1 + 34.0, Anchor::End, "label soft", "experiments");
    }
}

/// A round count: 20, 5k, 1M.
fn count(value: f64) -> String {
    match value {
        v if v >= 1e6 => format!("{}M", v / 1e6),
        v if v >= 1e3 => format!("{}k", v / 1e3),
        v => format!("{v}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use offnominal_stats::risk::Budget;

    #[test]
    fn both_curves_are_drawn_and_named() {
        let point =
            |experiments: f64, plain: f64| Point { experiments, plain, method: Some((0.4, 0.3, 0.5)) };
        let points = vec![point(10.0, 1.0), point(100.0, 0.6), point(1000.0, 0.0)];
        let plain = Budget { first_reached: 475, always_holds: 630 };
        let svg = draw(&Curve { delta: 3.0, points, plain, method: None }, "thinned");
        assert!(
            svg.contains("plain counting") && svg.contains("thinned") && svg.matches("<path").count() == 3
        );
        assert!(svg.contains(">1k<") && svg.contains(">5 %<"));
    }
}

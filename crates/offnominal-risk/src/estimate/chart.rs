//! The reliability curves: share of runs that are off by more than the factor, against experiments.

use super::curve::{Curve, Point};
use offnominal_report::axis::Axis;
use offnominal_report::frame::{Frame, Margins};
use offnominal_report::svg::{Anchor, Stroke, Svg};

const MARGINS: Margins = Margins { left: 52.0, right: 150.0, top: 34.0, bottom: 46.0 };
const PLAIN: Stroke<'_> = Stroke { class: "cb", colour: "#8a8a8a", width: 2.0, dash: "7 3" };
const METHOD: Stroke<'_> = Stroke { class: "c0", colour: "#0072b2", width: 2.2, dash: "" };
const LIMIT: Stroke<'_> = Stroke { class: "c1", colour: "#d55e00", width: 1.2, dash: "2 3" };

/// Draws the curves; `method` is what the page calls the estimate.
pub fn draw(curve: &Curve, method: &str) -> String {
    let frame = frame(curve);
    let mut svg =
        frame.begin(&format!("Share of runs that are off by more than a factor of {}", curve.delta));
    frame.rows(&mut svg, &[0.0, 0.25, 0.5, 0.75, 1.0], |share| format!("{:.0} %", 100.0 * share));
    let limit = frame.across(&mut svg, 0.05, &LIMIT);
    let [.., right, _] = frame.edges();
    svg.text(right + 6.0, limit + 4.0, Anchor::Start, "label", "5 %");
    frame.columns(&mut svg, &frame.x.ticks(6), count);
    frame.name_x(&mut svg, "experiments");
    line(&mut svg, &frame, curve, |p| Some(p.plain), &PLAIN, "plain counting");
    if curve.points.iter().any(|p| p.method.is_some()) {
        let [low, high] = [|m: (f64, f64, f64)| m.1, |m: (f64, f64, f64)| m.2]
            .map(|end| path(&frame, curve, |p| p.method.map(end)));
        svg.band(&high, &low, "c0", METHOD.colour);
        line(&mut svg, &frame, curve, |p| p.method.map(|m| m.0), &METHOD, method);
    }
    svg.end()
}

fn frame(curve: &Curve) -> Frame {
    let last = curve.points.last().map_or(100.0, |p| p.experiments);
    let x = Axis { low: 10.0, high: last.max(20.0), logarithmic: true };
    Frame { x, y: Axis::linear(0.0, 1.0), size: (640.0, 300.0), margins: MARGINS }
}

fn path(frame: &Frame, curve: &Curve, of: impl Fn(&Point) -> Option<f64>) -> Vec<(f64, f64)> {
    curve.points.iter().filter_map(|p| of(p).map(|share| frame.at((p.experiments, share)))).collect()
}

/// A line with its name where it has fallen to a half.
fn line(
    svg: &mut Svg,
    frame: &Frame,
    curve: &Curve,
    of: fn(&Point) -> Option<f64>,
    stroke: &Stroke<'_>,
    name: &str,
) {
    svg.path(&path(frame, curve, of), stroke);
    let half = curve.points.iter().find(|p| of(p).is_some_and(|share| share < 0.5));
    if let Some(point) = half.or(curve.points.last()) {
        let (x, y) = frame.at((point.experiments, of(point).unwrap_or(0.5)));
        svg.text(x + 8.0, y - 4.0, Anchor::Start, "label strong", name);
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

    #[test]
    fn both_curves_are_drawn_and_named() {
        let point =
            |experiments: f64, plain: f64| Point { experiments, plain, method: Some((0.4, 0.3, 0.5)) };
        let points = vec![point(10.0, 1.0), point(100.0, 0.6), point(1000.0, 0.0)];
        let plain = 630;
        let svg = draw(&Curve { delta: 3.0, points, plain, method: None }, "thinned");
        assert!(
            svg.contains("plain counting") && svg.contains("thinned") && svg.matches("<path").count() == 3
        );
        assert!(svg.contains(">1k<") && svg.contains(">5 %<"));
    }
}

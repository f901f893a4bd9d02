//! The curves as a picture: share of runs that are off by more than a factor, against what they cost.

use super::curve::{Curve, MOST, Point};
use offnominal_report::axis::Axis;
use offnominal_report::frame::{Frame, Margins};
use offnominal_report::svg::{Anchor, Stroke, Svg};

const MARGINS: Margins = Margins { left: 52.0, right: 150.0, top: 34.0, bottom: 46.0 };
const COUNTING: Stroke<'_> = Stroke { class: "cb", colour: "#8a8a8a", width: 2.0, dash: "7 3" };
const METHOD: Stroke<'_> = Stroke { class: "c0", colour: "#0072b2", width: 2.2, dash: "" };
const LIMIT: Stroke<'_> = Stroke { class: "c1", colour: "#d55e00", width: 1.2, dash: "2 3" };

/// Draws both curves.
pub fn draw(curve: &Curve) -> String {
    let frame = frame(curve);
    let mut svg =
        frame.begin(&format!("Share of runs that are off by more than a factor of {}", curve.factor));
    frame.rows(&mut svg, &[0.0, 0.25, 0.5, 0.75, 1.0], |share| format!("{:.0} %", 100.0 * share));
    let limit = frame.across(&mut svg, MOST, &LIMIT);
    let [.., right, _] = frame.edges();
    svg.text(right + 6.0, limit + 4.0, Anchor::Start, "label", "5 %");
    frame.columns(&mut svg, &frame.x.ticks(6), count);
    frame.name_x(&mut svg, "cost in plain episodes");
    svg.path(&path(&frame, curve, |p| p.counting), &COUNTING);
    let [low, high] = [|p: &Point| p.off.low, |p: &Point| p.off.high].map(|end| path(&frame, curve, end));
    svg.band(&high, &low, METHOD.class, METHOD.colour);
    svg.path(&path(&frame, curve, |p| p.off.value), &METHOD);
    legend(&mut svg, right + 6.0, &[(&COUNTING, "plain counting"), (&METHOD, "replicates")]);
    svg.end()
}

fn frame(curve: &Curve) -> Frame {
    let cost = |point: Option<&Point>, other: f64| point.map_or(other, |p| p.cost);
    let (low, high) = (cost(curve.points.first(), 10.0).max(1.0), cost(curve.points.last(), 100.0));
    let x = Axis { low, high: high.max(2.0 * low), logarithmic: true };
    Frame { x, y: Axis::linear(0.0, 1.0), size: (640.0, 300.0), margins: MARGINS }
}

fn path(frame: &Frame, curve: &Curve, of: fn(&Point) -> f64) -> Vec<(f64, f64)> {
    curve.points.iter().map(|p| frame.at((p.cost, of(p)))).collect()
}

/// Names beside the frame, each behind a piece of its line.
fn legend(svg: &mut Svg, x: f64, lines: &[(&Stroke<'_>, &str)]) {
    for (i, (stroke, name)) in lines.iter().enumerate() {
        let y = MARGINS.top + 12.0 + 18.0 * i as f64;
        svg.path(&[(x, y), (x + 24.0, y)], stroke);
        svg.text(x + 30.0, y + 4.0, Anchor::Start, "label strong", name);
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
    use offnominal_stats::Level;
    use offnominal_stats::proportion::clopper_pearson;

    #[test]
    fn both_curves_are_drawn_and_named() {
        let off = clopper_pearson(8, 20, Level::P95).unwrap();
        let point = |cost: f64, counting: f64| Point { experiments: cost, cost, off: off.clone(), counting };
        let points = vec![point(10.0, 1.0), point(100.0, 0.6), point(1000.0, 0.0)];
        let svg = draw(&Curve { factor: 3.0, points, enough: None, counting: 630 });
        assert!(svg.contains("plain counting") && svg.contains("replicates"));
        // Two curves, the band, and two pieces in the legend.
        assert_eq!(svg.matches("<path").count(), 5);
        assert!(svg.contains(">1k<") && svg.contains(">5 %<"));
    }
}

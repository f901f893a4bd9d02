//! The charts of the page: a metric of every method, and mean scores of the classes.

use crate::results::{Evaluation, METRICS};
use offnominal_core::estimate::Estimate;
use offnominal_report::colour::Pen;
use offnominal_report::svg::{Anchor, Stroke, Svg};

const HEIGHT: f64 = 210.0;
const TOP: f64 = 30.0;
const LEFT: f64 = 40.0;
/// From one bar to the next, and how wide it is.
const STEP: f64 = 14.0;
const BAR: f64 = 11.0;
/// Height of a bar in the legend.
const SWATCH: f64 = 17.0;
/// Between the data sets.
const GAP: f64 = 26.0;

/// Bars of a metric for every method, grouped by data set, with their intervals.
pub fn bars(evaluations: &[Evaluation], methods: &[String], metric: usize) -> String {
    let (_, name, is_higher_better) = METRICS[metric];
    let group = STEP * methods.len() as f64 + GAP;
    let width = LEFT + group * evaluations.len() as f64 + 20.0;
    let arrow = if is_higher_better { "↑" } else { "↓" };
    let mut svg = Svg::new(width.max(180.0), TOP + HEIGHT + 30.0, &format!("{name} of each method"));
    svg.text(4.0, 16.0, Anchor::Start, "title", &format!("{name} {arrow}"));
    grid(&mut svg, width);
    for (g, e) in evaluations.iter().enumerate() {
        let left = LEFT + group * g as f64 + 0.5 * GAP;
        for m in &e.methods {
            let number = methods.iter().position(|id| *id == m.method).unwrap_or(0);
            if let Some(mode) = m.main() {
                bar(&mut svg, left + STEP * number as f64, mode.values()[metric], number);
            }
        }
        svg.text(left + 0.5 * (group - GAP), TOP + HEIGHT + 18.0, Anchor::Middle, "label", &e.data);
    }
    svg.end()
}

/// What the bars of a method look like.
pub fn swatch(number: usize) -> String {
    let mut svg = Svg::new(BAR, SWATCH, "");
    svg.bar((0.0, SWATCH), SWATCH, BAR, &Pen::detector(number));
    svg.end()
}

/// Where a share stands.
fn height_of(share: f64) -> f64 {
    TOP + HEIGHT * (1.0 - share.clamp(0.0, 1.0))
}

fn grid(svg: &mut Svg, width: f64) {
    let stroke = Stroke { class: "grid", colour: "#e4e4e0", width: 1.0, dash: "" };
    for tick in 0..=5 {
        let value = 0.2 * f64::from(tick);
        svg.segment((LEFT, height_of(value)), (width, height_of(value)), &stroke);
        svg.text(LEFT - 6.0, height_of(value) + 4.0, Anchor::End, "label", &format!("{value:.1}"));
    }
}

fn bar(svg: &mut Svg, x: f64, found: &Estimate, number: usize) {
    let y = height_of(found.value);
    svg.bar((x, TOP + HEIGHT), TOP + HEIGHT - y, BAR, &Pen::detector(number));
    let stroke = Stroke { class: "label", colour: "#3a3d42", width: 1.2, dash: "" };
    let middle = x + 0.5 * BAR;
    svg.segment((middle, height_of(found.low)), (middle, height_of(found.high)), &stroke);
}

/// Mean score of each class on nominal images and here, sorted by their difference (the paper's Figure 2); of the
/// entropy if it took part, as in the paper.
pub fn drift(e: &Evaluation) -> Option<String> {
    let method = e.methods.iter().find(|m| m.method == "entropy").or(e.methods.first())?;
    let pair = |i: usize| Some((i, (*method.nominal_class_means.get(i)?)?, (*method.class_means.get(i)?)?));
    let mut classes: Vec<_> = (0..e.classes.len()).filter_map(pair).collect();
    classes.sort_by(|a, b| (b.2 - b.1).total_cmp(&(a.2 - a.1)));
    let values = classes.iter().flat_map(|c| [c.1, c.2]);
    let (low, high) = values.fold((f64::MAX, f64::MIN), |(l, h), v| (l.min(v), h.max(v)));
    let low = low.min(0.0);
    let (step, width) = (44.0, LEFT + 44.0 * classes.len() as f64 + 30.0);
    let mut svg = Svg::new(width, TOP + HEIGHT + 90.0, "mean score of each class");
    svg.text(
        4.0,
        16.0,
        Anchor::Start,
        "title",
        &format!("Mean {} of each class: nominal images (grey) and these", method.method),
    );
    let y = |v: f64| TOP + HEIGHT * (1.0 - (v - low) / (high - low).max(1e-12));
    for (at, (class, nominal, here)) in classes.iter().enumerate() {
        let x = LEFT + step * at as f64;
        svg.rectangle((x, y(*nominal)), (14.0, y(low) - y(*nominal)), "#8a8a8a");
        svg.rectangle((x + 15.0, y(*here)), (14.0, y(low) - y(*here)), Pen::detector(0).colour);
        let row = if at % 2 == 0 { 16.0 } else { 30.0 };
        svg.text(x + 14.0, TOP + HEIGHT + row, Anchor::Middle, "label", &e.classes[*class]);
    }
    (!classes.is_empty()).then(|| svg.end())
}

//! Pictures of scored recordings: the statistic against its threshold, and channels around an alarm. A colour means the same
//! in all of them, and stands in the legend of the page.

use crate::score::overview::{Marks, Overview};
use crate::score::recording::{AlarmSpan, ScoredRecording};
use crate::score::when;
use offnominal_monitor::ChannelName;
use offnominal_report::axis::Axis;
use offnominal_report::frame::{Frame, Margins};
use offnominal_report::number;
use offnominal_report::svg::{Anchor, Stroke, Svg};
use offnominal_report::thin::thin;
use serde_json::json;
use std::ops::Range;

/// Above the plane stand the lanes of what happened.
const MARGINS: Margins = Margins { left: 58.0, right: 68.0, top: LANES + 8.0, bottom: 34.0 };
/// Height of a title, which stands above the lanes.
const TITLE: f64 = 16.0;
/// Height of a lane.
const LANE: f64 = 12.0;
/// Height of all lanes, with what keeps their names from those of the axis.
const LANES: f64 = 3.0 * LANE + 6.0;

const VALUE: Stroke<'_> = Stroke { class: "c0", colour: "#0072b2", width: 1.2, dash: "" };
const THRESHOLD: Stroke<'_> = Stroke { class: "ink", colour: "#3a3d42", width: 1.2, dash: "5 3" };
const RAISED: Stroke<'_> = Stroke { width: 1.4, ..ALARM };
const START: Stroke<'_> = Stroke { class: "c1", colour: "#d55e00", width: 1.4, dash: "2 3" };
const ALARM: Stroke<'_> = Stroke { class: "c1", colour: "#d55e00", width: 6.0, dash: "" };
const EVENT: Stroke<'_> = Stroke { class: "c3", colour: "#b5528b", width: 6.0, dash: "" };
const LOST: Stroke<'_> = Stroke { class: "c6", colour: "#4d4d4d", width: 6.0, dash: "" };

/// A line is broken no more often.
const MOST_BREAKS: f64 = 4000.0;
/// Steps that are shown of a channel before and after an alarm.
const AROUND: usize = 200;

/// The statistic over time with the threshold, and all that happened.
pub(super) fn overview(shown: &Overview<'_>, title: &str) -> String {
    let values = || shown.parts.iter().flat_map(|part| part.1.verdicts.iter().map(|v| v.statistic));
    // The typical value of a very long recording is found in some of it.
    let typical: Vec<f64> = values().step_by(values().count() / 10_000 + 1).collect();
    let y = Axis::around(values().chain(shown.parts.iter().map(|part| part.1.threshold)), &typical);
    let x = Axis::linear(0.0, shown.length_secs().max(f64::MIN_POSITIVE));
    let frame = Frame { x, y, size: (940.0, 220.0), margins: MARGINS };
    let mut svg = Svg::new(frame.size.0, frame.size.1, title);
    let lanes = axes(&mut svg, &frame, shown.start_nanos(), &shown.marks);
    frame.rows(&mut svg, &frame.y.ticks(4), number::plain);
    svg.begin_plane(plane(&frame));
    tint(&mut svg, &frame, &shown.marks.gaps, "cb band", "#8a8a8a");
    tint(&mut svg, &frame, &shown.marks.alarms, "c1 band", ALARM.colour);
    lanes.draw(&mut svg, &frame);
    statistic(&mut svg, &frame, shown);
    svg.end_plane();
    let (right, height) = (frame.edges()[2], frame.at((0.0, shown.parts[0].1.threshold)).1);
    svg.text(right + 4.0, height + 4.0, Anchor::Start, "label", "threshold");
    let from = when::secs(shown.start_nanos());
    let ends = [from, from + shown.length_secs()];
    let has_dates = when::is_date(shown.start_nanos());
    svg.data(&json!({"box": frame.edges(), "ends": ends, "dates": has_dates}).to_string());
    svg.end()
}

/// The statistic of all parts with their thresholds.
fn statistic(svg: &mut Svg, frame: &Frame, shown: &Overview<'_>) {
    let ends = |part: &ScoredRecording| [shown.begins(part), shown.begins(part) + part.length_secs];
    for same in shown.parts.chunk_by(|a, b| a.1.threshold.to_bits() == b.1.threshold.to_bits()) {
        let (first, last) = (same[0].1, same[same.len() - 1].1);
        let [from, until] = [ends(first)[0], ends(last)[1]].map(|at| frame.at((at, first.threshold)));
        svg.segment(from, until, &THRESHOLD);
    }
    let steps = |part: &ScoredRecording| {
        let steps = part.recorded.secs[1..].iter().zip(&part.verdicts);
        steps.map(|(at, verdict)| (ends(part)[0] + at, verdict.statistic)).collect::<Vec<_>>()
    };
    let values: Vec<(f64, f64)> = shown.parts.iter().flat_map(|part| steps(part.1)).collect();
    line(svg, frame, shown.longest_step, &values);
}

/// A line, broken where a value is missing, and where there is none for so long that it is seen.
fn line(svg: &mut Svg, frame: &Frame, longest_step: f64, values: &[(f64, f64)]) {
    let longest = longest_step.max((frame.x.high - frame.x.low) / MOST_BREAKS);
    let known = values.split(|point| point.1.is_nan());
    for stretch in known.flat_map(|part| part.chunk_by(|a, b| b.0 - a.0 <= longest)) {
        svg.path(&thin(frame, stretch.iter().copied()), &VALUE);
    }
}

/// A channel around an alarm with its usual range.
pub(super) fn channel(
    shown: &Overview<'_>,
    (recording, alarm): (&ScoredRecording, &AlarmSpan),
    (number, name): (usize, &ChannelName),
    usual: Option<[f64; 2]>,
) -> String {
    let (recorded, begins) = (&recording.recorded, shown.begins(recording));
    let width = recorded.observations.len() / recorded.secs.len();
    let rows = around(alarm.step as usize, recorded.secs.len());
    let of = |t: usize| (begins + recorded.secs[t], recorded.observations[t * width + number]);
    let values: Vec<(f64, f64)> = rows.map(of).collect();
    let numbers = values.iter().map(|point| point.1).filter(|x| x.is_finite());
    let y = Axis::around(numbers.chain(usual.into_iter().flatten()), &[f64::INFINITY]);
    let x = Axis::linear(values[0].0, values[values.len() - 1].0);
    let margins = Margins { top: MARGINS.top + TITLE, right: 14.0, ..MARGINS };
    let frame = Frame { x, y, size: (460.0, 200.0), margins };
    let ticks = frame.y.ticks(4);
    let base = base(&ticks);
    let mut svg = frame.begin(&title(name, base.as_deref()));
    let lanes = axes(&mut svg, &frame, shown.start_nanos(), &shown.marks);
    rows_above(&mut svg, &frame, &ticks, base.and_then(|text| text.parse().ok()).unwrap_or(0.0));
    svg.begin_plane(plane(&frame));
    // The usual range is tinted here, so that an alarm is not: two tints would make a third colour.
    tint(&mut svg, &frame, &shown.marks.gaps, "cb band", "#8a8a8a");
    lanes.draw(&mut svg, &frame);
    if let Some(ends) = usual {
        let [left, _, right, _] = frame.edges();
        let [low, high] = ends.map(|v| frame.at((0.0, v)).1);
        svg.band(&[(left, high), (right, high)], &[(left, low), (right, low)], "c2", "#009e73");
    }
    for (at, stroke) in [(Some(alarm.secs), RAISED), (alarm.onset_secs, START)] {
        at.iter().for_each(|at| upright(&mut svg, &frame, begins + at, &stroke));
    }
    line(&mut svg, &frame, shown.longest_step, &values);
    svg.end_plane();
    svg.end()
}

/// A line through the plane at a time that it shows.
fn upright(svg: &mut Svg, frame: &Frame, at: f64, stroke: &Stroke<'_>) {
    let ((x, _), [_, top, _, bottom]) = (frame.at((at, 0.0)), frame.edges());
    if at >= frame.x.low {
        svg.segment((x, top), (x, bottom), stroke);
    }
}

/// Rows around a step.
fn around(step: usize, n: usize) -> Range<usize> {
    let from = step.saturating_sub(AROUND);
    from..(step + AROUND).min(n).max(from + 1)
}

/// The part of a picture that can be zoomed: the lanes and the plane between the axes.
fn plane(frame: &Frame) -> [f64; 4] {
    let [left, top, right, bottom] = frame.edges();
    [left, top - LANES, right, bottom]
}

/// What happened, a lane for each kind that did.
struct Lanes<'a>(Vec<Lane<'a>>);

type Lane<'a> = (&'static str, &'a [(f64, f64)], Stroke<'static>);

impl Lanes<'_> {
    fn height(frame: &Frame, lane: usize) -> f64 {
        frame.edges()[1] - LANES + LANE * (lane as f64 + 0.5)
    }

    fn draw(&self, svg: &mut Svg, frame: &Frame) {
        for (lane, (_, spans, stroke)) in self.0.iter().enumerate() {
            let y = Lanes::height(frame, lane);
            seen(frame, spans).iter().for_each(|&(from, until)| svg.segment((from, y), (until, y), stroke));
        }
    }
}

/// The axis of time, and the names of the lanes.
fn axes<'a>(svg: &mut Svg, frame: &Frame, start: i64, marks: &'a Marks) -> Lanes<'a> {
    when::label(svg, frame, start, if frame.size.0 > 500.0 { 8 } else { 4 });
    let all = [("alarm", &marks.alarms, ALARM), ("event", &marks.events, EVENT), ("lost", &marks.lost, LOST)];
    let is_there = |spans: &[(f64, f64)]| !seen(frame, spans).is_empty();
    let kinds = all
        .into_iter()
        .filter(|kind| is_there(kind.1))
        .map(|(name, spans, stroke)| (name, &spans[..], stroke));
    let lanes = Lanes(kinds.collect());
    for (lane, (name, ..)) in lanes.0.iter().enumerate() {
        svg.text(MARGINS.left - 6.0, Lanes::height(frame, lane) + 4.0, Anchor::End, "label", name);
    }
    lanes
}

fn tint(svg: &mut Svg, frame: &Frame, spans: &[(f64, f64)], class: &str, colour: &str) {
    let [_, top, _, bottom] = frame.edges();
    for (from, until) in seen(frame, spans) {
        svg.tint((from, top), (until - from, bottom - top), class, colour);
    }
}

/// Where stretches of time lie in a frame, in pixels: those that no eye tells apart are one, and each can be seen.
fn seen(frame: &Frame, spans: &[(f64, f64)]) -> Vec<(f64, f64)> {
    const APART: f64 = 0.25;
    const NARROWEST: f64 = 1.5;
    let is_inside = |span: &&(f64, f64)| span.1 >= frame.x.low && span.0 <= frame.x.high;
    let mut parts: Vec<(f64, f64)> = Vec::new();
    for span in spans.iter().filter(is_inside) {
        let [left, right] = [span.0, span.1].map(|at| frame.at((at, 0.0)).0);
        match parts.last_mut() {
            Some(last) if left - last.1 < APART => last.1 = last.1.max(right),
            _ => parts.push((left, right)),
        }
    }
    parts.into_iter().map(|(left, right)| (left, right.max(left + NARROWEST))).collect()
}

fn title(name: &ChannelName, base: Option<&str>) -> String {
    let unit = if name.unit.is_empty() { String::new() } else { format!(" ({})", name.unit) };
    let above = base.map_or(String::new(), |base| format!(", above {base}"));
    format!("{}{unit}{above}", name.name)
}

/// Where numbers of an axis would look alike: the lowest of them, from which the others are counted.
fn base(ticks: &[f64]) -> Option<String> {
    let [first, second, ..] = ticks else { return None };
    let decimals = when::decimals(ticks);
    (number::plain(*first) == number::plain(*second)).then(|| format!("{first:.decimals$}"))
}

/// The grid with what its values have above a base.
fn rows_above(svg: &mut Svg, frame: &Frame, ticks: &[f64], base: f64) {
    // A step of the axis is far from what rounding leaves.
    let step = ticks.get(1).map_or(1.0, |second| second - ticks[0]);
    let label = |y: f64| number::plain(if base == 0.0 { y } else { ((y - base) / step).round() * step });
    frame.rows(svg, ticks, label);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_broken_where_it_is_seen() {
        let (x, y) = (Axis::linear(0.0, 1e5), Axis::linear(0.0, 1.0));
        let frame = Frame { x, y, size: (940.0, 220.0), margins: MARGINS };
        let n_paths = |values: &[(f64, f64)]| {
            let mut svg = Svg::new(940.0, 220.0, "");
            line(&mut svg, &frame, 0.1, values);
            svg.end().matches("<path").count()
        };
        let mut values: Vec<(f64, f64)> = (0..100_000).map(|i| (f64::from(i), 0.5)).collect();
        assert_eq!(n_paths(&values), 1);
        values.retain(|point| !(4e4..5e4).contains(&point.0));
        values[9].1 = f64::NAN;
        assert_eq!(n_paths(&values), 3);
    }

    #[test]
    fn a_hundred_thousand_stretches_are_few_and_each_is_seen() {
        let (x, y) = (Axis::linear(0.0, 1e5), Axis::linear(0.0, 1.0));
        let frame = Frame { x, y, size: (940.0, 220.0), margins: MARGINS };
        let spans: Vec<(f64, f64)> = (0..100_000).map(|i| (f64::from(i), f64::from(i) + 0.5)).collect();
        assert_eq!(seen(&frame, &spans).len(), 1);
        let alone = seen(&frame, &[(5e4, 5e4), (9e5, 9e5)]);
        assert!(alone.len() == 1 && alone[0].1 - alone[0].0 >= 1.5, "{alone:?}");
    }
}

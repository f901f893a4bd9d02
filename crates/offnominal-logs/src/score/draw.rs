//! Pictures of a scored recording: the statistic against its threshold, and channels around an alarm.

use crate::score::recording::{AlarmSpan, ScoredRecording};
use offnominal_monitor::ChannelName;
use offnominal_report::axis::Axis;
use offnominal_report::frame::{Frame, Margins};
use offnominal_report::number;
use offnominal_report::svg::{Anchor, Stroke, Svg};
use offnominal_report::thin::thin;
use std::ops::Range;

const MARGINS: Margins = Margins { left: 58.0, right: 68.0, top: 42.0, bottom: 34.0 };
const SCORE: Stroke<'_> = Stroke { class: "signal", colour: "#0072b2", width: 1.2, dash: "" };
const THRESHOLD: Stroke<'_> = Stroke { class: "level", colour: "#b03a00", width: 1.2, dash: "5 3" };
const ONSET: Stroke<'_> = Stroke { class: "level", colour: "#555555", width: 1.0, dash: "2 2" };

/// Steps that are shown of a channel before and after an alarm.
const AROUND: usize = 200;

/// The statistic over time with the threshold; alarms and labels are tinted.
pub fn timeline(recording: &ScoredRecording, name: &str, threshold: f64) -> String {
    let values: Vec<f64> = recording.verdicts.iter().map(|v| v.statistic).collect();
    let secs = &recording.recorded.secs[1..];
    let end = recording.length_secs.max(f64::MIN_POSITIVE);
    let y = Axis::around(values.iter().copied().chain([threshold]), &values);
    let frame = Frame { x: Axis::linear(0.0, end), y, size: (940.0, 190.0), margins: MARGINS };
    let mut svg = frame.begin(name);
    for (from, until) in labelled(recording) {
        tint(&mut svg, &frame, (from, until), "label", "#009e73");
    }
    for alarm in &recording.alarms {
        tint(&mut svg, &frame, (alarm.secs, alarm.until_secs), "onset", "#d55e00");
    }
    axes(&mut svg, &frame, "statistic", 0.0);
    let height = frame.across(&mut svg, threshold, &THRESHOLD);
    svg.text(frame.edges()[2] + 4.0, height + 4.0, Anchor::Start, "label", "threshold");
    let points: Vec<(f64, f64)> = thin(&values).into_iter().map(|(i, y)| frame.at((secs[i], y))).collect();
    svg.path(&points, &SCORE);
    svg.end()
}

/// A channel around an alarm with its usual range.
pub fn channel(
    recording: &ScoredRecording,
    alarm: &AlarmSpan,
    (number, name): (usize, &ChannelName),
    usual: Option<[f64; 2]>,
) -> String {
    let (secs, width) =
        (&recording.recorded.secs, recording.recorded.observations.len() / recording.recorded.secs.len());
    let shown = around(alarm.step as usize, secs.len());
    let of = |t: usize| recording.recorded.observations[t * width + number];
    let values: Vec<f64> = shown.clone().map(of).collect();
    let edges = usual.iter().flatten().copied();
    let y = Axis::around(values.iter().copied().filter(|x| x.is_finite()).chain(edges), &[f64::INFINITY]);
    let frame = Frame {
        x: Axis::linear(secs[shown.start], secs[shown.end - 1]),
        y,
        size: (460.0, 170.0),
        margins: MARGINS,
    };
    let unit = if name.unit.is_empty() { String::new() } else { format!(" ({})", name.unit) };
    let base = base(&frame.y.ticks(4));
    let above = base.as_ref().map_or(String::new(), |base| format!(", above {base}"));
    let mut svg = frame.begin(&format!("{}{unit}{above}", name.name));
    let base = base.and_then(|text| text.parse().ok()).unwrap_or(0.0);
    axes(&mut svg, &frame, "", base);
    if let Some([low, high]) = usual {
        let ([left, _, right, _], level) = (frame.edges(), |v: f64| frame.at((0.0, v)).1);
        let line = |v: f64| [(left, level(v)), (right, level(v))];
        svg.band(&line(high), &line(low), "usual", "#009e73");
        svg.text(right + 4.0, level(high) + 4.0, Anchor::Start, "label soft", "usual");
    }
    for at in [Some(alarm.secs), alarm.onset_secs]
        .into_iter()
        .flatten()
        .filter(|at| (secs[shown.start]..=secs[shown.end - 1]).contains(at))
    {
        let ((x, _), [_, top, _, bottom]) = (frame.at((at, 0.0)), frame.edges());
        svg.segment((x, top), (x, bottom), if at == alarm.secs { &THRESHOLD } else { &ONSET });
    }
    for part in recorded(&values) {
        let points: Vec<(f64, f64)> = part.map(|i| frame.at((secs[shown.start + i], values[i]))).collect();
        svg.path(&points, &SCORE);
    }
    svg.end()
}

/// Rows around a step.
fn around(step: usize, n: usize) -> Range<usize> {
    let from = step.saturating_sub(AROUND);
    from..(step + AROUND).min(n).max(from + 1)
}

/// Stretches without a missing value.
fn recorded(values: &[f64]) -> Vec<Range<usize>> {
    let mut parts: Vec<Range<usize>> = Vec::new();
    for i in (0..values.len()).filter(|&i| values[i].is_finite()) {
        match parts.last_mut() {
            Some(last) if last.end == i => last.end += 1,
            _ => parts.push(i..i + 1),
        }
    }
    parts
}

/// Stretches that are labelled as anomalous, in seconds.
fn labelled(recording: &ScoredRecording) -> Vec<(f64, f64)> {
    let Some(labels) = &recording.recorded.labels else { return vec![] };
    let mut parts: Vec<(f64, f64)> = Vec::new();
    for step in (0..labels.len()).filter(|&step| labels[step]) {
        let (from, until) = (recording.recorded.secs[step], recording.recorded.after(step as u64));
        match parts.last_mut() {
            Some(last) if last.1 == from => last.1 = until,
            _ => parts.push((from, until)),
        }
    }
    parts
}

/// Where numbers of an axis would look alike: the lowest of them, from which the others are counted.
fn base(ticks: &[f64]) -> Option<String> {
    let [first, second, ..] = ticks else { return None };
    let decimals = (-(second - first).log10().floor()).max(0.0) as usize;
    (number::plain(*first) == number::plain(*second)).then(|| format!("{first:.decimals$}"))
}

fn axes(svg: &mut Svg, frame: &Frame, what: &str, base: f64) {
    // A step of the axis is far from what rounding leaves.
    let ticks = frame.y.ticks(4);
    let step = ticks.get(1).map_or(1.0, |second| second - ticks[0]);
    let label = |y: f64| number::plain(if base == 0.0 { y } else { ((y - base) / step).round() * step });
    frame.rows(svg, &ticks, label);
    frame.columns(svg, &frame.x.ticks(8), number::plain);
    frame.name_x(svg, "seconds");
    frame.name_y(svg, what);
}

fn tint(svg: &mut Svg, frame: &Frame, (from, until): (f64, f64), class: &str, colour: &str) {
    let ((left, _), (right, _), [_, top, _, bottom]) =
        (frame.at((from, 0.0)), frame.at((until, 0.0)), frame.edges());
    svg.tint((left, top), ((right - left).max(2.0), bottom - top), class, colour);
}

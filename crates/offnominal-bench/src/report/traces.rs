//! Scores over time of chosen episodes: the anomalous episode, its nominal twin, the onset and the thresholds.

use crate::report::index::Index;
use crate::results::Trace;
use offnominal_report::axis::Axis;
use offnominal_report::colour::Pen;
use offnominal_report::number::plain;
use offnominal_report::plot::{Level, Line, Plot};
use offnominal_stats::rule;
use serde::Serialize;

/// One episode as all its detectors saw it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Group {
    /// Anomaly, strength and episode.
    pub title: String,
    /// Environment, by which the page groups.
    pub environment: String,
    /// One chart per detector.
    pub charts: Vec<String>,
}

/// The chosen episodes, each with its detectors in the order of the tables.
pub fn groups(index: &Index, traces: &[Trace]) -> Vec<Group> {
    let mut sorted: Vec<&Trace> = traces.iter().collect();
    sorted.sort_by_key(|t| index.detectors.iter().position(|d| *d == t.detector)); // a stable sort
    let mut groups: Vec<Group> = Vec::new();
    for trace in sorted {
        let title = episode(trace);
        let at =
            groups.iter().position(|g| g.environment == trace.env && g.title == title).unwrap_or_else(|| {
                groups.push(Group { title, environment: trace.env.clone(), charts: Vec::new() });
                groups.len() - 1
            });
        groups[at].charts.push(chart(index, trace));
    }
    groups
}

/// The chart of one trace as a file of its own.
pub fn image(index: &Index, trace: &Trace) -> String {
    plot(index, trace, &format!("{} · {} · {}", trace.detector, trace.env, episode(trace))).alone()
}

/// The chart of one trace inside the page.
pub fn chart(index: &Index, trace: &Trace) -> String {
    plot(index, trace, &trace.detector).inside()
}

fn episode(trace: &Trace) -> String {
    format!("{} {} · episode {}", trace.anomaly, trace.strength, trace.episode)
}

fn plot(index: &Index, trace: &Trace, title: &str) -> Plot {
    let main = main_threshold(trace);
    let alarm = main.and_then(|(_, level)| first_alarm(trace, level));
    let values = trace.scores.iter().chain(&trace.twin).copied();
    Plot {
        title: title.into(),
        what: format!("step (1 step = {} s)", plain(trace.dt_secs)),
        axis: Axis::around(values.chain(trace.thresholds.iter().map(|t| t.1)), &trace.twin),
        lines: lines(index, trace),
        levels: levels(trace, main.map(|t| t.0)),
        onset: Some((trace.onset, onset_text(trace.onset, main.map(|t| t.0), alarm))),
        mark: alarm.map(|t| (t, trace.scores[t], format!("+{}", t - trace.onset as usize))),
        size: (520.0, 220.0),
    }
}

fn onset_text(onset: u32, threshold: Option<&str>, alarm: Option<usize>) -> String {
    match (threshold, alarm) {
        (None, _) => format!("onset at {onset}"),
        (Some(_), Some(t)) if t == onset as usize => format!("onset at {onset}, alarm at once"),
        (Some(_), Some(t)) => format!("onset at {onset}, alarm {} later", steps(t - onset as usize)),
        (Some(name), None) => format!("onset at {onset}, no alarm at {name}"),
    }
}

fn steps(n: usize) -> String {
    if n == 1 { "1 step".into() } else { format!("{n} steps") }
}

/// The threshold that decides about the alarm: the preferred one among those of the trace.
fn main_threshold(trace: &Trace) -> Option<(&str, f64)> {
    let named = |name: &str| trace.thresholds.iter().find(|t| t.0 == name);
    let preferred = rule::preferred().find_map(|r| named(r.id)).or(trace.thresholds.first())?;
    Some((preferred.0.as_str(), preferred.1))
}

fn first_alarm(trace: &Trace, level: f64) -> Option<usize> {
    let onset = trace.onset as usize;
    (onset..trace.scores.len()).find(|&t| trace.scores[t] > level)
}

fn lines(index: &Index, trace: &Trace) -> Vec<Line> {
    let detector = index.detectors.iter().position(|d| *d == trace.detector);
    let pen = detector.map_or_else(|| Pen::detector(0), |d| index.pen(d));
    let pen = Pen { class: if pen.class == "cb" { "ink".into() } else { pen.class }, dash: "", ..pen };
    let twin = Pen { class: "twin".into(), colour: "#a9a9a5", dash: "" };
    let line = |name: &str, pen, width, values: &[f64]| Line {
        name: name.into(),
        note: String::new(),
        pen,
        width,
        values: values.to_vec(),
        band: Vec::new(),
    };
    vec![line("nominal twin", twin, 1.3, &trace.twin), line("anomalous episode", pen, 1.6, &trace.scores)]
}

fn levels(trace: &Trace, main: Option<&str>) -> Vec<Level> {
    let finite = trace.thresholds.iter().filter(|t| t.1.is_finite());
    finite.map(|(n, v)| Level { name: n.clone(), value: *v, main: Some(n.as_str()) == main }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn trace() -> Trace {
        Trace {
            env: "sap-goal0".into(),
            anomaly: "obs-drift".into(),
            strength: "strong".into(),
            detector: "knn".into(),
            episode: 3,
            dt_secs: 0.1,
            onset: 2,
            scores: vec![9.0, 1.0, 1.0, 2.0, 7.0],
            twin: vec![1.0; 4],
            thresholds: vec![("q95".into(), 3.0), ("conformal".into(), 5.0)],
        }
    }

    #[test]
    fn the_alarm_is_the_first_after_onset_above_the_preferred_threshold() {
        let plot = plot(&Index::new(&[]), &trace(), "knn");
        assert_eq!(plot.mark, Some((4, 7.0, "+2".into())));
        assert_eq!(plot.onset, Some((2, "onset at 2, alarm 2 steps later".into())));
        let main: Vec<bool> = plot.levels.iter().map(|l| l.main).collect();
        assert_eq!(main, [false, true]);
    }

    #[test]
    fn no_alarm_is_said() {
        let quiet = Trace { scores: vec![1.0; 5], ..trace() };
        assert_eq!(
            plot(&Index::new(&[]), &quiet, "").onset,
            Some((2, "onset at 2, no alarm at conformal".into()))
        );
    }

    #[test]
    fn detectors_of_one_episode_stand_together() {
        let other = Trace { detector: "pe-dm".into(), ..trace() };
        let groups = groups(&Index::new(&[]), &[trace(), other, Trace { episode: 4, ..trace() }]);
        let sizes: Vec<usize> = groups.iter().map(|g| g.charts.len()).collect();
        assert_eq!(sizes, [2, 1]);
    }

    #[test]
    fn an_onset_after_the_end_is_no_panic() {
        plot(&Index::new(&[]), &Trace { onset: 99, ..trace() }, "").inside();
    }
}

//! The table that a benchmark ends with: one line per detector, means over anomalies and strengths with intervals.

use crate::cells::assemble::is_control;
use crate::report::aggregate::{self, Point};
use crate::results::Row;
use offnominal_core::estimate::Estimate;
use std::collections::BTreeMap;

/// A column: title, metric, threshold.
type Column = (&'static str, &'static str, &'static str);

const COLUMNS: [Column; 6] = [
    ("AUROC matched", "auroc_matched", ""),
    ("AUROC global", "auroc_global", ""),
    ("found in 20 steps", "d20", "conformal"),
    ("median delay", "delay_median", "conformal"),
    ("false alarms", "false_alarm_rate", "conformal"),
    ("control", "auroc_matched", ""),
];

/// Title of the column of nominal episodes judged as if they were anomalous.
const CONTROL: &str = "control";

/// The place of the median delay among the columns, and what stands there when most medians are not reached.
const DELAY: usize = 3;
const DETECTED: Column = ("detected", "detection_rate", "conformal");

/// The table as text.
pub fn summary(rows: &[Row], detectors: &[String]) -> String {
    let columns = columns(rows, detectors);
    let title = std::iter::once("detector".to_string()).chain(columns.iter().map(|c| c.0.to_string()));
    let mut lines: Vec<Vec<String>> = vec![title.collect()];
    for detector in detectors {
        let own: Vec<&Row> = rows.iter().filter(|r| r.detector == *detector).collect();
        let numbers = columns.iter().map(|&column| cell(&own, column));
        lines.push(std::iter::once(detector.clone()).chain(numbers).collect());
    }
    aligned(&lines)
}

/// What the audit tells of one detector: matched and global AUROC, found in 20 steps, false alarms and control; none where its rows
/// have no such number.
pub fn ranked(rows: &[Row], detector: &str) -> [Option<Estimate>; 5] {
    let own: Vec<&Row> = rows.iter().filter(|r| r.detector == detector).collect();
    [0, 1, 2, 4, 5].map(|column| estimate(&own, COLUMNS[column]))
}

/// The columns that tell something.
fn columns(rows: &[Row], detectors: &[String]) -> [Column; 6] {
    let own = |d: &String| rows.iter().filter(|r| r.detector == *d).collect::<Vec<_>>();
    let medians = detectors.iter().filter_map(|d| estimate(&own(d), COLUMNS[DELAY]));
    let (reached, not): (Vec<Estimate>, Vec<Estimate>) = medians.partition(|e| e.value.is_finite());
    let mut columns = COLUMNS;
    if not.len() > reached.len() {
        columns[DELAY] = DETECTED;
    }
    columns
}

fn cell(rows: &[&Row], column: Column) -> String {
    estimate(rows, column).map_or("–".into(), |e| show(&e, column.1))
}

fn estimate(rows: &[&Row], (title, metric, threshold): Column) -> Option<Estimate> {
    let points =
        points(rows.iter().copied().filter(|r| {
            r.metric == metric && r.threshold == threshold && is_control(r) == (title == CONTROL)
        }));
    match metric {
        "delay_median" => aggregate::median(&points),
        _ => aggregate::mean(&points, (0.0, 1.0)),
    }
}

/// One point per environment, policy, anomaly and strength, repetitions averaged; anomalies of an environment are a
/// cluster.
fn points<'a>(rows: impl Iterator<Item = &'a Row>) -> Vec<Point> {
    let mut clusters: BTreeMap<(&str, &str, &str), usize> = BTreeMap::new();
    let mut cells: BTreeMap<(usize, &str), Vec<Point>> = BTreeMap::new();
    for row in rows {
        let n = clusters.len();
        let cluster = *clusters.entry((&row.env, &row.policy, &row.anomaly)).or_insert(n);
        let point = Point { value: row.value, low: row.low, high: row.high, cluster };
        cells.entry((cluster, &row.strength)).or_default().push(point);
    }
    cells.values().filter_map(|repetitions| aggregate::over_seeds(repetitions)).collect()
}

fn show(e: &Estimate, metric: &str) -> String {
    let steps = |x: f64| if x.is_infinite() { "∞".to_string() } else { format!("{x:.0}") };
    let share = |x: f64| format!("{x:.2}").trim_start_matches('0').to_string();
    let one = |x: f64| {
        if metric == "delay_median" {
            steps(x)
        } else if x >= 1.0 {
            "1.0".into()
        } else {
            share(x)
        }
    };
    format!("{} [{}, {}]", one(e.value), one(e.low), one(e.high))
}

/// Columns with two spaces between; the first to the left, numbers to the right.
fn aligned(lines: &[Vec<String>]) -> String {
    let length = |text: &String| text.chars().count();
    let widths: Vec<usize> =
        (0..lines[0].len()).map(|k| lines.iter().map(|l| length(&l[k])).max().unwrap_or(0)).collect();
    let mut out = String::new();
    for line in lines {
        for (k, (text, &width)) in line.iter().zip(&widths).enumerate() {
            let padding = " ".repeat(width - length(text));
            let cell = if k == 0 { format!("{text}{padding}") } else { format!("  {padding}{text}") };
            out.push_str(&cell);
        }
        out.push('\n');
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::sample::row;

    #[test]
    fn anomalies_are_averaged_and_the_control_stands_apart() {
        let base = Row { low: 0.7, high: 0.9, ..row("knn", "act-noise", "tiny", "auroc_matched", "", 0.8) };
        let weaker = Row { strength: "medium".into(), value: 0.6, low: 0.5, high: 0.7, ..base.clone() };
        let control =
            Row { anomaly_class: "none".into(), anomaly: "none".into(), value: 0.5, ..base.clone() };
        let table = summary(&[base, weaker, control], &["knn".into()]);
        let line = table.lines().nth(1).unwrap();
        assert!(
            line.starts_with("knn") && line.contains(".70 [.60, .80]") && line.contains(".50 ["),
            "{table}"
        );
        assert_eq!(line.matches('–').count(), 4, "{table}");
    }
}

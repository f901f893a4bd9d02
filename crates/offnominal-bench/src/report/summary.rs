//! The summary tables: every detector's mean over the cells, for all environments and for each.

use crate::report::aggregate::{self, Point};
use crate::report::index::Index;
use offnominal_core::estimate::Estimate;
use offnominal_report::number::Number;
use offnominal_stats::metric::{self, Metric, Unit};
use serde::Serialize;

const DELAY: &str = "delay_median";
const DETECTED: &str = "detection_rate";
const MISSED: &str = "missing_rate";

/// A table of detectors (rows) and metrics (columns).
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Table {
    /// What the table is about: an environment, or all.
    pub title: String,
    /// Titles of the columns after the first.
    pub columns: Vec<Column>,
    /// One row per detector, or per detector and threshold.
    pub rows: Vec<Line>,
}

/// A column's title and explanation.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Column {
    /// The title.
    pub label: &'static str,
    /// The definition of the metric.
    pub definition: &'static str,
    /// Which way is better: `↑` or `↓`.
    pub arrow: &'static str,
}

/// One row of a table.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Line {
    /// Detector id.
    pub detector: String,
    /// Threshold, where rows differ by it.
    pub threshold: String,
    /// Name of the detector's colour in the style sheet.
    pub pen: String,
    /// Whether it is a baseline, which stands apart.
    pub baseline: bool,
    /// One number per column.
    pub numbers: Vec<Number>,
}

/// The columns of the given metrics.
pub fn columns(ids: &[&str]) -> Vec<Column> {
    ids.iter().filter_map(|id| metric::find(id)).map(Column::of).collect()
}

impl Column {
    fn of(metric: &'static Metric) -> Column {
        let arrow = if metric.rises() { "↑" } else { "↓" };
        Column { label: metric.label, definition: metric.definition, arrow }
    }
}

/// The summary of all environments, then of each environment if there are several.
pub fn tables(index: &Index) -> Vec<Table> {
    index.scopes().into_iter().map(|(title, environment)| table(index, title, environment)).collect()
}

fn table(index: &Index, title: &str, environment: Option<&str>) -> Table {
    let pairs: Vec<_> = (0..index.detectors.len()).map(|d| (d, index.headline())).collect();
    let metrics = telling(index, environment, &metric::shown(|c| c.summary), &pairs);
    let mut rows = lines(index, environment, &pairs, &metrics);
    // All rows are at the same threshold, which the heading says.
    rows.iter_mut().for_each(|row| row.threshold.clear());
    rows.sort_by(|a, b| best_first(a).total_cmp(&best_first(b)));
    Table { title: title.into(), columns: columns(&metrics), rows }
}

/// The metrics of a table with these detectors and thresholds. A median delay that is mostly not reached says little:
/// the share detected stands in its place, and its complement is left out.
pub fn telling(
    index: &Index,
    environment: Option<&str>,
    metrics: &[&'static str],
    pairs: &[(usize, &'static str)],
) -> Vec<&'static str> {
    let medians = pairs.iter().filter_map(|&(d, t)| Some(estimate(index, environment, d, DELAY, t)?.value));
    let (reached, not): (Vec<f64>, Vec<f64>) = medians.partition(|v| v.is_finite());
    if not.len() <= reached.len() {
        return metrics.to_vec();
    }
    let detected = !metrics.contains(&DETECTED);
    let instead = |m: &&'static str| match *m {
        DELAY => detected.then_some(DETECTED),
        MISSED => None,
        other => Some(other),
    };
    metrics.iter().filter_map(instead).collect()
}

/// By the first column, falling; what is missing comes last.
fn best_first(line: &Line) -> f64 {
    line.numbers.first().and_then(|n| n.sort.parse::<f64>().ok()).map_or(f64::INFINITY, |v| -v)
}

/// One row per detector and threshold.
pub fn lines(
    index: &Index,
    environment: Option<&str>,
    pairs: &[(usize, &'static str)],
    metrics: &[&'static str],
) -> Vec<Line> {
    let line = |&(detector, threshold): &(usize, &'static str)| Line {
        detector: index.detectors[detector].clone(),
        threshold: threshold.into(),
        pen: index.pen(detector).class,
        baseline: index.is_baseline(detector),
        numbers: metrics.iter().map(|id| cell(index, environment, detector, id, threshold)).collect(),
    };
    pairs.iter().map(line).collect()
}

/// The number of one detector and metric over all cells of an environment, or of all environments.
fn cell(
    index: &Index,
    environment: Option<&str>,
    detector: usize,
    metric: &'static str,
    threshold: &'static str,
) -> Number {
    let Some(known) = metric::find(metric) else { return Number::missing("unknown metric") };
    match estimate(index, environment, detector, metric, threshold) {
        None => Number::missing("no cell of this campaign has this number"),
        Some(e) => {
            let tip = tip(index, environment, detector, known, threshold, &e);
            Number::of(&e, known.unit, tip)
        }
    }
}

/// Mean (for delays: median) over the cells, with its interval; none if no cell has a value.
pub fn estimate(
    index: &Index,
    environment: Option<&str>,
    detector: usize,
    metric: &'static str,
    threshold: &'static str,
) -> Option<Estimate> {
    let known = metric::find(metric)?;
    let points = points(index, environment, detector, known, threshold);
    match known.unit {
        Unit::Steps => aggregate::median(&points),
        _ => aggregate::mean(&points, known.range()),
    }
}

/// The cells behind a number; metrics without a threshold ignore the one that is given.
pub fn points(
    index: &Index,
    environment: Option<&str>,
    detector: usize,
    metric: &'static Metric,
    threshold: &'static str,
) -> Vec<Point> {
    let threshold = if metric.thresholded { threshold } else { "" };
    let of = |settings: Vec<usize>| -> Vec<Point> {
        settings.into_iter().filter_map(|s| index.point(s, detector, metric.id, threshold)).collect()
    };
    // False alarms are counted on the twins, so they stand in the anomalous settings; results without such have only
    // the control's.
    let anomalous = of(index.anomalous(environment));
    if anomalous.is_empty() && metric.id == "false_alarm_rate" {
        of(index.controls(environment))
    } else {
        anomalous
    }
}

fn tip(
    index: &Index,
    environment: Option<&str>,
    detector: usize,
    metric: &Metric,
    threshold: &str,
    e: &Estimate,
) -> String {
    let place = environment.unwrap_or("all environments");
    let at = if metric.thresholded { format!(" at threshold {threshold}") } else { String::new() };
    format!("{} · {}{at} · {place} · {} {}", index.detectors[detector], metric.label, e.method, e.n)
}

/// How far the first detector's mean is ahead of the second's, from the cells that both have.
pub fn difference(index: &Index, first: usize, second: usize, metric: &'static str) -> Option<Estimate> {
    let differences: Vec<Point> = index
        .anomalous(None)
        .into_iter()
        .filter_map(|s| {
            let (a, b) = (index.point(s, first, metric, "")?, index.point(s, second, metric, "")?);
            let value = a.value - b.value;
            Some(Point { value, low: f64::NAN, high: f64::NAN, cluster: a.cluster })
        })
        .collect();
    aggregate::mean(&differences, (-1.0, 1.0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::sample::row;
    use crate::results::Row;

    #[test]
    fn the_mean_of_the_rows_is_what_the_table_shows() {
        let rows = [
            row("knn", "obs-noise", "tiny", "auroc_matched", "", 0.6),
            row("knn", "act-noise", "tiny", "auroc_matched", "", 0.7),
            row("knn", "act-delay", "tiny", "auroc_matched", "", 0.83),
        ];
        let table = &tables(&Index::new(&rows))[0];
        assert_eq!((table.title.as_str(), table.rows.len()), ("sap-goal0", 1));
        assert_eq!(table.rows[0].numbers[0].text, "0.710");
        assert!(table.rows[0].numbers[0].tip.contains("mean over cells 3"));
        assert_eq!(table.rows[0].numbers[1], Number::missing("no cell of this campaign has this number"));
    }

    #[test]
    fn medians_that_are_mostly_not_reached_give_way_to_the_share_detected() {
        let delays = |of: [f64; 3]| -> Vec<Row> {
            let named = ["knn", "pe-dm", "clock"].into_iter().zip(of);
            named.map(|(d, v)| row(d, "obs-noise", "tiny", "delay_median", "q95", v)).collect()
        };
        let labels = |of: [f64; 3]| -> Vec<&'static str> {
            tables(&Index::new(&delays(of)))[0].columns.iter().map(|c| c.label).collect()
        };
        let never = f64::INFINITY;
        let reached = labels([4.0, 5.0, never]);
        assert!(reached.contains(&"Median delay") && reached.contains(&"Missed"), "{reached:?}");
        let mostly_not = labels([4.0, never, never]);
        assert!(mostly_not.contains(&"Detected") && !mostly_not.contains(&"Median delay"), "{mostly_not:?}");
        assert!(!mostly_not.contains(&"Missed"), "{mostly_not:?}");
    }

    #[test]
    fn the_control_enters_no_mean_but_false_alarms_without_anomalies() {
        let twin = row("knn", "obs-noise", "tiny", "false_alarm_rate", "q95", 0.9);
        let control = Row { anomaly_class: "none".into(), value: 0.1, ..twin.clone() };
        let far =
            |rows: &[Row]| estimate(&Index::new(rows), None, 0, "false_alarm_rate", "q95").map(|e| e.value);
        assert_eq!(far(&[twin, control.clone()]), Some(0.9));
        assert_eq!(far(&[control]), Some(0.1));
    }

    #[test]
    fn a_lead_is_paired() {
        let mut rows = Vec::new();
        for (i, anomaly) in ["obs-noise", "act-noise", "act-delay"].iter().enumerate() {
            let hardness = 0.1 * i as f64;
            rows.push(row("a", anomaly, "tiny", "auroc_matched", "", 0.9 - hardness));
            rows.push(row("b", anomaly, "tiny", "auroc_matched", "", 0.85 - hardness));
        }
        let found = difference(&Index::new(&rows), 0, 1, "auroc_matched").unwrap();
        assert!((found.low - 0.05).abs() < 1e-9 && (found.high - 0.05).abs() < 1e-9, "{found}");
    }
}

//! Every cell of the campaign with all its numbers: the data behind the heat map and the list of cells.

use crate::report::distinct;
use crate::report::index::Index;
use crate::report::settings::CONTROL;
use crate::results::Row;
use offnominal_report::number;
use offnominal_stats::metric::{self, Metric, Unit};
use serde::Serialize;

/// One anomaly at one strength for one detector in one environment.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Cell {
    /// Environment.
    pub environment: String,
    /// Anomaly id, or `nominal` for the control.
    pub anomaly: String,
    /// Strength level.
    pub strength: String,
    /// Magnitude of the anomaly.
    pub magnitude: String,
    /// Detector id.
    pub detector: String,
    /// Seeds of the repetitions.
    pub seed: String,
    /// Number of episodes behind each value.
    pub n: u64,
    /// Where its numbers come from, in one line; the script finds it where the pointer does.
    #[serde(skip)]
    pub origin: String,
    /// One value per metric of the heat map.
    pub values: Vec<Value>,
}

/// A value as the page shows it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Value(
    /// Place on the colour scale from −1 to 1; none without data.
    pub Option<f64>,
    /// For a narrow cell.
    pub String,
    /// With its interval, or why it is missing.
    pub String,
    /// For sorting; infinity is written as a large number.
    pub Option<f64>,
);

/// A cell as the heat map first shows it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Face<'a> {
    origin: &'a str,
    value: Option<&'a Value>,
}

/// The cells as the heat map first shows them: with their first metric.
pub fn faces(cells: &[Cell]) -> Vec<Face<'_>> {
    cells.iter().map(|c| Face { origin: &c.origin, value: c.values.first() }).collect()
}

/// A metric that the heat map can show.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Shown {
    /// Metric name.
    pub id: &'static str,
    /// Its title.
    pub label: String,
}

/// The metrics that occur in the results, among those a heat map can show.
pub fn shown(index: &Index) -> Vec<&'static Metric> {
    let occurs = |m: &&'static Metric| {
        (0..index.settings.len())
            .any(|s| (0..index.detectors.len()).any(|d| !rows(index, s, d, m).is_empty()))
    };
    metric::shown(|c| c.heat).into_iter().filter_map(metric::find).filter(occurs).collect()
}

/// Their titles, with the threshold where one is needed.
pub fn titles(index: &Index) -> Vec<Shown> {
    let title = |m: &'static Metric| match (m.thresholded, m.unit) {
        (false, _) => m.label.to_string(),
        (true, Unit::Steps) => format!("{} (steps, {})", m.label, index.headline()),
        (true, _) => format!("{} (%, {})", m.label, index.headline()),
    };
    shown(index).into_iter().map(|m| Shown { id: m.id, label: title(m) }).collect()
}

/// All cells, by setting and then by detector.
pub fn all(index: &Index) -> Vec<Cell> {
    let metrics: Vec<(&'static Metric, f64)> =
        shown(index).into_iter().map(|m| (m, neutral(index, m))).collect();
    let pairs = (0..index.settings.len()).flat_map(|s| (0..index.detectors.len()).map(move |d| (s, d)));
    pairs.map(|(s, d)| cell(index, s, d, &metrics)).collect()
}

fn cell(index: &Index, setting: usize, detector: usize, metrics: &[(&'static Metric, f64)]) -> Cell {
    let s = &index.settings[setting];
    let rows = metrics.iter().map(|(m, _)| rows(index, setting, detector, m)).find(|r| !r.is_empty());
    let rows = rows.unwrap_or_default();
    let seeds: Vec<String> = distinct(rows.iter().map(|r| r.seed)).iter().map(u64::to_string).collect();
    Cell {
        environment: s.environment.clone(),
        anomaly: if s.class == CONTROL { "nominal".into() } else { s.anomaly.clone() },
        strength: s.strength.clone(),
        magnitude: distinct(rows.iter().map(|r| number::plain(r.magnitude))).join(", "),
        detector: index.detectors[detector].clone(),
        seed: seeds.join(", "),
        n: rows.iter().map(|r| r.episodes).sum(),
        origin: index.origin(setting, detector, rows),
        values: metrics.iter().map(|&(m, neutral)| value(index, setting, detector, m, neutral)).collect(),
    }
}

fn value(index: &Index, setting: usize, detector: usize, metric: &'static Metric, neutral: f64) -> Value {
    let threshold = threshold(index, metric);
    let Some(point) = index.point(setting, detector, metric.id, threshold) else {
        return Value(
            None,
            number::MISSING.into(),
            index.reason(setting, detector, metric.id, threshold),
            None,
        );
    };
    let interval = number::interval(point.low, point.high, metric.unit);
    let full = number::format(point.value, metric.unit);
    let full = if interval.is_empty() { full } else { format!("{full} [{interval}]") };
    let position = position(point.value, neutral, metric.best);
    Value(Some(position), number::short(point.value, metric.unit), full, Some(point.value.min(1e300)))
}

/// Two decimals are finer than the eye.
fn position(value: f64, neutral: f64, best: f64) -> f64 {
    let position = ((value - neutral) / (best - neutral)).clamp(-1.0, 1.0);
    if position.is_nan() { 0.0 } else { (100.0 * position).round() / 100.0 }
}

/// The neutral value; for delays, the longest that was reached.
fn neutral(index: &Index, metric: &'static Metric) -> f64 {
    if !metric.neutral.is_nan() {
        return metric.neutral;
    }
    let settings = 0..index.settings.len();
    let rows = settings.flat_map(|s| (0..index.detectors.len()).flat_map(move |d| rows(index, s, d, metric)));
    rows.map(|r| r.value).filter(|v| v.is_finite()).fold(1.0, f64::max)
}

fn threshold(index: &Index, metric: &Metric) -> &'static str {
    if metric.thresholded { index.headline() } else { "" }
}

fn rows<'i>(index: &'i Index, setting: usize, detector: usize, metric: &'static Metric) -> &'i [&'i Row] {
    index.rows(setting, detector, metric.id, threshold(index, metric))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::sample::row;

    #[test]
    fn a_cell_tells_where_it_comes_from() {
        let rows = [row("knn", "obs-noise", "tiny", "auroc_matched", "", 0.75)];
        let cell = &all(&Index::new(&rows))[0];
        assert_eq!(
            cell.origin,
            "sap-goal0 · obs-noise tiny (magnitude 0.25) · knn · seed 0 · n = 50 episodes"
        );
        let value = Value(Some(0.5), ".75".into(), "0.750 [0.730 – 0.770]".into(), Some(0.75));
        assert_eq!(cell.values, [value]);
    }

    #[test]
    fn what_is_missing_is_a_dash_with_a_reason() {
        let rows = [
            row("knn", "obs-noise", "tiny", "auroc_matched", "", 0.75),
            row("pe-dm", "obs-noise", "tiny", "auroc_matched", "", f64::NAN),
        ];
        let cell = &all(&Index::new(&rows))[1];
        assert_eq!((cell.values[0].0, cell.values[0].1.as_str(), cell.values[0].3), (None, "–", None));
        assert!(cell.values[0].2.starts_with("no data"));
    }

    #[test]
    fn a_delay_that_is_not_reached_has_the_neutral_colour() {
        let rows = [4.0, f64::INFINITY, 20.0]
            .iter()
            .zip(["tiny", "medium", "strong"])
            .map(|(&v, s)| row("knn", "obs-noise", s, "delay_median", "q95", v))
            .collect::<Vec<_>>();
        let found: Vec<Option<f64>> = all(&Index::new(&rows)).iter().map(|c| c.values[0].0).collect();
        assert_eq!(found, [Some(0.8), Some(-1.0), Some(0.0)]);
    }
}

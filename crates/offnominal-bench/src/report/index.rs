//! The rows of the results, found by environment, anomaly, strength, detector and metric, in the order of the report.

use crate::report::aggregate::{self, Point};
use crate::report::distinct;
use crate::report::settings::{self, CONTROL, EnvironmentNamer, Setting};
use crate::results::Row;
use offnominal_report::colour::Pen;
use offnominal_report::number::plain;
use offnominal_stats::{metric, rule};
use std::collections::{BTreeSet, HashMap};

/// Detectors that know nothing, and show what knowing nothing scores.
pub const BASELINES: [&str; 2] = ["clock", "random"];

type Key = (usize, usize, &'static str, &'static str); // setting, detector, metric, threshold

/// The rows, sorted and found by name.
#[derive(Debug)]
pub struct Index<'a> {
    /// Environments in order of appearance.
    pub environments: Vec<String>,
    /// Every setting, in the order of the report.
    pub settings: Vec<Setting>,
    /// Detectors in order of appearance, baselines last.
    pub detectors: Vec<String>,
    /// The thresholds that occur, preferred first.
    pub thresholds: Vec<&'static str>,
    clusters: Vec<usize>,
    found: HashMap<Key, Vec<&'a Row>>,
}

impl<'a> Index<'a> {
    /// Sorts the rows; rows of unknown metrics or thresholds are not part of the report.
    pub fn new(rows: &'a [Row]) -> Index<'a> {
        let namer = EnvironmentNamer::new(rows);
        let settings = settings::sorted(rows, &namer);
        let mut index = Index {
            environments: distinct(rows.iter().map(|r| namer.name(r))),
            clusters: settings::clusters(&settings),
            settings,
            detectors: detectors(rows),
            thresholds: thresholds(rows),
            found: HashMap::new(),
        };
        index.place(rows, &namer);
        index
    }

    fn place(&mut self, rows: &'a [Row], namer: &EnvironmentNamer) {
        let settings: HashMap<Setting, usize> =
            self.settings.iter().cloned().enumerate().map(|(i, s)| (s, i)).collect();
        let detectors: HashMap<&str, usize> =
            self.detectors.iter().enumerate().map(|(i, d)| (d.as_str(), i)).collect();
        for row in rows {
            if let (Some(metric), Some(threshold)) = (metric_name(row), threshold_name(row)) {
                let key =
                    (settings[&namer.setting(row)], detectors[row.detector.as_str()], metric, threshold);
                self.found.entry(key).or_default().push(row);
            }
        }
    }

    /// The rows of one number, one per repetition; `threshold` is empty for metrics without one.
    pub fn rows(
        &self,
        setting: usize,
        detector: usize,
        metric: &'static str,
        threshold: &'static str,
    ) -> &[&'a Row] {
        self.found.get(&(setting, detector, metric, threshold)).map_or(&[], Vec::as_slice)
    }

    /// The cell's value over all repetitions, as one point of its cluster; none without data.
    pub fn point(
        &self,
        setting: usize,
        detector: usize,
        metric: &'static str,
        threshold: &'static str,
    ) -> Option<Point> {
        let rows = self.rows(setting, detector, metric, threshold);
        let cluster = self.clusters[setting];
        let points: Vec<Point> =
            rows.iter().map(|r| Point { value: r.value, low: r.low, high: r.high, cluster }).collect();
        aggregate::over_seeds(&points)
    }

    /// The settings with a true anomaly, in one environment or in all.
    pub fn anomalous(&self, environment: Option<&str>) -> Vec<usize> {
        self.select(environment, |class| class != CONTROL)
    }

    /// The settings without an anomaly, in one environment or in all.
    pub fn controls(&self, environment: Option<&str>) -> Vec<usize> {
        self.select(environment, |class| class == CONTROL)
    }

    fn select(&self, environment: Option<&str>, class: impl Fn(&str) -> bool) -> Vec<usize> {
        let wanted = |s: &Setting| class(&s.class) && environment.is_none_or(|w| s.environment == w);
        (0..self.settings.len()).filter(|&i| wanted(&self.settings[i])).collect()
    }

    /// What tables are made for: everything, then each environment if there are several.
    pub fn scopes(&self) -> Vec<(&str, Option<&str>)> {
        match self.environments.as_slice() {
            [only] => vec![(only, None)],
            several => std::iter::once(("All environments", None))
                .chain(several.iter().map(|w| (w.as_str(), Some(w.as_str()))))
                .collect(),
        }
    }

    /// The pen of a detector's lines.
    pub fn pen(&self, detector: usize) -> Pen {
        let first_baseline = self.detectors.len() - self.baselines();
        if detector < first_baseline {
            Pen::detector(detector)
        } else {
            Pen::baseline(detector - first_baseline)
        }
    }

    fn baselines(&self) -> usize {
        (0..self.detectors.len()).filter(|&d| self.is_baseline(d)).count()
    }

    /// The threshold that the summary uses.
    pub fn headline(&self) -> &'static str {
        self.thresholds.first().copied().unwrap_or("")
    }

    /// Whether the detector is a baseline.
    pub fn is_baseline(&self, detector: usize) -> bool {
        BASELINES.contains(&self.detectors[detector].as_str())
    }

    /// Why a cell has no value.
    pub fn reason(
        &self,
        setting: usize,
        detector: usize,
        metric: &'static str,
        threshold: &'static str,
    ) -> String {
        match self.rows(setting, detector, metric, threshold) {
            [] => "not part of this campaign".into(),
            rows if rows.iter().all(|r| r.magnitude.is_nan()) => {
                "no data: calibration excludes it (strength out of reach, no effect, or the same as another)"
                    .into()
            }
            rows if rows.iter().all(|r| r.episodes == 0) => "no data: no episodes".into(),
            _ => "no data: the metric has no value on these episodes".into(),
        }
    }

    /// Where a number comes from: environment, anomaly, strength, magnitude, detector, seeds and episodes.
    pub fn origin(&self, setting: usize, detector: usize, rows: &[&Row]) -> String {
        let s = &self.settings[setting];
        let magnitudes = distinct(rows.iter().map(|r| plain(r.magnitude))).join(", ");
        let seeds: Vec<String> = rows.iter().map(|r| r.seed.to_string()).collect();
        let episodes: u64 = rows.iter().map(|r| r.episodes).sum();
        let what = [s.anomaly.as_str(), s.strength.as_str()].join(" ");
        let detector = &self.detectors[detector];
        format!(
            "{} · {} (magnitude {magnitudes}) · {detector} · seed {} · n = {episodes} episodes",
            s.environment,
            what.trim_end(),
            seeds.join(", "),
        )
    }
}

fn detectors(rows: &[Row]) -> Vec<String> {
    let (last, first): (Vec<String>, Vec<String>) = distinct(rows.iter().map(|r| r.detector.clone()))
        .into_iter()
        .partition(|d| BASELINES.contains(&d.as_str()));
    first.into_iter().chain(last).collect()
}

fn thresholds(rows: &[Row]) -> Vec<&'static str> {
    let occur: BTreeSet<&str> = rows.iter().map(|r| r.threshold.as_str()).collect();
    rule::preferred().map(|r| r.id).filter(|id| occur.contains(id)).collect()
}

fn metric_name(row: &Row) -> Option<&'static str> {
    metric::find(&row.metric).map(|m| m.id)
}

fn threshold_name(row: &Row) -> Option<&'static str> {
    match row.threshold.as_str() {
        "" => Some(""),
        name => rule::preferred().map(|r| r.id).find(|id| *id == name),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::sample::row;

    #[test]
    fn strengths_rise_controls_and_baselines_come_last() {
        let rows = [
            row("knn", "act-delay", "strong", "auroc_matched", "", 0.8),
            row("clock", "act-delay", "tiny", "auroc_matched", "", 0.5),
            row("pe-dm", "obs-noise", "custom", "d20", "q95", 0.7),
            Row { anomaly_class: CONTROL.into(), ..row("knn", "", "", "auroc_matched", "", 0.5) },
        ];
        let index = Index::new(&rows);
        let order: Vec<&str> = index.settings.iter().map(|s| s.strength.as_str()).collect();
        assert_eq!(order, ["custom", "tiny", "strong", ""]);
        assert_eq!(index.detectors, ["knn", "pe-dm", "clock"]);
        assert_eq!(
            (index.headline(), index.anomalous(None), index.controls(None)),
            ("q95", vec![0, 1, 2], vec![3])
        );
    }

    #[test]
    fn repetitions_make_one_point() {
        let rows = [0.6, 0.8].map(|v| row("knn", "obs-noise", "tiny", "auroc_matched", "", v));
        let index = Index::new(&rows);
        assert!((index.point(0, 0, "auroc_matched", "").unwrap().value - 0.7).abs() < 1e-12);
        assert_eq!(index.point(0, 0, "auroc_global", ""), None);
    }

    #[test]
    fn policies_of_one_environment_stay_apart() {
        let one = row("knn", "obs-noise", "tiny", "auroc_matched", "", 0.6);
        let rows = [one.clone(), Row { policy: "sac".into(), ..one }];
        assert_eq!(Index::new(&rows).environments, ["sap-goal0 · tqc", "sap-goal0 · sac"]);
    }

    #[test]
    fn what_is_missing_has_a_reason() {
        let rows =
            [Row { magnitude: f64::NAN, ..row("knn", "obs-noise", "tiny", "auroc_matched", "", f64::NAN) }];
        let index = Index::new(&rows);
        assert!(index.reason(0, 0, "auroc_matched", "").contains("out of reach"));
        assert!(index.reason(0, 0, "d20", "q95").contains("not part"));
    }
}

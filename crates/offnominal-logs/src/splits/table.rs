//! The numbers as tables that a person reads: by anomaly and strength, and means over anomalies.

use crate::splits::judge::SAME_STEP;
use crate::splits::{Number, STRENGTHS, ScoredSplits};
use offnominal_report::markdown::{self, Align};
use offnominal_stats::Level;
use offnominal_stats::mean::student_t;
use std::fmt::{self, Display, Formatter};

/// Columns of both tables, by metric.
const COLUMNS: [(&str, &str); 4] = [
    ("AUROC local", "auroc_local"),
    ("AUROC global", "auroc_global"),
    ("AUROC same step", SAME_STEP),
    ("within 20 steps", "d20"),
];
/// A column of the first alone: a median that is not reached has no mean.
const DELAY: (&str, &str) = ("median delay", "delay_median");

impl Display for ScoredSplits {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        let [train, calibration, test] = self.episodes;
        writeln!(
            out,
            "{}: learned from {train} episodes, thresholds by {} on {calibration}, false alarms in {test} of test; intervals are \
             95 %",
            self.env, self.rule
        )?;
        for detector in &self.detectors {
            if let Some(number) =
                self.numbers.iter().find(|n| n.detector == *detector && n.metric == "false_alarm_rate")
            {
                writeln!(out, "false alarms of {detector}: {}", written(Some(number)))?;
            }
        }
        self.warnings.iter().try_for_each(|warning| writeln!(out, "warning: {warning}"))?;
        write!(out, "\n{}\nMeans over anomalies:\n\n{}", self.by_anomaly(), self.by_strength().trim_end())
    }
}

impl ScoredSplits {
    fn number(&self, [anomaly, strength, detector, metric]: [&str; 4]) -> Option<&Number> {
        let is = |n: &&Number| {
            [&n.anomaly, &n.strength, &n.detector, &n.metric] == [anomaly, strength, detector, metric]
        };
        self.numbers.iter().find(is)
    }

    /// The splits in the order of the folder.
    fn splits(&self) -> Vec<(&str, &str)> {
        let mut splits: Vec<(&str, &str)> =
            self.numbers.iter().map(|n| (n.anomaly.as_str(), n.strength.as_str())).collect();
        splits.dedup();
        splits
    }

    fn by_anomaly(&self) -> String {
        let head: Vec<&str> = ["anomaly", "strength", "detector"]
            .into_iter()
            .chain(COLUMNS.map(|(title, _)| title))
            .chain([DELAY.0])
            .collect();
        let mut lines = Vec::new();
        for (anomaly, strength) in self.splits() {
            for detector in &self.detectors {
                let mut line = vec![anomaly.to_string(), strength.to_string(), detector.clone()];
                let metrics = COLUMNS.iter().chain([&DELAY]).map(|(_, metric)| *metric);
                line.extend(
                    metrics.map(|metric| written(self.number([anomaly, strength, detector, metric]))),
                );
                lines.push(line);
            }
        }
        markdown::table(Align::Left, &head, &lines)
    }

    /// Means over anomalies with the interval of Student: anomalies are few, and differ more than chance within each.
    fn by_strength(&self) -> String {
        let head: Vec<&str> = ["strength", "anomalies", "detector"]
            .into_iter()
            .chain(COLUMNS.map(|(title, _)| title))
            .collect();
        let splits = self.splits();
        let mut lines = Vec::new();
        for strength in STRENGTHS {
            let anomalies: Vec<&str> = splits.iter().filter(|s| s.1 == strength).map(|s| s.0).collect();
            for detector in self.detectors.iter().filter(|_| !anomalies.is_empty()) {
                let mut line = vec![strength.to_string(), anomalies.len().to_string(), detector.clone()];
                line.extend(COLUMNS.iter().map(|(_, metric)| {
                    let value = |a: &&str| Some(self.number([a, strength, detector, metric])?.value);
                    mean(&anomalies.iter().filter_map(value).collect::<Vec<_>>())
                }));
                lines.push(line);
            }
        }
        markdown::table(Align::Left, &head, &lines)
    }
}

/// A mean with its interval, which one value alone does not have.
fn mean(values: &[f64]) -> String {
    student_t(values, Level::P95).map_or("–".into(), |mean| {
        format!("{:.2} [{:.2}, {:.2}]", mean.value, mean.low.max(0.0), mean.high.min(1.0))
    })
}

fn written(number: Option<&Number>) -> String {
    let Some(Number { value, low, high, metric, .. }) = number else { return "–".into() };
    let digits = if metric == DELAY.1 { 1 } else { 2 };
    let text = |x: f64| if x.is_infinite() { "∞".into() } else { format!("{x:.digits$}") };
    format!("{} [{}, {}]", text(*value), text(*low), text(*high))
}

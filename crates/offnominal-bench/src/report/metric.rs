//! The metrics as the report knows them: name, unit, which way is better, and the definition it prints.

use offnominal_report::number::Unit;

/// One metric.
#[derive(Debug, PartialEq)]
pub struct Metric {
    /// Name in the results table.
    pub id: &'static str,
    /// Column title.
    pub label: &'static str,
    /// What the number counts.
    pub unit: Unit,
    /// The value of a detector that knows nothing: the neutral colour.
    pub neutral: f64,
    /// The best value: the full colour. Not a number where there is none (then the best value seen is 0).
    pub best: f64,
    /// Whether it depends on an alarm threshold.
    pub alarms: bool,
    /// What it is, in one or two sentences.
    pub definition: &'static str,
}

impl Metric {
    /// The metric of that name.
    pub fn find(id: &str) -> Option<&'static Metric> {
        ALL.iter().find(|m| m.id == id)
    }

    /// The values that are possible.
    pub fn range(&self) -> (f64, f64) {
        if self.unit == Unit::Steps { (0.0, f64::INFINITY) } else { (0.0, 1.0) }
    }

    /// Whether a larger value is better.
    pub fn rises(&self) -> bool {
        self.best > self.neutral
    }
}

const fn area(id: &'static str, label: &'static str, definition: &'static str) -> Metric {
    Metric { id, label, unit: Unit::Area, neutral: 0.5, best: 1.0, alarms: false, definition }
}

const fn fpr95(id: &'static str, label: &'static str, definition: &'static str) -> Metric {
    Metric { id, label, unit: Unit::Area, neutral: 0.95, best: 0.0, alarms: false, definition }
}

const fn share(
    id: &'static str,
    label: &'static str,
    neutral: f64,
    best: f64,
    definition: &'static str,
) -> Metric {
    Metric { id, label, unit: Unit::Share, neutral, best, alarms: true, definition }
}

/// All metrics, in the order of the report.
pub const ALL: &[Metric] = &[
    area(
        "auroc_matched",
        "AUROC matched",
        "Time-matched AUROC: the probability that an anomalous step scores above a nominal one, ties counted half. Every \
         anomalous episode has a nominal twin with the same seed, initial condition and simulator noise. Anomalous are \
         the episode's steps from the onset on, nominal the twin's steps at the same times; all episodes are pooled. A \
         clock gives both the same scores and gets exactly .5.",
    ),
    area(
        "auroc_global",
        "AUROC global",
        "AUROC of all steps of the episodes pooled, anomalous against nominal, as in the literature. It rewards whatever \
         goes with being late in an episode, so a clock scores above .5: read it against the clock's row.",
    ),
    area(
        "auroc_local",
        "AUROC local",
        "AUROC inside each episode, steps from the onset on against steps before it, averaged over episodes, as in the \
         literature. When an anomaly lasts to the end a clock gets exactly 1: read it against the clock's row.",
    ),
    area(
        "aupr_matched",
        "AUPR matched",
        "Average precision on the time-matched steps. A detector that knows nothing gets the share of anomalous steps, .5.",
    ),
    area("aupr_global", "AUPR global", "Average precision of all steps of the episodes pooled."),
    area("aupr_local", "AUPR local", "Average precision inside each episode, averaged over episodes."),
    fpr95(
        "fpr95_matched",
        "FPR95 matched",
        "Share of the time-matched nominal steps above the highest threshold that still finds 95 % of the anomalous steps. \
         A detector that knows nothing gets .95.",
    ),
    fpr95(
        "fpr95_global",
        "FPR95 global",
        "Share of nominal steps above the highest threshold that still finds 95 % of the anomalous steps, all episodes pooled.",
    ),
    fpr95(
        "fpr95_local",
        "FPR95 local",
        "Share of an episode's nominal steps above the highest threshold that still finds 95 % of its anomalous steps, \
         averaged over episodes.",
    ),
    Metric {
        id: "delay_median",
        label: "Median delay",
        unit: Unit::Steps,
        neutral: f64::NAN,
        best: 0.0,
        alarms: true,
        definition: "Median number of steps from the onset to the first alarm from then on, over all anomalous episodes. An \
                     episode that ends without an alarm counts as infinite, so the median is not reached unless more \
                     than half of the anomalies are detected.",
    },
    share(
        "d5",
        "Within 5",
        0.0,
        1.0,
        "Share of anomalous episodes with an alarm at most 5 steps after the onset.",
    ),
    share(
        "d10",
        "Within 10",
        0.0,
        1.0,
        "Share of anomalous episodes with an alarm at most 10 steps after the onset.",
    ),
    share(
        "d20",
        "Within 20",
        0.0,
        1.0,
        "Share of anomalous episodes with an alarm at most 20 steps after the onset.",
    ),
    share(
        "detection_rate",
        "Detected",
        0.0,
        1.0,
        "Share of anomalous episodes with an alarm from the onset on.",
    ),
    share(
        "missing_rate",
        "Missed",
        1.0,
        0.0,
        "Share of anomalous episodes without an alarm from the onset on.",
    ),
    share(
        "early_rate",
        "Early",
        1.0,
        0.0,
        "Share of anomalous episodes with an alarm before the onset, which is a false alarm. Episodes that are anomalous \
         from the first step do not count.",
    ),
    share(
        "before_failure_rate",
        "Before failure",
        0.0,
        1.0,
        "Share of anomalies with an alarm from the onset on and before the step in which the policy fails, among the \
         anomalous episodes that end in failure.",
    ),
    share(
        "false_alarm_rate",
        "False alarms",
        1.0,
        0.0,
        "Share of nominal episodes with an alarm at any step.",
    ),
];

/// The columns of the summary, after the detector's name.
pub const SUMMARY: &[&str] = &[
    "auroc_matched",
    "auroc_global",
    "auroc_local",
    "aupr_matched",
    "fpr95_matched",
    "delay_median",
    "d20",
    "missing_rate",
    "false_alarm_rate",
];

/// The columns of the table of alarms, after detector and threshold.
pub const ALARMS: &[&str] = &[
    "false_alarm_rate",
    "early_rate",
    "d5",
    "d10",
    "d20",
    "detection_rate",
    "before_failure_rate",
    "missing_rate",
    "delay_median",
];

/// The metrics that the heat map can show.
pub const HEAT: &[&str] = &[
    "auroc_matched",
    "auroc_global",
    "auroc_local",
    "aupr_matched",
    "fpr95_matched",
    "d20",
    "detection_rate",
    "missing_rate",
    "delay_median",
];

/// Thresholds in the order of preference; the first that the results know is the one the summary uses.
pub const THRESHOLDS: &[(&str, &str)] = &[
    (
        "conformal",
        "An order statistic of the largest scores of held-out nominal episodes. It promises, for any score, that a new nominal \
         episode raises an alarm with at most the chosen probability, on average over sets of held-out episodes.",
    ),
    (
        "q95",
        "The 95th percentile of the scores of held-out nominal steps. It bounds false alarms per step, not per episode.",
    ),
    (
        "band",
        "A conformal threshold for scores standardised by time: a limit of its own for each step of an episode, with the same \
         promise.",
    ),
    (
        "cusum",
        "A conformal threshold for the CUSUM of scores standardised by time, which sees small faults that last, with the same \
         promise.",
    ),
    (
        "martingale",
        "A conformal threshold for the capital of bets on the ranks of scores standardised by time, with the same promise.",
    ),
    ("max", "The largest score of the held-out nominal steps."),
    (
        "3sigma",
        "Mean plus three standard deviations of the scores of held-out nominal steps. It promises nothing.",
    ),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_column_is_a_metric_with_a_definition() {
        for id in SUMMARY.iter().chain(ALARMS).chain(HEAT) {
            assert!(Metric::find(id).is_some_and(|m| m.definition.ends_with('.')), "{id}");
        }
    }
}

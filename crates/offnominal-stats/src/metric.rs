//! The catalogue of metrics: the names that results use, what they mean, and which direction is better.

/// A metric of the result tables.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Metric {
    /// Name in results.
    pub id: &'static str,
    /// One line for listings and legends.
    pub summary: &'static str,
    /// Which way is better.
    pub better: Better,
    /// Whether the value depends on an alarm threshold.
    pub thresholded: bool,
}

/// Which way a metric improves.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Better {
    /// Larger values.
    Higher,
    /// Smaller values.
    Lower,
}

const fn ranked(id: &'static str, better: Better, summary: &'static str) -> Metric {
    Metric { id, summary, better, thresholded: false }
}

const fn alarmed(id: &'static str, better: Better, summary: &'static str) -> Metric {
    Metric { id, summary, better, thresholded: true }
}

/// Every metric, in the order in which reports list them.
pub const METRICS: &[Metric] = &[
    ranked("auroc_local", Better::Higher, "area under the ROC curve within an episode, mean over episodes"),
    ranked("aupr_local", Better::Higher, "average precision within an episode, mean over episodes"),
    ranked(
        "fpr95_local",
        Better::Lower,
        "false positive rate at 95 % recall within an episode, mean over episodes",
    ),
    ranked("auroc_global", Better::Higher, "area under the ROC curve of all steps pooled"),
    ranked("aupr_global", Better::Higher, "average precision of all steps pooled"),
    ranked("fpr95_global", Better::Lower, "false positive rate at 95 % recall of all steps pooled"),
    ranked(
        "auroc_matched",
        Better::Higher,
        "area under the ROC curve against the nominal twins at the same times",
    ),
    ranked("aupr_matched", Better::Higher, "average precision against the nominal twins at the same times"),
    ranked(
        "fpr95_matched",
        Better::Lower,
        "false positive rate at 95 % recall against the twins at the same times",
    ),
    alarmed(
        "delay_median",
        Better::Lower,
        "median steps from onset to alarm, missed anomalies with infinity",
    ),
    alarmed("d5", Better::Higher, "share of anomalies with an alarm within 5 steps of the onset"),
    alarmed("d10", Better::Higher, "share of anomalies with an alarm within 10 steps of the onset"),
    alarmed("d20", Better::Higher, "share of anomalies with an alarm within 20 steps of the onset"),
    alarmed("missing_rate", Better::Lower, "share of anomalies without an alarm from the onset on"),
    alarmed(
        "early_rate",
        Better::Lower,
        "share of anomalous episodes with an alarm before the onset, of those with a step before it",
    ),
    alarmed(
        "before_failure_rate",
        Better::Higher,
        "share of anomalies with an alarm before the policy fails, of the episodes that end in failure",
    ),
    alarmed("false_alarm_rate", Better::Lower, "share of nominal episodes with an alarm"),
    alarmed("detection_rate", Better::Higher, "share of anomalies with an alarm from the onset on"),
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Mode;
    use std::collections::HashSet;

    #[test]
    fn names_are_unique_and_every_mode_is_listed() {
        let names: HashSet<&str> = METRICS.iter().map(|m| m.id).collect();
        assert_eq!(names.len(), METRICS.len());
        assert!(Mode::ALL.iter().flat_map(|m| m.metric_ids()).all(|id| names.contains(id)));
    }
}

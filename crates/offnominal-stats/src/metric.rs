//! The metrics: the names that results use, what they mean, which way is better, and where pages show them.
//!
//! This is the only list of them. A metric from outside is added with [`add`], before the first campaign.

use crate::{Bootstrap, ScoredEpisode, StatsError};
use offnominal_core::estimate::Estimate;
use std::sync::OnceLock;

/// What a number counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unit {
    /// An area or a rate between 0 and 1, written with three decimals.
    Area,
    /// A share of episodes, written in percent.
    Share,
    /// A number of steps; infinity is "not reached".
    Steps,
}

/// A metric of the result tables.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Metric {
    /// Name in results.
    pub id: &'static str,
    /// Title of its column.
    pub label: &'static str,
    /// One line for listings.
    pub summary: &'static str,
    /// What it is, in one or two sentences.
    pub definition: &'static str,
    /// What the number counts.
    pub unit: Unit,
    /// The value of a detector that knows nothing; not a number where there is none.
    pub neutral: f64,
    /// The best value.
    pub best: f64,
    /// Whether the value depends on an alarm threshold.
    pub thresholded: bool,
    /// Its column in the tables of the report.
    pub columns: Columns,
}

/// The column of a metric in each table of the report, from 1; 0 if it has none there. Every metric is in the list of
/// definitions, and in the tables of results.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Columns {
    /// In the summary of detectors.
    pub summary: u8,
    /// In the table of alarms.
    pub alarms: u8,
    /// Among the choices of the heat map.
    pub heat: u8,
}

impl Metric {
    /// The values that are possible.
    pub fn range(&self) -> (f64, f64) {
        if self.unit == Unit::Steps { (0.0, f64::INFINITY) } else { (0.0, 1.0) }
    }

    /// Whether a larger value is better.
    pub fn rises(&self) -> bool {
        self.best > self.neutral
    }

    const fn of(id: &'static str, label: &'static str, (summary, alarms, heat): (u8, u8, u8)) -> Metric {
        let columns = Columns { summary, alarms, heat };
        Metric {
            id,
            label,
            columns,
            summary: "",
            definition: "",
            unit: Unit::Area,
            neutral: 0.5,
            best: 1.0,
            thresholded: false,
        }
    }

    const fn described(self, summary: &'static str, definition: &'static str) -> Metric {
        Metric { summary, definition, ..self }
    }

    /// A false positive rate at 95 % recall.
    const fn fpr95(self) -> Metric {
        Metric { neutral: 0.95, best: 0.0, ..self }
    }

    /// A share of episodes with alarms.
    const fn share(self, neutral: f64, best: f64) -> Metric {
        Metric { unit: Unit::Share, neutral, best, thresholded: true, ..self }
    }
}

/// The built-in metrics, in the order in which tables list them.
pub const METRICS: &[Metric] = &[
    Metric::of("auroc_local", "AUROC local", (3, 0, 3)).described(
"area under the ROC curve within an episode, mean over episodes",
"AUROC inside each episode, steps from the onset on against steps before it, averaged over episodes, as in the literature. When an anomaly lasts to the end a clock gets exactly 1: read it against the clock's row.",
),
    Metric::of("aupr_local", "AUPR local", (0, 0, 0)).described(
"average precision within an episode, mean over episodes",
"Average precision inside each episode, averaged over episodes.",
),
    Metric::of("fpr95_local", "FPR95 local", (0, 0, 0)).fpr95().described(
"false positive rate at 95 % recall within an episode, mean over episodes",
"Share of an episode's nominal steps above the highest threshold that still finds 95 % of its anomalous steps, averaged over episodes.",
),
    Metric::of("auroc_global", "AUROC global", (2, 0, 2)).described(
"area under the ROC curve of all steps pooled",
"AUROC of all steps of the episodes pooled, anomalous against nominal, as in the literature. It rewards whatever goes with being late in an episode, so a clock scores above .5: read it against the clock's row.",
),
    Metric::of("aupr_global", "AUPR global", (0, 0, 0)).described(
"average precision of all steps pooled",
"Average precision of all steps of the episodes pooled.",
),
    Metric::of("fpr95_global", "FPR95 global", (0, 0, 0)).fpr95().described(
"false positive rate at 95 % recall of all steps pooled",
"Share of nominal steps above the highest threshold that still finds 95 % of the anomalous steps, all episodes pooled.",
),
    Metric::of("auroc_matched", "AUROC matched", (1, 0, 1)).described(
"area under the ROC curve against the nominal twins at the same times",
"Time-matched AUROC: the probability that an anomalous step scores above a nominal one, ties counted half. Every anomalous episode has a nominal twin with the same seed, initial condition and simulator noise. Anomalous are the episode's steps from the onset on, nominal the twin's steps at the same times; all episodes are pooled. A clock gives both the same scores and gets exactly .5.",
),
    Metric::of("aupr_matched", "AUPR matched", (4, 0, 4)).described(
"average precision against the nominal twins at the same times",
"Average precision on the time-matched steps. A detector that knows nothing gets the share of anomalous steps, .5.",
),
    Metric::of("fpr95_matched", "FPR95 matched", (5, 0, 5)).fpr95().described(
"false positive rate at 95 % recall against the twins at the same times",
"Share of the time-matched nominal steps above the highest threshold that still finds 95 % of the anomalous steps. A detector that knows nothing gets .95.",
),
    Metric { unit: Unit::Steps, neutral: f64::NAN, best: 0.0, thresholded: true, ..Metric::of("delay_median", "Median delay", (6, 9, 9)).described(
"median steps from onset to alarm, missed anomalies with infinity",
"Median number of steps from the onset to the first alarm from then on, over all anomalous episodes. An episode that ends without an alarm counts as infinite, so the median is not reached unless more than half of the anomalies are detected.",
)},
    Metric { unit: Unit::Steps, neutral: 50.0, best: 0.0, thresholded: true, ..Metric::of("delay_restricted", "Mean delay", (0, 10, 0)).described(
"mean steps from onset to alarm, each at most 50, missed anomalies with 50",
"Restricted mean delay: the mean number of steps from the onset to the first alarm from then on, over all anomalous episodes, where a delay counts at most 50 steps and a missed anomaly counts 50. It compares detectors over all anomalies, also where a median is not reached.",
)},
    Metric::of("d5", "Within 5", (0, 3, 0)).share(0.0, 1.0).described(
"share of anomalies with an alarm within 5 steps of the onset",
"Share of anomalous episodes with an alarm at most 5 steps after the onset.",
),
    Metric::of("d10", "Within 10", (0, 4, 0)).share(0.0, 1.0).described(
"share of anomalies with an alarm within 10 steps of the onset",
"Share of anomalous episodes with an alarm at most 10 steps after the onset.",
),
    Metric::of("d20", "Within 20", (7, 5, 6)).share(0.0, 1.0).described(
"share of anomalies with an alarm within 20 steps of the onset",
"Share of anomalous episodes with an alarm at most 20 steps after the onset.",
),
    Metric::of("missing_rate", "Missed", (8, 8, 8)).share(1.0, 0.0).described(
"share of anomalies without an alarm from the onset on",
"Share of anomalous episodes without an alarm from the onset on.",
),
    Metric::of("early_rate", "Early", (0, 2, 0)).share(1.0, 0.0).described(
"share of anomalous episodes with an alarm before the onset, of those with a step before it",
"Share of anomalous episodes with an alarm before the onset, which is a false alarm. Episodes that are anomalous from the first step do not count.",
),
    Metric::of("before_failure_rate", "Before failure", (0, 7, 0)).share(0.0, 1.0).described(
"share of anomalies with an alarm before the policy fails, of the episodes that end in failure",
"Share of anomalies with an alarm from the onset on and before the step in which the policy fails, among the anomalous episodes that end in failure.",
),
    Metric::of("before_failure_20_rate", "20 before failure", (0, 0, 0)).share(0.0, 1.0).described(
"share of anomalies with an alarm at least 20 steps before the policy fails, of the episodes that fail at least 20 steps after the onset",
"Share of anomalies with an alarm from the onset on and at least 20 steps before the step in which the policy fails, among the anomalous episodes that fail at least 20 steps after the onset.",
),
    Metric::of("false_alarm_rate", "False alarms", (9, 1, 0)).share(1.0, 0.0).described(
"share of nominal episodes with an alarm",
"Share of nominal episodes with an alarm at any step.",
),
    Metric::of("detection_rate", "Detected", (0, 6, 7)).share(0.0, 1.0).described(
"share of anomalies with an alarm from the onset on",
"Share of anomalous episodes with an alarm from the onset on.",
),
];

/// Computes a metric of scored episodes, at the alarm threshold if it depends on one.
pub type Measure = fn(&[ScoredEpisode], Option<f64>, &Bootstrap) -> Result<Estimate, StatsError>;

/// A metric from outside.
#[derive(Debug, Clone, Copy)]
pub struct Added {
    /// What it is.
    pub metric: Metric,
    /// Its value for scored episodes; with the value of the alarm threshold, if it depends on one.
    pub value: Measure,
}

static ADDED: OnceLock<Vec<Added>> = OnceLock::new();

/// Adds metrics to those of this program, once, before the first of them is used.
///
/// # Panics
/// If it is called a second time, or a name is taken.
pub fn add(metrics: Vec<Added>) {
    for (i, new) in metrics.iter().enumerate() {
        let taken = metrics[..i].iter().map(|m| &m.metric).chain(METRICS).any(|m| m.id == new.metric.id);
        assert!(!taken, "metric {:?}: expected a name that no other metric has", new.metric.id);
    }
    assert!(ADDED.set(metrics).is_ok(), "metrics: expected them to be added once, and before they are used");
}

/// The metrics from outside.
pub fn added() -> &'static [Added] {
    ADDED.get_or_init(Vec::new)
}

/// Every metric.
pub fn all() -> impl Iterator<Item = &'static Metric> {
    METRICS.iter().chain(added().iter().map(|added| &added.metric))
}

/// The metric of that name.
pub fn find(id: &str) -> Option<&'static Metric> {
    all().find(|metric| metric.id == id)
}

/// The metrics of a table of the report, in the order of its columns.
pub fn shown(column: fn(&Columns) -> u8) -> Vec<&'static str> {
    let mut shown: Vec<&Metric> = all().filter(|metric| column(&metric.columns) > 0).collect();
    shown.sort_by_key(|metric| column(&metric.columns));
    shown.iter().map(|metric| metric.id).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Mode;
    use std::collections::HashSet;

    #[test]
    fn the_list_has_what_detection_and_delays_compute_and_nothing_else() {
        let listed: HashSet<&str> = METRICS.iter().map(|m| m.id).collect();
        assert_eq!(listed.len(), METRICS.len());
        let plan = Bootstrap::new(10, crate::Level::P95, offnominal_core::Seed(0));
        let episode = ScoredEpisode::persistent(vec![0.0, 1.0], 1, Some(vec![0.0, 0.0]));
        let delays = crate::delays(&[episode], 0.5, &plan).unwrap();
        let ranked = Mode::ALL.iter().flat_map(|m| m.metric_ids());
        let computed: HashSet<&str> = ranked.chain(delays.rows().iter().map(|(id, _)| *id)).collect();
        assert_eq!(listed, computed);
        let is_ranked = |m: &Metric| Mode::ALL.iter().any(|mode| mode.metric_ids().contains(&m.id));
        assert!(METRICS.iter().all(|m| m.thresholded != is_ranked(m)));
    }

    #[test]
    fn every_metric_says_what_it_is() {
        assert!(METRICS.iter().all(|m| m.definition.ends_with('.') && !m.summary.is_empty()));
        assert!(METRICS.iter().filter(|m| m.columns.alarms > 0).all(|m| m.thresholded));
    }

    #[test]
    fn the_columns_of_a_table_are_numbered_without_gaps() {
        for column in [|c: &Columns| c.summary, |c: &Columns| c.alarms, |c: &Columns| c.heat] {
            let mut places: Vec<u8> = METRICS.iter().map(|m| column(&m.columns)).filter(|&c| c > 0).collect();
            places.sort_unstable();
            assert_eq!(places, (1..=places.len() as u8).collect::<Vec<_>>());
        }
    }
}

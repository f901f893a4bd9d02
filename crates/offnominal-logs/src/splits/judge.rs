//! The numbers of one detector on one split.
//!
//! | metric | anomalous steps | nominal steps |
//! |---|---|---|
//! | `auroc_local` … | of one episode | of the same episode; mean over episodes |
//! | `auroc_global` … | of all episodes | of all episodes; of `test` too, if all steps are anomalous |
//! | `auroc_same_step` | labelled at a step | not labelled at the same step, `test` among them; mean over steps |
//!
//! Delays and shares of alarms are those of [`offnominal_stats::delays`]; episodes of `test` give `false_alarm_rate`.

use crate::score::ScoredRecording;
use crate::splits::Split;
use anyhow::Result;
use offnominal_core::estimate::Estimate;
use offnominal_stats::same_step::{Comparison, Recording, same_step};
use offnominal_stats::{Bootstrap, Mode, ScoredEpisode, StatsError, delays, detection};
use serde::{Deserialize, Serialize};

/// The area at the same step, among the metrics.
pub const SAME_STEP: &str = "auroc_same_step";

/// One number of the table.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Number {
    /// The environment.
    pub env: String,
    /// The anomaly, as the folder calls it.
    pub anomaly: String,
    /// Its strength.
    pub strength: String,
    /// The detector.
    pub detector: String,
    /// What it is of: anomalous episodes that reach the onset, nominal episodes, or steps, as the metric says.
    pub n: u64,
    /// The metric.
    pub metric: String,
    /// How the threshold was set, where the metric depends on it.
    pub threshold: String,
    /// The value.
    pub value: f64,
    /// The lower end of its 95 % interval.
    pub low: f64,
    /// The upper end.
    pub high: f64,
}

/// What a monitor says of an episode.
#[derive(Debug, Clone)]
pub struct Scored {
    scores: Vec<f64>,
    statistics: Vec<f64>,
    labels: Vec<bool>,
}

impl Scored {
    /// That of a recording, whose labels are known.
    pub fn of(recording: &ScoredRecording) -> Scored {
        let steps = || recording.labelled_steps();
        Scored {
            scores: steps().map(|(verdict, _)| verdict.score).collect(),
            statistics: steps().map(|(verdict, _)| verdict.statistic).collect(),
            labels: steps().map(|(_, label)| label).collect(),
        }
    }

    fn episode(&self, values: &[f64]) -> ScoredEpisode {
        let onset = self.labels.iter().position(|&label| label).map(|step| step as u32);
        ScoredEpisode {
            scores: values.to_vec(),
            labels: self.labels.clone(),
            onset,
            twin: None,
            fails: false,
        }
    }

    fn recording(&self) -> Recording {
        let cases = Comparison::Labelled.cases(self.scores.len(), Some(&self.labels), None);
        Recording { group: 0, scores: self.scores.clone(), cases }
    }
}

/// A metric of a split.
pub struct SplitMetric {
    metric: &'static str,
    depends_on_threshold: bool,
    estimate: Estimate,
}

impl SplitMetric {
    /// As a row of the table.
    pub fn number(self, env: &str, split: &Split, detector: &str, rule: &str) -> Number {
        let Estimate { value, low, high, n, .. } = self.estimate;
        Number {
            env: env.into(),
            anomaly: split.anomaly.clone(),
            strength: split.strength.into(),
            detector: detector.into(),
            n: n as u64,
            metric: self.metric.into(),
            threshold: if self.depends_on_threshold { rule.into() } else { String::new() },
            value,
            low,
            high,
        }
    }
}

/// All metrics that these episodes define.
///
/// # Errors
/// If a score or the threshold is not a number.
pub fn judge(
    split: &[Scored],
    test: &[Scored],
    threshold: f64,
    plan: &Bootstrap,
) -> Result<Vec<SplitMetric>> {
    let of_scores = |scored: &Scored| scored.episode(&scored.scores);
    let of_statistics = |scored: &Scored| scored.episode(&scored.statistics);
    let mut episodes: Vec<ScoredEpisode> = split.iter().map(of_scores).collect();
    let mut found = Vec::new();
    let mut add = |metric, depends_on_threshold, estimate: Result<Estimate, StatsError>| {
        found.extend(estimate.ok().map(|estimate| SplitMetric { metric, depends_on_threshold, estimate }));
    };
    if let Ok(local) = detection(&episodes, Mode::Local, plan) {
        local.rows().into_iter().for_each(|(metric, value)| add(metric, false, Ok(value.clone())));
    }
    if episodes.iter().all(|episode| !episode.labels.contains(&false)) {
        episodes.extend(test.iter().map(of_scores));
    }
    let global = detection(&episodes, Mode::Global, plan)?;
    global.rows().into_iter().for_each(|(metric, value)| add(metric, false, Ok(value.clone())));
    let recordings: Vec<Recording> = split.iter().chain(test).map(Scored::recording).collect();
    add(SAME_STEP, false, same_step(&recordings, Comparison::Labelled, plan).map(|found| found.auroc));
    let alarms: Vec<ScoredEpisode> = split.iter().chain(test).map(of_statistics).collect();
    let told = delays(&alarms, threshold, plan)?.rows();
    // How an episode ends is not known here.
    told.into_iter()
        .filter(|(metric, _)| !metric.starts_with("before_failure"))
        .for_each(|(metric, value)| add(metric, true, value));
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;
    use offnominal_core::Seed;
    use offnominal_stats::Level;

    fn scored(scores: &[f64], onset: usize) -> Scored {
        let labels = (0..scores.len()).map(|step| step >= onset).collect();
        Scored { scores: scores.to_vec(), statistics: scores.to_vec(), labels }
    }

    fn value(split: &[Scored], test: &[Scored], metric: &str) -> Option<f64> {
        let plan = Bootstrap::new(100, Level::P95, Seed(1));
        let found = judge(split, test, 5.0, &plan).unwrap();
        found.into_iter().find(|found| found.metric == metric).map(|found| found.estimate.value)
    }

    #[test]
    fn a_clock_is_found_out_at_the_same_step_only() {
        let clock: Vec<f64> = (0..20).map(f64::from).collect();
        let split = [scored(&clock, 8), scored(&clock, 12)];
        let test = [scored(&clock, 20), scored(&clock, 20)];
        assert_eq!(value(&split, &test, "auroc_local"), Some(1.0));
        assert!(value(&split, &test, "auroc_global").unwrap() > 0.9);
        assert_eq!(value(&split, &test, SAME_STEP), Some(0.5));
    }

    #[test]
    fn delays_count_from_the_label_and_false_alarms_are_those_of_the_nominal_split() {
        let late = scored(&[0.0, 0.0, 0.0, 9.0, 0.0], 1);
        let missed = scored(&[0.0; 5], 2);
        let (quiet, loud) = (scored(&[0.0; 5], 5), scored(&[0.0, 9.0, 0.0, 0.0, 0.0], 5));
        let (split, test) = ([late.clone(), late, missed], [quiet.clone(), quiet, loud.clone(), loud]);
        assert_eq!(value(&split, &test, "delay_median"), Some(2.0));
        assert_eq!(value(&split, &test, "d20"), Some(2.0 / 3.0));
        assert_eq!(value(&split, &test, "false_alarm_rate"), Some(0.5));
        assert_eq!(value(&split, &test, "before_failure_rate"), None);
    }

    #[test]
    fn anomalies_from_the_first_step_are_compared_with_the_nominal_split() {
        let (split, test) = ([scored(&[2.0; 4], 0)], [scored(&[1.0; 4], 4), scored(&[3.0; 4], 4)]);
        assert_eq!(value(&split, &test, "auroc_local"), None);
        assert_eq!(value(&split, &test, "auroc_global"), Some(0.5));
        assert_eq!(value(&split, &test, SAME_STEP), Some(0.5));
    }
}

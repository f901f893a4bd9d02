//! rollouts.json: what was found.

use crate::rollout::Rollouts;
use offnominal_core::estimate::Estimate;
use offnominal_files::provenance::Provenance;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// What was judged, and how good each detector is.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Judged {
    /// What made it.
    pub made: Provenance,
    /// The rollouts.
    pub data: Data,
    /// Share of successful rollouts that may have an alarm.
    pub alpha: f64,
    /// The first step that was compared.
    pub from_step: usize,
    /// One for each split; one for all rollouts without a split.
    pub sections: Vec<SectionResult>,
    /// The page, if one was written.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub page: Option<PathBuf>,
}

/// What is known of the rollouts.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Data {
    /// Number of rollouts.
    pub rollouts: usize,
    /// Of them failed.
    pub failures: usize,
    /// Steps of all.
    pub steps: usize,
    /// Signals of each step.
    pub signals: Vec<String>,
    /// Each task.
    pub tasks: Vec<Task>,
    /// What was assumed or left out when they were read, in sentences.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub remarks: Vec<String>,
}

/// What is known of a task.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Task {
    /// Its name.
    pub task: String,
    /// Number of rollouts.
    pub rollouts: usize,
    /// Of them failed.
    pub failures: usize,
    /// Steps of the shortest.
    pub shortest: usize,
    /// Steps of the longest.
    pub longest: usize,
    /// Failures that end before the longest rollout does: not every failure is the time limit.
    pub early_failures: usize,
}

/// The detectors on one split.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct SectionResult {
    /// The split; `all` without one.
    pub split: String,
    /// Parts of the split that are judged by themselves.
    pub parts: usize,
    /// Rollouts that were judged, each counted once.
    pub rollouts: usize,
    /// Of them failed.
    pub failures: usize,
    /// Whether the judged tasks are among those that were learned from.
    pub knows_tasks: bool,
    /// Steps of a task with a failure and a success, in all parts.
    pub cells: usize,
    /// Each detector.
    pub detectors: Vec<DetectorResult>,
}

/// How good a detector is.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct DetectorResult {
    /// The detector.
    pub detector: String,
    /// At the same task and step.
    pub landmark: LandmarkAreas,
    /// The same by pairs, with an interval over tasks; missing if there are too few tasks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub new_tasks: Option<Estimate>,
    /// Incident/dynamic: failures at the step at which they begin against all that have not begun to fail; missing if no
    /// such step is known, or a rollout is judged in several parts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub incident: Option<Estimate>,
    /// By the usual cut-offs.
    pub protocols: Vec<ProtocolArea>,
    /// Share of failures with an alarm, at thresholds that the judged successes of each task set.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub detected: Option<Estimate>,
    /// Mean steps from the alarm to the end of a failure, at the same thresholds; 0 without an alarm.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lead: Option<Estimate>,
    /// Mean squared error of the probability to fail, over running steps; of detectors whose score is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub brier: Option<Estimate>,
    /// Mean of that probability less the share that fails.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bias: Option<Estimate>,
    /// Area at each step of the first part that can be compared, all tasks together; 0.5 where there is no pair.
    pub by_step: Vec<f64>,
    /// Share of failures of the first part with an alarm by each step.
    pub curve: Vec<f64>,
    /// At thresholds that other rollouts set.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub alarms: Option<Alarms>,
    /// Its areas less those of the detector that it was compared with.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub difference: Option<Difference>,
}

/// Landmark areas by their three weightings.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct LandmarkAreas {
    /// Every pair counts once.
    pub pairs: Estimate,
    /// Every step of a task counts once.
    pub cells: Estimate,
    /// Every task counts once.
    pub tasks: Estimate,
}

/// The area under a published protocol.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct ProtocolArea {
    /// The cut-off.
    pub protocol: String,
    /// Area of the largest scores before the cut-off.
    pub auroc: Estimate,
}

/// Differences from another detector.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Difference {
    /// The other one.
    pub versus: String,
    /// This one's landmark areas less those of the other, the same rollouts drawn for both.
    pub landmark: LandmarkAreas,
    /// The same by pairs, with an interval over tasks; missing if there are too few tasks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub new_tasks: Option<Estimate>,
}

/// Alarms at thresholds that held-out successes set, task by task.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Alarms {
    /// Share of judged successes with an alarm; of those with a promise of their task or of several tasks together.
    pub false_alarms: Estimate,
    /// Share of judged failures with an alarm, of those with a promise.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub detected: Option<Estimate>,
    /// Judged rollouts whose task has a threshold of its own.
    pub own: usize,
    /// Judged rollouts whose task shares a threshold with other small tasks.
    pub pooled: usize,
    /// Judged rollouts without a promise: their task is unknown, or there are too few successes to set a threshold.
    pub without: usize,
}

/// A row of rollouts.csv.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Row {
    /// The split.
    pub split: String,
    /// The detector.
    pub detector: String,
    /// What was measured.
    pub metric: String,
    /// The detector that it was compared with, for differences.
    pub versus: Option<String>,
    /// Its value.
    pub value: f64,
    /// Lower end of its interval.
    pub low: f64,
    /// Upper end of its interval.
    pub high: f64,
    /// Level of the interval.
    pub level: f64,
    /// Rollouts behind it; tasks, for new tasks.
    pub n: usize,
}

impl Data {
    /// Of rollouts.
    pub fn of(data: &Rollouts) -> Data {
        let task = |(number, name): (usize, &String)| {
            let of = || data.rollouts.iter().filter(move |r| r.task == number);
            let longest = of().map(|r| r.steps()).max().unwrap_or(0);
            Task {
                task: name.clone(),
                rollouts: of().count(),
                failures: of().filter(|r| r.fails).count(),
                shortest: of().map(|r| r.steps()).min().unwrap_or(0),
                longest,
                early_failures: of().filter(|r| r.fails && r.steps() < longest).count(),
            }
        };
        Data {
            rollouts: data.rollouts.len(),
            failures: data.failures(),
            steps: data.rollouts.iter().map(|r| r.steps()).sum(),
            signals: data.signals.clone(),
            tasks: data.tasks.iter().enumerate().map(task).collect(),
            remarks: data.remarks.clone(),
        }
    }
}

impl LandmarkAreas {
    /// From the three means.
    pub fn of([pairs, cells, tasks]: [Estimate; 3]) -> LandmarkAreas {
        LandmarkAreas { pairs, cells, tasks }
    }

    /// The three with their names.
    pub fn named(&self) -> [(&'static str, &Estimate); 3] {
        [("pairs", &self.pairs), ("cells", &self.cells), ("tasks", &self.tasks)]
    }
}

//! How well the statistic tells recordings apart at the same step, where labels or outcomes tell the truth; beside a clock,
//! which counts steps, and random numbers.

use crate::score::ScoredRecording;
use offnominal_core::Seed;
use offnominal_core::estimate::Estimate;
use offnominal_stats::same_step::{Comparison, Recording, StepArea, same_step};
use offnominal_stats::{Bootstrap, Level};
use serde::Serialize;
use std::fmt::{self, Display, Formatter};

/// Replicates of an interval.
const REPLICATES: usize = 1000;

/// The area under the ROC curve at the same step.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Ranked {
    /// Who is a case.
    pub comparison: Comparison,
    /// The detector, `clock` or `random`.
    pub detector: String,
    /// The mean over steps.
    pub auroc: Estimate,
    /// Each step.
    pub steps: Vec<StepArea>,
}

/// All comparisons that the labels and outcomes of the recordings allow.
pub fn ranked(recordings: &[ScoredRecording], detector: &str, seed: Seed) -> Vec<Ranked> {
    let comparisons = [Comparison::Landmark, Comparison::Labelled, Comparison::Incident];
    let detectors = [detector, "clock", "random"];
    let both = comparisons.iter().flat_map(|&c| detectors.map(|detector| (c, detector)));
    both.filter_map(|(comparison, detector)| one(recordings, comparison, detector, seed)).collect()
}

/// One comparison; `None` if there are not both cases and controls.
fn one(recordings: &[ScoredRecording], comparison: Comparison, detector: &str, seed: Seed) -> Option<Ranked> {
    let groups = groups(recordings);
    let compared = |(i, recording): (usize, &ScoredRecording)| {
        let n = recording.verdicts.len();
        let labels = recording.recorded.labels.as_deref();
        Recording {
            group: groups[i],
            scores: scores(recording, detector, seed.child("random").child(i)),
            cases: comparison.cases(n, labels, recording.success),
        }
    };
    let compared: Vec<Recording> = recordings.iter().enumerate().map(compared).collect();
    let plan = Bootstrap::new(REPLICATES, Level::P95, seed);
    let found = same_step(&compared, comparison, &plan).ok()?;
    Some(Ranked { comparison, detector: detector.into(), auroc: found.auroc, steps: found.steps })
}

fn scores(recording: &ScoredRecording, detector: &str, seed: Seed) -> Vec<f64> {
    let n = recording.verdicts.len();
    match detector {
        "clock" => (0..n).map(|step| step as f64).collect(),
        "random" => {
            let mut rng = seed.rng();
            (0..n).map(|_| rng.uniform()).collect()
        }
        _ => recording.verdicts.iter().map(|verdict| verdict.statistic).collect(),
    }
}

/// The number of each recording's task; recordings without one are of one task.
fn groups(recordings: &[ScoredRecording]) -> Vec<usize> {
    let mut tasks: Vec<Option<&str>> = recordings.iter().map(|r| r.task.as_deref()).collect();
    tasks.sort_unstable();
    tasks.dedup();
    recordings.iter().map(|r| tasks.partition_point(|task| *task < r.task.as_deref())).collect()
}

impl Display for Ranked {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        let what = match self.comparison {
            Comparison::Landmark => "will fail against will succeed",
            Comparison::Labelled => "labelled against not labelled",
            Comparison::Incident => "label begins against not yet labelled",
        };
        let Estimate { value, low, high, .. } = self.auroc;
        write!(out, "AUROC at the same step, {what}: {} {value:.3} [{low:.3}, {high:.3}]", self.detector)
    }
}

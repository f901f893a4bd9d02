//! What a run leaves behind: `risk.json`, which the report shows and from which failures are replayed.

use super::answer::{Answer, answer};
use super::atlas::{Atlas, FailureKind};
use super::block::{ExperimentSpec, Failure};
use super::requirement::Requirements;
use super::verdict::Verdict;
use anyhow::Result;
use offnominal_core::Seed;
use offnominal_core::anomaly_spec::AnomalySpec;
use offnominal_core::divergence::Divergence;
use offnominal_files::provenance::Provenance;
use offnominal_stats::Level;
use offnominal_stats::risk::{Diagnostics, budget};
use serde::{Deserialize, Serialize};
use std::path::Path;

/// Name of the file in a run's folder.
pub const FILE: &str = "risk.json";

/// A failure that can be replayed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct StoredFailure {
    /// The key of its randomness.
    pub key: Seed,
    /// The initial condition.
    pub x: Vec<f64>,
    /// Steps until it failed.
    pub steps: u64,
    /// Its part of the failure probability.
    pub share: f64,
    /// What broke it off, if it has no outcome and only counts as a failure.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub divergence: Option<Divergence>,
    /// Number of its kind.
    pub kind: usize,
    /// The numbers, from 1, of the requirements that it broke, where several are told apart.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub broken: Vec<u64>,
}

/// Everything that a run found.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Document {
    /// Which run it was.
    pub run: ExperimentSpec,
    /// Draws of the environment's initial conditions.
    pub draws: u64,
    /// Experiments.
    pub experiments: u64,
    /// Steps of all episodes.
    pub steps: u64,
    /// Experiments without an outcome, which count as failures.
    #[serde(default)]
    pub diverged: u64,
    /// The failure probability.
    pub risk: Answer,
    /// The same by other intervals.
    pub others: Vec<Answer>,
    /// How often each requirement is broken, where several are told apart.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub requirements: Option<Requirements>,
    /// What the weights say of themselves; null where all are equal.
    pub diagnostics: Option<Diagnostics>,
    /// What is doubtful.
    pub warnings: Vec<String>,
    /// What counting would need, were the estimate the truth; null with too few failures to say.
    pub counting: Option<Counting>,
    /// The kinds of failures, the largest part of the probability first.
    pub kinds: Vec<FailureKind>,
    /// The failures.
    pub failures: Vec<StoredFailure>,
    /// What made it.
    #[serde(default)]
    pub made: Provenance,
}

/// Episodes from which on counting is within a factor of the truth in 95 % of all runs.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Counting {
    /// The factor.
    pub factor: f64,
    /// The episodes.
    pub episodes: u64,
}

/// The factor of [`Counting`], that of the publication.
const FACTOR: f64 = 3.0;

impl Document {
    /// Puts together what was found; what made it is only known to the caller.
    pub fn new(run: &ExperimentSpec, verdict: &Verdict, atlas: Atlas) -> Document {
        let warnings = verdict.diagnostics.iter().flat_map(Diagnostics::warnings).map(|w| w.to_string());
        let diverged = verdict.failures.iter().filter(|(f, _)| f.divergence.is_some()).count() as u64;
        let counted = (diverged > 0)
            .then(|| format!("{diverged} experiments diverged and have no outcome; they count as failures"));
        let stored = |(i, (f, share)): (usize, &(Failure, f64))| StoredFailure {
            key: f.key,
            x: f.x.clone(),
            steps: f.steps,
            share: *share,
            divergence: f.divergence,
            kind: atlas.kind_of[i],
            broken: f.broken.clone(),
        };
        Document {
            run: run.clone(),
            draws: verdict.draws,
            experiments: verdict.experiments,
            steps: verdict.steps,
            diverged,
            risk: answer("failure probability", &verdict.risk),
            others: verdict.others.iter().map(|(name, found)| answer(name, found)).collect(),
            requirements: verdict.requirements.clone(),
            diagnostics: verdict.diagnostics.clone(),
            warnings: warnings.chain(counted).collect(),
            failures: verdict.failures.iter().enumerate().map(stored).collect(),
            counting: Counting::of(verdict),
            kinds: atlas.kinds,
            made: Provenance::default(),
        }
    }

    /// What goes wrong in every episode, with its magnitude; nothing where nothing does.
    pub fn anomaly(&self) -> String {
        self.run.anomaly_spec.as_ref().map(AnomalySpec::words).unwrap_or_default()
    }

    /// The estimate, and then the same by other intervals.
    pub fn answers(&self) -> impl Iterator<Item = &Answer> {
        std::iter::once(&self.risk).chain(&self.others)
    }

    /// Reads the file of a run.
    ///
    /// # Errors
    /// If it cannot be read, or is none.
    pub fn read(folder: &Path) -> Result<Document> {
        offnominal_files::read::json(&folder.join(FILE))
    }
}

impl Counting {
    fn of(verdict: &Verdict) -> Option<Counting> {
        const FEWEST_FAILURES: usize = 5;
        let p = verdict.failures.iter().map(|(_, share)| share).sum();
        let episodes = budget(p, FACTOR, Level::P95).ok()?;
        (verdict.failures.len() >= FEWEST_FAILURES).then_some(Counting { factor: FACTOR, episodes })
    }
}

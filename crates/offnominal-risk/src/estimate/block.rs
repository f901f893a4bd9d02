//! What a run of experiments is, and the blocks that its journal holds.

use anyhow::{Context as _, Result, ensure};
use offnominal_core::prelude::*;
use offnominal_engine::scenario::Scenario;
use offnominal_files::dataset::PolicyName;
use offnominal_stats::risk::{Allocation, Thinning};
use serde::{Deserialize, Serialize};
use std::ops::Range;

/// What is estimated, and how; a journal belongs to one of these.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ExperimentSpec {
    /// The environment.
    pub env: String,
    /// What simulates an environment that Python hosts: versions, and digests of the user's modules.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub simulator: Option<String>,
    /// The policy.
    pub policy: PolicyName,
    /// The seed.
    pub seed: u64,
    /// How initial conditions are chosen.
    pub method: Method,
    /// What is drawn for each episode, and by what one fails, where something is said of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scenario: Option<Scenario>,
    /// What goes wrong in every episode, if anything does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub anomaly_spec: Option<AnomalySpec>,
}

/// How initial conditions are chosen.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "name", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Method {
    /// Draws from P, each tried.
    Plain,
    /// Draws from P, each tried with a chance that grows with the prediction.
    Thinned {
        /// Digest of the predictor.
        predictor: String,
        /// The exponent.
        exponent: f64,
        /// Share of the experiments that ignores the predictor.
        plain_share: f64,
        /// Experiments per draw.
        rate: f64,
        /// Mean of f^α over draws made before.
        mean_power: f64,
        /// The draws whose failures are told apart from those elsewhere.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        top: Option<Top>,
    },
    /// Draws from P, each tried with a chance that follows what failed before.
    Adaptive {
        /// Digest of the predictor, if there is one.
        predictor: Option<String>,
        /// Share of the experiments that is spread evenly.
        plain_share: f64,
        /// Experiments per draw.
        rate: f64,
    },
    /// Draws from P, and some from where failures were, all tried.
    Importance {
        /// Share of the experiments that are plain draws.
        plain_share: f64,
        /// The part of standard normal numbers that stands for an initial condition.
        admitted: f64,
    },
}

/// The draws with the highest predictions.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Top {
    /// About this share of all draws.
    pub share: f64,
    /// Exactly those that have at least this chance to be tried.
    pub from: f64,
    /// Failures of the history that lie elsewhere.
    pub outside: usize,
    /// All of them.
    pub of: usize,
}

impl Method {
    /// The rule by which draws are thinned, where they are.
    ///
    /// # Errors
    /// If a setting is out of its range.
    pub fn thinning(&self) -> Result<Option<Thinning>> {
        let Method::Thinned { exponent, plain_share, rate, mean_power, .. } = *self else { return Ok(None) };
        Ok(Some(Thinning::new(rate, plain_share, exponent, mean_power)?))
    }

    /// The smallest chance of any draw to be tried; 1 where every draw is.
    ///
    /// # Errors
    /// If a setting is out of its range.
    pub fn floor(&self) -> Result<f64> {
        Ok(match *self {
            Method::Adaptive { rate, plain_share, .. } => Allocation::even(rate, plain_share)?.floor(),
            _ => self.thinning()?.map_or(1.0, |rule| rule.floor()),
        })
    }

    /// Digest of the predictor, if there is one.
    pub fn predictor(&self) -> Option<&str> {
        match self {
            Method::Plain | Method::Importance { .. } => None,
            Method::Adaptive { predictor, .. } => predictor.as_deref(),
            Method::Thinned { predictor, .. } => Some(predictor),
        }
    }
}

/// Some experiments, one after the other.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Block {
    /// How many draws were planned in all when it was made; 0 where the run could stop early.
    pub planned: u64,
    /// The first draw.
    pub first: u64,
    /// Number of draws.
    pub n: u64,
    /// Time that it took.
    pub secs: f64,
    /// Steps of all episodes.
    pub steps: u64,
    /// The draw of each experiment, where the run learns from them; else empty.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub at: Vec<u64>,
    /// Chance and outcome of each experiment, the chance relative to that of a plain draw; empty where every draw was tried, whatever was predicted.
    pub tried: Vec<(f64, bool)>,
    /// The smallest margin of each experiment, where the run learns from them and the environment has margins; else empty.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub margins: Vec<f64>,
    /// What failed.
    pub failures: Vec<Failure>,
    /// All experiments, where a table of them is asked for; else empty.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub samples: Vec<Sample>,
}

/// One experiment of a block, as a table shows it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Sample {
    /// Number of its draw, from which its key follows.
    pub index: u64,
    /// The initial condition.
    pub x: Vec<f64>,
    /// The chance that the draw had to be tried, relative to that of a plain draw.
    pub chance: f64,
    /// Its steps.
    pub steps: u64,
    /// Whether it failed.
    pub failed: bool,
    /// Whether it has no outcome.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub diverged: bool,
    /// Its smallest margin, where the environment has one.
    pub margin: Option<f64>,
    /// The smallest margin of each requirement, where several are told apart; nothing where that is no finite number.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub margins: Vec<Option<f64>>,
    /// The numbers, from 1, of those that it broke.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub broken: Vec<u64>,
}

/// One experiment of a block.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Known {
    /// Number of its draw.
    pub index: u64,
    /// The chance that the draw had to be tried.
    pub chance: f64,
    /// Whether it failed.
    pub failed: bool,
    /// Its smallest margin, where the environment has one.
    pub margin: Option<f64>,
}

/// An experiment that failed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Failure {
    /// Its key, from which all of its randomness follows.
    pub key: Seed,
    /// Number of the draw.
    pub index: u64,
    /// The initial condition.
    pub x: Vec<f64>,
    /// Chance of the draw to be tried.
    pub chance: f64,
    /// Steps until it failed.
    pub steps: u64,
    /// The last observation.
    pub last: Vec<f32>,
    /// What broke it off, if it has no outcome and only counts as a failure.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub divergence: Option<Divergence>,
    /// The numbers, from 1, of the requirements that it broke, where several are told apart.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub broken: Vec<u64>,
}

/// How many draws the blocks hold, which must follow one another.
///
/// # Errors
/// If they do not, or a block holds what cannot be.
pub fn checked(blocks: &[Block]) -> Result<u64> {
    let mut done = 0;
    for (i, block) in blocks.iter().enumerate() {
        done = block.after(done).with_context(|| format!("journal, block {i}"))?;
    }
    Ok(done)
}

impl Block {
    /// The experiments, where the run learns from them.
    pub fn experiments(&self) -> impl Iterator<Item = Known> + '_ {
        let known = |(i, (&index, &(chance, failed)))| {
            let margin = self.margins.get(i).copied();
            Known { index, chance, failed, margin }
        };
        self.at.iter().zip(&self.tried).enumerate().map(known)
    }

    /// Whether it holds every experiment, by the method that made it.
    pub(super) fn has_samples(&self, method: &Method) -> bool {
        let n = if *method == Method::Plain { self.n as usize } else { self.tried.len() };
        self.samples.len() == n
    }

    /// The draw after those of this block, which must begin with the given one.
    fn after(&self, done: u64) -> Result<u64> {
        let Block { first, n, tried, failures, .. } = self;
        ensure!(*first == done, "expected draw {done} next, found {first}");
        let end = first.checked_add(*n).context("expected fewer draws")?;
        let sound = |(chance, _): &(f64, bool)| *chance > 0.0 && chance.is_finite();
        ensure!(tried.iter().all(sound), "expected chances above 0");
        ensure!(tried.len() as u64 <= *n, "expected at most {n} experiments, found {}", tried.len());
        one_after_another(failures.iter().map(|f| f.index), *first..end, "failures")?;
        one_after_another(self.at.iter().copied(), *first..end, "experiments")?;
        let is_whole = self.at.is_empty() || self.at.len() == tried.len();
        ensure!(is_whole, "expected the draws of {} experiments, found {}", tried.len(), self.at.len());
        let is_whole = self.margins.is_empty() || self.margins.len() == self.at.len();
        ensure!(is_whole, "expected {} margins, found {}", self.at.len(), self.margins.len());
        one_after_another(self.samples.iter().map(|s| s.index), *first..end, "samples")?;
        let failed = tried.iter().filter(|(_, failed)| *failed).count();
        let agree = tried.is_empty() || failed == failures.len();
        ensure!(agree, "expected the {failed} failures of its experiments, found {}", failures.len());
        Ok(end)
    }
}

/// Refuses numbers that are not in a range, or do not stand there one after another, each once.
///
/// # Errors
/// The first one that does not.
pub(crate) fn one_after_another(
    numbers: impl Iterator<Item = u64>,
    range: Range<u64>,
    what: &str,
) -> Result<()> {
    let mut least = range.start;
    for number in numbers {
        let Range { start, end } = range;
        ensure!(
            number >= least && number < end,
            "expected {what} from {start} to below {end}, each once and in order, found {number}"
        );
        least = number + 1;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn block(first: u64, failures: &[u64]) -> Block {
        let failure = |&index: &u64| Failure {
            key: Seed(index),
            index,
            x: vec![],
            chance: 1.0,
            steps: 1,
            last: vec![],
            divergence: None,
            broken: vec![],
        };
        let failures = failures.iter().map(failure).collect();
        Block {
            planned: 20,
            first,
            n: 10,
            secs: 0.0,
            steps: 0,
            at: vec![],
            tried: vec![],
            margins: vec![],
            failures,
            samples: vec![],
        }
    }

    #[track_caller]
    fn refused(block: Block, want: &str) {
        let error = checked(&[block_zero(), block]).unwrap_err();
        let error = format!("{error:#}");
        assert!(error.starts_with("journal, block 1: ") && error.contains(want), "{error}");
    }

    fn block_zero() -> Block {
        block(0, &[0, 9])
    }

    #[test]
    fn repeated_failures_and_those_of_other_draws_are_refused() {
        assert_eq!(checked(&[block_zero(), block(10, &[10, 19])]).unwrap(), 20);
        refused(
            block(10, &[12, 12]),
            "expected failures from 10 to below 20, each once and in order, found 12",
        );
        refused(block(10, &[13, 12]), "found 12");
        refused(block(10, &[9]), "found 9");
        refused(block(10, &[20]), "found 20");
        refused(block(11, &[]), "expected draw 10 next, found 11");
        refused(Block { n: u64::MAX, ..block(10, &[]) }, "expected fewer draws");
        let tried = vec![(0.5, true), (1.0, false)];
        refused(
            Block { tried: tried.clone(), ..block(10, &[]) },
            "expected the 1 failures of its experiments",
        );
        checked(&[block_zero(), Block { tried: tried.clone(), ..block(10, &[11]) }]).unwrap();
        let margins = vec![0.5; 3];
        refused(
            Block { at: vec![11, 12], tried: tried.clone(), margins, ..block(10, &[11]) },
            "expected 2 margins, found 3",
        );
        refused(Block { n: 1, tried, ..block(10, &[10]) }, "expected at most 1 experiments, found 2");
    }
}

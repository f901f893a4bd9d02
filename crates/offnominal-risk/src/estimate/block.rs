//! What a run of experiments is, and the blocks that its journal holds.

use anyhow::{Result, ensure};
use offnominal_core::prelude::*;
use offnominal_engine::randomisation::Randomisation;
use offnominal_files::dataset::PolicyName;
use offnominal_stats::risk::Thinning;
use serde::{Deserialize, Serialize};

/// What is estimated, and how; a journal belongs to one of these.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ExperimentSpec {
    /// The environment.
    pub env: String,
    /// The policy.
    pub policy: PolicyName,
    /// The seed.
    pub seed: u64,
    /// How initial conditions are chosen.
    pub method: Method,
    /// What is drawn of the environment, if anything is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub randomisation: Option<Randomisation>,
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
    },
    /// Draws that the predictor accepts; with no plain share it is algorithm 1 of the paper.
    Accepted {
        /// Digest of the predictor.
        predictor: String,
        /// The exponent.
        exponent: f64,
        /// Share of the experiments that ignores the predictor.
        plain_share: f64,
        /// Draws from which the normalising constant is known.
        draws: usize,
    },
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
}

/// Some experiments, one after the other.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Block {
    /// How many draws were planned in all when it was made.
    pub planned: u64,
    /// The first draw.
    pub first: u64,
    /// Number of draws.
    pub n: u64,
    /// Time that it took.
    pub secs: f64,
    /// Steps of all episodes.
    pub steps: u64,
    /// Chance and outcome of each experiment; empty where every draw was tried, whatever was predicted.
    pub tried: Vec<(f64, bool)>,
    /// What failed.
    pub failures: Vec<Failure>,
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
    /// Chance of the draw to be tried or accepted.
    pub chance: f64,
    /// Steps until it failed.
    pub steps: u64,
    /// The last observation.
    pub last: Vec<f32>,
}

/// How many draws the blocks hold, which must follow one another.
pub fn checked(blocks: &[Block]) -> Result<u64> {
    let mut done = 0;
    for (i, block) in blocks.iter().enumerate() {
        ensure!(block.first == done, "journal, block {i}: expected draw {done} next, found {}", block.first);
        let sound = |(chance, _): &(f64, bool)| *chance > 0.0 && *chance <= 1.0;
        ensure!(block.tried.iter().all(sound), "journal, block {i}: expected chances above 0, at most 1");
        done += block.n;
    }
    Ok(done)
}

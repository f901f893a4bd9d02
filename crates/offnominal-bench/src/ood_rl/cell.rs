//! The cells of the suite: one for each policy.

use crate::ood_rl::agents::Agents;
use crate::ood_rl::environment::{self, shows_images};
use crate::ood_rl::{Agent, ID, Method};
use anyhow::Result;
use offnominal_files::store::address;
use serde::Serialize;

/// Nominal episodes, and episodes of each variant; those of pong are long.
pub(super) fn episodes(env: &str) -> usize {
    if shows_images(env) { 5 } else { 20 }
}

/// Bootstrap replicates of an interval.
const REPLICATES: usize = 200;

/// Root of everything random.
const SEED: u64 = 0;

/// Detectors that are judged on the same episodes, for the first ensemble of each environment. The first [`BLIND`] of
/// them do not read observations, the last two read what the policy makes of them; those between see no images.
pub(super) const EXTERNAL: [&str; 8] = [
    "clock",
    "random",
    "knn",
    "isolation-forest",
    "ensemble-dm",
    "rnd",
    "feature-mahalanobis",
    "feature-knn",
];

/// Detectors that do not read observations.
const BLIND: usize = 2;

/// Detectors that read the observations of an environment, or none.
pub(super) fn external(env: &str) -> Vec<&'static str> {
    let fits = |i: &usize| !shows_images(env) || *i < BLIND || *i >= EXTERNAL.len() - 2;
    (0..EXTERNAL.len()).filter(fits).map(|i| EXTERNAL[i]).collect()
}

/// What one policy is asked to do; everything that the result depends on.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Cell {
    suite: &'static str,
    engine: &'static str,
    /// The environment, and the digest of its specification.
    pub env: &'static str,
    environment: String,
    /// How the policy disagrees with itself.
    pub method: Method,
    /// Which of the trials.
    pub trial: u32,
    policy: String,
    /// Nominal episodes, and episodes of each variant.
    pub episodes: usize,
    /// Bootstrap replicates of an interval.
    pub replicates: usize,
    /// Root of everything random.
    pub seed: u64,
    /// Detectors judged on the same episodes.
    pub external: Vec<&'static str>,
}

impl Cell {
    fn of(agent: &Agent) -> Result<Cell> {
        let environment = environment::open(agent.env)?;
        let compares =
            matches!(agent.method, Method::Ensemble | Method::AugmentedEnsemble) && agent.trial == 1;
        Ok(Cell {
            suite: ID,
            engine: env!("CARGO_PKG_VERSION"),
            env: agent.env,
            environment: address(&serde_json::to_vec(environment.spec())?),
            method: agent.method,
            trial: agent.trial,
            policy: agent.digest.clone(),
            episodes: episodes(agent.env),
            replicates: REPLICATES,
            seed: SEED,
            external: if compares { external(agent.env) } else { vec![] },
        })
    }

    /// Its name: the digest of what it says.
    ///
    /// # Errors
    /// Never in practice: it is plain data.
    pub fn id(&self) -> Result<String> {
        Ok(address(&serde_json::to_vec(self)?))
    }
}

/// What is to be played.
pub struct Plan {
    /// Each with its policy.
    pub cells: Vec<(Cell, Agent)>,
    /// Environments that cannot be opened here, each with the reason.
    pub left_out: Vec<String>,
}

/// The cells of the policies that are there.
///
/// # Errors
/// If a policy cannot be read.
pub fn plan() -> Result<Plan> {
    let Agents { found, left_out } = Agents::all()?;
    let cells = found.into_iter().map(|agent| Ok((Cell::of(&agent)?, agent))).collect::<Result<_>>()?;
    Ok(Plan { cells, left_out })
}

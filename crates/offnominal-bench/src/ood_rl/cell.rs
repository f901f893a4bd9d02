//! The cells of the suite: one for each policy.

use crate::ood_rl::figure::{self, Trace};
use crate::ood_rl::row::Judged;
use crate::ood_rl::{Agent, ID, play};
use anyhow::{Context as _, Result};
use offnominal_engine::catalogues;
use offnominal_engine::context::Context;
use offnominal_files::store::{State, Store, address};
use offnominal_files::table;
use serde::Serialize;
use serde_json::json;
use std::path::Path;

/// Episodes at home, and in each variant; those of pong are long.
pub(super) fn episodes(env: &str) -> usize {
    if env == "pong" { 5 } else { 20 }
}

/// Bootstrap replicates of an interval.
const REPLICATES: usize = 200;

/// Root of everything random.
const SEED: u64 = 0;

/// Files of a cell.
pub(super) const ROWS: &str = "rows.csv";
pub(super) const TRACES: &str = "traces.json";

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
    let fits = |i: &usize| env != "pong" || *i < BLIND || *i >= EXTERNAL.len() - 2;
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
    pub method: crate::ood_rl::Method,
    /// Which of the trials.
    pub trial: u32,
    policy: String,
    /// Episodes at home, and in each variant.
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
        let environment = catalogues::environments().build(agent.env, &json!({}))?;
        let compares = agent.method == crate::ood_rl::Method::Ensemble && agent.trial == 1;
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

/// The cells of the policies that are there, each with its policy.
///
/// # Errors
/// If a policy cannot be read.
pub fn plan() -> Result<Vec<(Cell, Agent)>> {
    Agent::all()?.into_iter().map(|agent| Ok((Cell::of(&agent)?, agent))).collect()
}

/// Runs the cells that are not finished, each on so many threads, and returns how many these were.
///
/// # Errors
/// If a cell fails or cannot be kept; it is named.
pub fn run(plan: &[(Cell, Agent)], store: &Store, context: &Context) -> Result<usize> {
    let mut open = Vec::new();
    for (cell, agent) in plan {
        let id = cell.id()?;
        if store.state(&id) != State::Done {
            open.push((cell, agent, id));
        }
    }
    for (i, (cell, agent, id)) in open.iter().enumerate() {
        let name = format!("{} {} {} ({} of {})", cell.env, cell.method.id(), cell.trial, i + 1, open.len());
        let bar = context.task(play::settings(cell.env).len(), &name);
        let files = play::files(cell, &agent.policy, context.jobs, &bar)
            .with_context(|| format!("cell {id} ({name})"))?;
        store.save(id, &files)?;
    }
    store.sweep()?;
    Ok(open.len())
}

/// An image: the name of its file, and its text.
pub type Figure = (String, String);

/// The rows of finished cells, and the images with the names of their files.
///
/// # Errors
/// If a cell is not finished or cannot be read.
pub fn collect(plan: &[(Cell, Agent)], store: &Store) -> Result<(Vec<Judged>, Vec<Figure>)> {
    let (mut rows, mut traces) = (Vec::new(), Vec::<Trace>::new());
    for (cell, _) in plan {
        let id = cell.id()?;
        rows.extend(table::from_csv::<Judged>(&store.read(&id, ROWS)?, Path::new(&id))?);
        traces.extend(serde_json::from_slice::<Vec<Trace>>(&store.read(&id, TRACES)?)?);
    }
    Ok((rows, figure::all(&traces)?))
}

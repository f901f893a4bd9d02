//! `evaluate`: return and success rate of a policy, with intervals.

use super::{Common, Outcome};
use crate::{catalogues, parallel, policies, progress};
use anyhow::Result;
use clap::Args;
use offnominal_core::prelude::*;
use serde_json::json;
use std::io::Write;

/// Arguments of `evaluate`.
#[derive(Debug, Args)]
pub struct Evaluate {
    /// World id (see `list envs`)
    #[arg(long)]
    env: String,
    /// Algorithm, card id, path, or `random`
    #[arg(long)]
    policy: String,
    /// Number of episodes
    #[arg(long, default_value_t = 100)]
    episodes: usize,
}

impl Evaluate {
    /// Plays the episodes and prints the estimates.
    ///
    /// # Errors
    /// If the world or the policy cannot be had.
    pub fn run(&self, common: &Common) -> Result<Outcome> {
        let env = catalogues::worlds().build(&self.env, &json!({}))?;
        let policy = policies::find(&self.policy, env.as_ref())?;
        let episodes = play(env.as_ref(), policy.as_ref(), self.episodes, common)?;
        let total = episodes.iter().map(Episode::total_reward).sum::<f64>();
        let mut out = std::io::stdout().lock();
        writeln!(out, "{}", total / episodes.len() as f64)?;
        Ok(Outcome::Done)
    }
}

/// Plays nominal episodes on all cores, in order of their seeds.
fn play(env: &dyn Env, policy: &dyn Policy, n: usize, common: &Common) -> Result<Vec<Episode>> {
    let bar = progress::bar(common.quiet, n, "episodes");
    let trial = Trial::new(env, policy);
    let seed = Seed(common.seed).child("evaluate");
    let episodes =
        parallel::map(common.jobs, n, &bar, |i| Ok::<_, anyhow::Error>(trial.nominal(seed.child(i))));
    bar.finish_and_clear();
    episodes
}

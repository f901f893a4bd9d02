//! `evaluate`: return and success rate of a policy, with intervals.

use super::{Common, Outcome};
use crate::evaluation::{self, Evaluation};
use crate::{catalogues, policies};
use anyhow::Result;
use clap::Args;
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
    /// Least mean return that is acceptable: below it the exit code is 1
    #[arg(long, value_name = "R")]
    min_return: Option<f64>,
    /// Least success rate that is acceptable: below it the exit code is 1
    #[arg(long, value_name = "P")]
    min_success: Option<f64>,
}

impl Evaluate {
    /// Plays the episodes and prints the estimates.
    ///
    /// # Errors
    /// If the world or the policy cannot be had, or there are fewer than two episodes.
    pub fn run(&self, common: &Common) -> Result<Outcome> {
        let env = catalogues::worlds().build(&self.env, &json!({}))?;
        let policy = policies::find(&self.policy, env.as_ref())?.policy;
        let found = evaluation::evaluate(env.as_ref(), policy.as_ref(), self.episodes, common)?;
        self.print(&found, common.json)?;
        Ok(if self.accepts(&found) { Outcome::Done } else { Outcome::NotAcceptable })
    }

    /// A requirement counts as met only if the whole interval meets it.
    fn accepts(&self, found: &Evaluation) -> bool {
        let good_return = self.min_return.is_none_or(|least| found.total_reward.low >= least);
        let success_low = found.success.as_ref().map_or(f64::NAN, |s| s.low);
        good_return && self.min_success.is_none_or(|least| success_low >= least)
    }

    fn print(&self, found: &Evaluation, as_json: bool) -> Result<()> {
        let mut out = std::io::stdout().lock();
        if as_json {
            let value = json!({
                "env": self.env,
                "policy": self.policy,
                "episodes": self.episodes,
                "return": found.total_reward,
                "success": found.success,
                "random_return": found.random_return,
            });
            writeln!(out, "{value:#}")?;
            return Ok(());
        }
        writeln!(out, "{} in {}, {} episodes, 95 % intervals", self.policy, self.env, self.episodes)?;
        writeln!(out, "  return         {:.2}", found.total_reward)?;
        match &found.success {
            Some(success) => writeln!(out, "  success        {success:.3}")?,
            None => writeln!(out, "  success        not defined by this world")?,
        }
        writeln!(out, "  random return  {:.2}", found.random_return)?;
        Ok(())
    }
}

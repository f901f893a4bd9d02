//! `risk fork`: how often a policy fails, by copies of episodes in progress.

use crate::cli::risk::print;
use crate::cli::scenario::ScenarioArgs;
use crate::cli::terminal::say;
use crate::cli::{Common, Outcome};
use anyhow::Result;
use clap::Args;
use offnominal_risk::forks::{self, Request};
use offnominal_risk::request;
use std::path::PathBuf;

/// Arguments of `risk fork`.
#[derive(Debug, Args)]
pub struct ForkArgs {
    /// Environment id (see `list envs`), with the random numbers that the committor was learned with
    #[arg(long)]
    env: String,
    /// The policy, as for `risk estimate`
    #[arg(long)]
    policy: String,
    #[command(flatten)]
    scenario: ScenarioArgs,
    /// The committor that `risk committor` wrote; without one no episode is copied
    #[arg(long, value_name = "FILE")]
    committor: Option<PathBuf>,
    /// The predictor that `risk learn` wrote, by which the episodes to begin with are chosen
    #[arg(long, value_name = "FILE")]
    predictor: Option<PathBuf>,
    /// Number of roots, each an episode with its copies; a run in the output folder is continued to so many
    #[arg(long, default_value_t = forks::episodes())]
    episodes: u64,
    /// How much the predictor is trusted [default: as learned]
    #[arg(long, value_name = "A", requires = "predictor")]
    exponent: Option<f64>,
    /// Share of the roots that ignores the predictor, above 0, at most 1
    #[arg(long, value_name = "SHARE", default_value_t = forks::plain_share())]
    plain_share: f64,
    /// Roots per draw with a predictor, above 0, at most 1 [default: as few as the predictor can use]
    #[arg(long, value_name = "R", requires = "predictor")]
    rate: Option<f64>,
    /// Confidence level of the interval, between 0 and 1
    #[arg(long, default_value_t = request::level())]
    level: f64,
    /// Largest acceptable failure probability: if the upper end of the interval is above it, the exit code is 1
    #[arg(long, value_name = "P")]
    max_risk: Option<f64>,
}

impl ForkArgs {
    /// Plays the roots with their copies, writes and prints the estimate.
    ///
    /// # Errors
    /// If environment, policy, committor or predictor cannot be had, a setting is out of its range, or a file cannot be
    /// written.
    pub fn run(&self, common: &Common) -> Result<Outcome> {
        let request = Request {
            env: common.environment(&self.env)?,
            policy: self.policy.clone(),
            committor: self.committor.clone(),
            predictor: self.predictor.clone(),
            episodes: self.episodes,
            exponent: self.exponent,
            plain_share: self.plain_share,
            rate: self.rate,
            scenario: self.scenario.request(),
            level: self.level,
            max_risk: self.max_risk,
            out: Some(common.out_or("risk-fork")),
            command: Some(self.command(common.seed)),
        };
        let report = forks::run(&request, &common.context())?;
        print(common, &report)?;
        let Some(why) = self.max_risk.and_then(|most| report.unacceptable(most)) else {
            return Ok(Outcome::Done);
        };
        say(format!("not acceptable: {why}"));
        Ok(Outcome::NotAcceptable)
    }

    /// The command that makes the same result.
    fn command(&self, seed: u64) -> String {
        let (env, policy, scenario) = (&self.env, &self.policy, self.scenario.request().words());
        let mut words = vec![format!("offnominal risk fork --env {env} --policy {policy}{scenario}")];
        words.extend(self.committor.as_ref().map(|file| format!("--committor {}", file.display())));
        if let Some(file) = &self.predictor {
            words.push(format!("--predictor {} --plain-share {}", file.display(), self.plain_share));
        }
        words.extend(self.exponent.map(|a| format!("--exponent {a}")));
        words.extend(self.rate.map(|r| format!("--rate {r}")));
        words.extend(self.max_risk.map(|p| format!("--max-risk {p}")));
        words.push(format!("--episodes {} --level {} --seed {seed}", self.episodes, self.level));
        words.join(" ")
    }
}

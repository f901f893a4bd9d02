//! `risk committor`: how near an episode in progress is to failing, learned from episodes.

use crate::cli::risk::print;
use crate::cli::scenario::ScenarioArgs;
use crate::cli::{Common, Outcome};
use anyhow::Result;
use clap::Args;
use offnominal_risk::committor::{self, Request};

/// Arguments of `risk committor`.
#[derive(Debug, Args)]
pub struct CommittorArgs {
    /// Environment id (see `list envs`); it needs random numbers that come while an episode lasts, such as `?noise=FILE`
    #[arg(long)]
    env: String,
    /// The policy under test, as for `risk estimate`
    #[arg(long)]
    policy: String,
    /// A policy that fails more often, or a folder of them, whose episodes are learned from at first; can be repeated
    #[arg(long, value_name = "POLICY")]
    weaker: Vec<String>,
    /// Plain episodes of each policy, and episodes of each stage of a pilot
    #[arg(long, default_value_t = committor::episodes())]
    episodes: u64,
    /// Pilots that are learned from; one more sets the levels
    #[arg(long, default_value_t = committor::pilots())]
    pilots: usize,
    /// Gradient steps of a fit
    #[arg(long, default_value_t = committor::steps())]
    steps: usize,
    /// λ of the temporal differences, per step: 1 learns from ends only, 0 from the next step only
    #[arg(long, default_value_t = committor::lambda())]
    lambda: f64,
    #[command(flatten)]
    scenario: ScenarioArgs,
}

impl CommittorArgs {
    /// Plays, learns, and writes the committor.
    ///
    /// # Errors
    /// If environment or policy cannot be had or copied, no plain episode fails, or a file cannot be written.
    pub fn run(&self, common: &Common) -> Result<Outcome> {
        let request = Request {
            env: common.environment(&self.env)?,
            policy: self.policy.clone(),
            weaker: self.weaker.clone(),
            episodes: self.episodes,
            pilots: self.pilots,
            steps: self.steps,
            lambda: self.lambda,
            scenario: self.scenario.request(),
            out: Some(common.out_or("risk-committor")),
        };
        print(common, &committor::run(&request, &common.context())?)
    }
}

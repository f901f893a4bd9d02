//! `risk history`: the history of a training run, made by playing its checkpoints.

use crate::cli::risk::print;
use crate::cli::scenario::ScenarioArgs;
use crate::cli::{Common, Outcome};
use anyhow::Result;
use clap::Args;
use offnominal_risk::history::{self, Request};

/// Arguments of `risk history`.
#[derive(Debug, Args)]
pub struct HistoryArgs {
    /// Environment id (see `list envs`)
    #[arg(long)]
    env: String,
    /// A policy, as for `risk estimate`, or a folder of them such as `train --checkpoints` fills; may be repeated
    #[arg(long, required = true)]
    policy: Vec<String>,
    #[command(flatten)]
    scenario: ScenarioArgs,
    /// Episodes of each policy at each level of noise
    #[arg(long, value_name = "N", default_value_t = history::episodes())]
    episodes: usize,
    /// Standard deviation of the noise on commands, as a share of half their range; may be repeated
    #[arg(long, value_name = "SHARE", default_values_t = history::noises())]
    noise: Vec<f64>,
}

impl HistoryArgs {
    /// Plays, writes the history, and prints how often each policy failed.
    ///
    /// # Errors
    /// If a policy cannot be had or its training is unknown, the simulator breaks, or a file cannot be written.
    pub fn run(&self, common: &Common) -> Result<Outcome> {
        let request = Request {
            env: common.environment(&self.env)?,
            policies: self.policy.clone(),
            scenario: self.scenario.request(),
            episodes: self.episodes,
            noises: self.noise.clone(),
            out: Some(common.out_or("risk-history")),
        };
        print(common, &history::run(&request, &common.context())?)
    }
}

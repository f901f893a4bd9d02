//! `risk select`: the policy that fails least among several.

use crate::cli::risk::print;
use crate::cli::scenario::ScenarioArgs;
use crate::cli::{Common, Outcome};
use anyhow::Result;
use clap::Args;
use offnominal_risk::request;
use offnominal_risk::select::{self, Request};
use std::path::PathBuf;

/// Arguments of `risk select`.
#[derive(Debug, Args)]
pub struct Select {
    /// Environment id (see `list envs`)
    #[arg(long)]
    env: String,
    /// A policy, as for `risk estimate`, or a folder of them such as `train --checkpoints` fills; may be repeated
    #[arg(long, required = true)]
    policy: Vec<String>,
    #[command(flatten)]
    scenario: ScenarioArgs,
    /// The predictor that `risk learn` wrote; without one all draws are tried
    #[arg(long, value_name = "FILE")]
    predictor: Option<PathBuf>,
    /// Experiments of each policy after which the race ends
    #[arg(long, default_value_t = select::budget())]
    budget: u64,
    /// Experiments of each policy per round, about
    #[arg(long, default_value_t = select::round())]
    round: u64,
    /// How much the predictor is trusted [default: as learned]
    #[arg(long, value_name = "A")]
    exponent: Option<f64>,
    /// Experiments per draw, with a predictor, above 0, at most 1
    #[arg(long, value_name = "R", default_value_t = select::rate())]
    rate: f64,
    /// Probability with which the best policy is never thrown out, between 0 and 1
    #[arg(long, default_value_t = request::level())]
    level: f64,
    /// Also write the episodes as a history, from which `risk learn` makes a predictor
    #[arg(long, conflicts_with = "predictor")]
    history: bool,
    /// The select.json of a longer race: also say how often the policy with the lowest estimate fails, round by round
    #[arg(long, value_name = "FILE")]
    truth: Option<PathBuf>,
}

impl Select {
    /// Runs the race, writes and prints where everyone ended.
    ///
    /// # Errors
    /// If a policy or the predictor cannot be had, or a setting is out of its range.
    pub fn run(&self, common: &Common) -> Result<Outcome> {
        let request = Request {
            env: common.environment(&self.env)?,
            policies: self.policy.clone(),
            scenario: self.scenario.request(),
            predictor: self.predictor.clone(),
            budget: self.budget,
            round: self.round,
            exponent: self.exponent,
            rate: self.rate,
            level: self.level,
            history: self.history,
            truth: self.truth.clone(),
            out: Some(common.out_or("risk-select")),
        };
        print(common, &select::run(&request, &common.context())?)
    }
}

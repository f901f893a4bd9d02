//! `risk search`: what finding one failure costs.

use crate::cli::one_of::one_of;
use crate::cli::risk::print;
use crate::cli::scenario::ScenarioArgs;
use crate::cli::{Common, Outcome};
use anyhow::Result;
use clap::Args;
use offnominal_risk::request;
use offnominal_risk::search::{self, Request, Strategy};
use std::path::PathBuf;

/// Arguments of `risk search`.
#[derive(Debug, Args)]
pub struct SearchArgs {
    /// Environment id (see `list envs`)
    #[arg(long)]
    env: String,
    /// A policy, as for `risk estimate`, or a folder of them; may be repeated, to compare agents
    #[arg(long, required = true)]
    policy: Vec<String>,
    #[command(flatten)]
    scenario: ScenarioArgs,
    /// Where to look; may be repeated, to compare strategies
    #[arg(long, value_parser = one_of::<Strategy>(), required = true)]
    strategy: Vec<Strategy>,
    /// The predictor that `risk learn` wrote
    #[arg(long, value_name = "FILE")]
    predictor: Option<PathBuf>,
    /// The history that `train --history` or `risk history` wrote
    #[arg(long, value_name = "FILE")]
    history: Option<PathBuf>,
    /// Number of searches per policy
    #[arg(long, default_value_t = search::searches())]
    searches: u64,
    /// Experiments after which a search gives up
    #[arg(long, default_value_t = search::budget())]
    budget: usize,
    /// Draws of which argmax takes the most dangerous; may be repeated, to compare
    #[arg(long, value_name = "N", default_values_t = search::of())]
    of: Vec<usize>,
    /// Spend the whole budget of each search, to find many failures and not only the first
    #[arg(long)]
    all: bool,
    /// Confidence level of the intervals, between 0 and 1
    #[arg(long, default_value_t = request::level())]
    level: f64,
}

impl SearchArgs {
    /// Searches, writes what was found, and prints what it cost.
    ///
    /// # Errors
    /// If something the strategy needs is missing or wrong, or a file cannot be written.
    pub fn run(&self, common: &Common) -> Result<Outcome> {
        let request = Request {
            env: common.environment(&self.env)?,
            policies: self.policy.clone(),
            scenario: self.scenario.request(),
            strategies: self.strategy.clone(),
            predictor: self.predictor.clone(),
            history: self.history.clone(),
            searches: self.searches,
            budget: self.budget,
            of: self.of.clone(),
            all: self.all,
            level: self.level,
            out: Some(common.out_or("risk-search")),
        };
        print(common, &search::run(&request, &common.context())?)
    }
}

//! `risk split`: how often a policy fails in an environment that says how far it is from failing.

use crate::cli::risk::print;
use crate::cli::scenario::ScenarioArgs;
use crate::cli::{Common, Outcome};
use anyhow::Result;
use clap::Args;
use offnominal_risk::request;
use offnominal_risk::split::{self, Request};

/// Arguments of `risk split`.
#[derive(Debug, Args)]
pub struct Split {
    /// Environment id (see `list envs`)
    #[arg(long)]
    env: String,
    /// A policy, as for `risk estimate`
    #[arg(long)]
    policy: String,
    #[command(flatten)]
    scenario: ScenarioArgs,
    /// Number of swarms that do not know one another
    #[arg(long, default_value_t = split::swarms())]
    swarms: u64,
    /// Particles per swarm
    #[arg(long, default_value_t = split::particles())]
    particles: usize,
    /// Moves of a replaced particle; enough to forget where it was copied from
    #[arg(long, default_value_t = split::moves())]
    moves: usize,
    /// Experiments after which a swarm gives up
    #[arg(long, default_value_t = split::budget())]
    budget: usize,
    /// Confidence level of the interval, between 0 and 1
    #[arg(long, default_value_t = request::level())]
    level: f64,
}

impl Split {
    /// Runs the swarms, writes and prints the estimate.
    ///
    /// # Errors
    /// If the environment has no margin or no neighbours, or margins tie; if a file cannot be written.
    pub fn run(&self, common: &Common) -> Result<Outcome> {
        let request = Request {
            env: common.environment(&self.env)?,
            policy: self.policy.clone(),
            scenario: self.scenario.request(),
            swarms: self.swarms,
            particles: self.particles,
            moves: self.moves,
            budget: self.budget,
            level: self.level,
            out: Some(common.out_or("risk-split")),
        };
        print(common, &split::run(&request, &common.context())?)
    }
}

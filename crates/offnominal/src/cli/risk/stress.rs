//! `risk stress`: the most likely failure under the declared noise.

use crate::cli::one_of::one_of;
use crate::cli::risk::print;
use crate::cli::scenario::ScenarioArgs;
use crate::cli::{Common, Outcome};
use anyhow::Result;
use clap::Args;
use offnominal_risk::request;
use offnominal_risk::stress::hunt::Strategy;
use offnominal_risk::stress::{self, Request};
use std::path::PathBuf;

/// Arguments of `risk stress`.
#[derive(Debug, Args)]
pub struct StressArgs {
    /// Environment id (see `list envs`) with `?noise=LEVEL` or `?noise=FILE`: the noise whose disturbances are searched; or
    /// `gymnasium:ID` with --noise
    #[arg(long)]
    env: String,
    /// The noise, where the id of the environment does not say it: a level, or a file of a table
    #[arg(long, value_name = "NOISE")]
    noise: Option<String>,
    /// A policy, as for `risk estimate`
    #[arg(long)]
    policy: String,
    #[command(flatten)]
    scenario: ScenarioArgs,
    /// How to search; may be repeated. `random` is always tried, for comparison [default: all]
    #[arg(long, value_parser = one_of::<Strategy>())]
    strategy: Vec<Strategy>,
    /// Number of searches of each strategy, each from an initial condition of its own
    #[arg(long, default_value_t = stress::searches())]
    searches: u64,
    /// Experiments after which a search gives up
    #[arg(long, default_value_t = stress::budget())]
    budget: usize,
    /// Episodes for making a failure likelier once it was found
    #[arg(long, value_name = "EPISODES", default_value_t = stress::refine())]
    refine: usize,
    /// Parts of an episode in each of which `cross-entropy` holds a disturbance
    #[arg(long, value_name = "N", default_value_t = stress::parts())]
    parts: usize,
    /// Begin all searches where search N of the seed begins
    #[arg(long, value_name = "N")]
    start: Option<u64>,
    /// Confidence level of the intervals, between 0 and 1
    #[arg(long, default_value_t = request::level())]
    level: f64,
}

impl StressArgs {
    /// Searches, writes and prints what was found.
    ///
    /// # Errors
    /// If environment or policy cannot be had, there is no noise, a strategy needs a margin that is missing, a setting is out
    /// of its range, an episode has no outcome, or a file cannot be written.
    pub fn run(&self, common: &Common) -> Result<Outcome> {
        let out: PathBuf = common.out_or("risk-stress");
        let request = Request {
            env: common.environment(&self.env)?,
            noise: self.noise.clone(),
            policy: self.policy.clone(),
            scenario: self.scenario.request(),
            strategies: self.strategy.clone(),
            searches: self.searches,
            budget: self.budget,
            refine: self.refine,
            parts: self.parts,
            start: self.start,
            level: self.level,
            out: Some(out),
            command: Some(self.command(common)),
        };
        print(common, &stress::run(&request, &common.context())?)
    }

    /// The command that makes the same result.
    fn command(&self, common: &Common) -> String {
        let Self { env, policy, searches, budget, refine, parts, level, .. } = self;
        let scenario = self.scenario.request().words();
        let mut words = vec![format!("offnominal risk stress --env {env} --policy {policy}{scenario}")];
        words.extend(self.noise.as_ref().map(|noise| format!("--noise {noise}")));
        words.extend(self.strategy.iter().map(|strategy| format!("--strategy {}", strategy.name())));
        words.push(format!("--searches {searches} --budget {budget} --refine {refine} --parts {parts}"));
        words.extend(self.start.map(|start| format!("--start {start}")));
        words.extend(common.words());
        words.push(format!("--level {level} --seed {}", common.seed));
        words.join(" ")
    }
}

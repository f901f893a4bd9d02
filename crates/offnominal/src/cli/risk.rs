//! `risk`: how often a policy fails, from where, and what finding a failure costs.

mod budget;
mod cheap;
mod estimate;
mod learn;
mod replay;
mod search;
mod select;
mod split;
mod stress;

use crate::cli::{Common, Outcome};
use anyhow::Result;
use clap::{Args, Subcommand};
use serde::Serialize;
use std::fmt::Display;

/// Arguments of `risk`.
#[derive(Debug, Args)]
pub struct Risk {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, Subcommand)]
enum What {
    /// How many episodes plain counting needs to know a failure probability within a factor
    Budget(budget::BudgetArgs),
    /// Learn where failures are likely: from the history of a training run, or from episodes of weaker policies
    Learn(learn::Learn),
    /// Estimate the failure probability of a policy, with an interval, and report the kinds of failures
    Estimate(Box<estimate::EstimateArgs>),
    /// Estimate the failure probability in an environment with a margin, by swarms that move towards failure
    Split(split::Split),
    /// Measure how many episodes finding one failure takes
    Search(search::SearchArgs),
    /// Find the most likely failure under the declared noise of sensors and actuators: disturbances in every step
    Stress(stress::StressArgs),
    /// Find the policy that fails least among several
    Select(select::Select),
    /// Play a failure of `risk estimate` or `risk stress` again, with images
    Replay(replay::Replay),
}

impl Risk {
    /// Does what is asked for.
    ///
    /// # Errors
    /// Whatever the command reports.
    pub fn run(&self, common: &Common) -> Result<Outcome> {
        match &self.what {
            What::Budget(args) => args.run(common),
            What::Learn(args) => args.run(common),
            What::Estimate(args) => args.run(common),
            What::Split(args) => args.run(common),
            What::Search(args) => args.run(common),
            What::Stress(args) => args.run(common),
            What::Select(args) => args.run(common),
            What::Replay(args) => args.run(common),
        }
    }
}

/// Prints a report as text or as JSON.
fn print(common: &Common, report: &(impl Serialize + Display)) -> Result<Outcome> {
    common.print(report)
}

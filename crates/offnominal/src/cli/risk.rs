//! `risk`: how often a policy fails, from where, and what finding a failure costs.

mod budget;
mod estimate;
mod history;
mod learn;
mod replay;
mod search;
mod select;
mod split;

use crate::cli::{Common, Outcome};
use anyhow::{Context, Result, ensure};
use clap::{Args, Subcommand};
use std::path::{Path, PathBuf};

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
    /// Play weaker policies and write down from where they failed, in place of a training run's history
    History(history::HistoryArgs),
    /// Learn from the history of a training run where failures are likely
    Learn(learn::Learn),
    /// Estimate the failure probability of a policy, with an interval, and report the kinds of failures
    Estimate(estimate::EstimateArgs),
    /// Estimate the failure probability in a world with a margin, by swarms that move towards failure
    Split(split::Split),
    /// Measure how many episodes finding one failure takes
    Search(search::SearchArgs),
    /// Find the policy that fails least among several
    Select(select::Select),
    /// Play a failure of `risk estimate` again, with pictures
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
            What::History(args) => args.run(common),
            What::Learn(args) => args.run(common),
            What::Estimate(args) => args.run(common),
            What::Split(args) => args.run(common),
            What::Search(args) => args.run(common),
            What::Select(args) => args.run(common),
            What::Replay(args) => args.run(common),
        }
    }
}

/// All policies, those of folders in alphabetical order.
///
/// # Errors
/// If a folder cannot be read, or has no policies.
fn policies(named: &[String]) -> Result<Vec<String>> {
    let mut names = Vec::new();
    for name in named {
        if !Path::new(name).is_dir() {
            names.push(name.clone());
            continue;
        }
        let files = std::fs::read_dir(name).with_context(|| format!("cannot read {name}"))?;
        let paths = files.map(|f| Ok(f?.path())).collect::<std::io::Result<Vec<PathBuf>>>()?;
        let is_policy = |p: &&PathBuf| p.extension().is_some_and(|e| e == "safetensors");
        let mut found: Vec<String> =
            paths.iter().filter(is_policy).map(|p| p.display().to_string()).collect();
        ensure!(!found.is_empty(), "{name}: expected .safetensors files, found none");
        found.sort();
        names.extend(found);
    }
    Ok(names)
}

//! `rollouts`: recorded episodes of generative policies, and who notices a failing one.

mod fit;
mod judge;
mod signals;
mod watch;

use crate::cli::{Common, Outcome};
use anyhow::Result;
use clap::{Args, Subcommand};

/// Arguments of `rollouts`.
#[derive(Debug, Args)]
pub struct Rollouts {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, Subcommand)]
enum What {
    /// Judge failure detectors at the same task and step among rollouts that still run, and by the usual protocols
    Judge(judge::Judge),
    /// Fit a failure probe with a threshold for each task, and write it as a file that `watch` and Python open
    Fit(fit::Fit),
    /// Score recorded rollouts step by step with a probe, as JSON lines
    Watch(watch::Watch),
    /// Write the signals of rollouts, those of their action chunks among them
    Signals(signals::Signals),
}

impl Rollouts {
    /// Runs the command within.
    ///
    /// # Errors
    /// Whatever that command reports.
    pub fn run(self, common: &Common) -> Result<Outcome> {
        match self.what {
            What::Judge(args) => args.run(common),
            What::Fit(args) => args.run(common),
            What::Watch(args) => args.run(common),
            What::Signals(args) => args.run(common),
        }
    }
}

//! `rollouts`: recorded episodes of generative policies, and who notices a failing one.

mod judge;
mod signals;

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
    /// Write the signals of rollouts, those of their action chunks among them, as a log for `fit`, `score` and `monitor`
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
            What::Signals(args) => args.run(common),
        }
    }
}

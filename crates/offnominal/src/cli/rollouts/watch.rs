//! `rollouts watch`: recorded rollouts, scored step by step.

use crate::cli::{Common, Outcome};
use anyhow::Result;
use clap::Args;
use offnominal_rollouts::probe::watch::{Request, each_step};
use std::io::{BufWriter, Write, stdout};
use std::path::PathBuf;

/// Arguments of `rollouts watch`.
#[derive(Debug, Args)]
pub struct Watch {
    /// The file that `fit` wrote
    #[arg(value_name = "PROBE")]
    probe: PathBuf,
    /// Rollouts as JSON lines or Parquet, or folders of them; they need no outcome
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    /// Actions of each chunk that are executed before the next one, where the files do not say it [default: as in the fit]
    #[arg(long, value_name = "N")]
    executed: Option<usize>,
    /// Embeddings of the instructions of tasks that the probe does not know, for a detector that reads them: a .npy file that holds
    /// a dictionary of arrays by task
    #[arg(long, value_name = "FILE")]
    task_embeddings: Option<PathBuf>,
}

impl Watch {
    /// Prints a line for each step, as it is scored.
    ///
    /// # Errors
    /// If a file cannot be read, or the rollouts lack what the probe reads.
    pub fn run(self, common: &Common) -> Result<Outcome> {
        let Watch { probe, files, executed, task_embeddings: instructions } = self;
        let mut out = BufWriter::new(stdout().lock());
        each_step(&Request { probe, files, executed, instructions }, &common.context(), |line| {
            serde_json::to_writer(&mut out, line)?;
            Ok(out.write_all(b"\n")?)
        })?;
        out.flush()?;
        Ok(Outcome::Done)
    }
}

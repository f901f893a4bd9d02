//! `rollouts signals`: what chunks say, as signals.

use crate::cli::{Common, Outcome};
use anyhow::Result;
use clap::Args;
use offnominal_rollouts::signals::{Request, run};
use std::path::PathBuf;

/// Arguments of `rollouts signals`.
#[derive(Debug, Args)]
pub struct Signals {
    /// Rollouts as JSON lines or Parquet, or folders of them
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    /// Actions of each chunk that are executed before the next one, where the files do not say it
    #[arg(long, value_name = "N")]
    executed: Option<usize>,
}

impl Signals {
    /// Writes signals.jsonl, which has no chunks, and signals.toml, which says which of its columns is what.
    ///
    /// # Errors
    /// If a file cannot be read or written.
    pub fn run(self, common: &Common) -> Result<Outcome> {
        let request = Request { files: self.files, executed: self.executed, out: common.out_or("rollouts") };
        let found = run(&request)?;
        common.print(&found)
    }
}

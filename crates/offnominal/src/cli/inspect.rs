//! `inspect`: what is in logs, and a proposed mapping.

use crate::cli::{Common, Outcome};
use anyhow::Result;
use clap::Args;
use offnominal_logs::inspect::{Request, run};
use std::path::PathBuf;

/// Arguments of `inspect`.
#[derive(Debug, Args)]
pub struct Inspect {
    /// Logs that are alike: files or folders; CSV, JSON lines, Parquet, Arrow, HDF5, Minari, LeRobot v3, MCAP, rosbag2
    /// or ULog, also compressed (gz, zst, lz4)
    #[arg(value_name = "LOGS", required = true)]
    logs: Vec<PathBuf>,
    /// The proposed mapping to write, for you to edit; without it, it is printed only
    #[arg(long, value_name = "MAP.toml")]
    out: Option<PathBuf>,
    /// A page to write, with a picture of each channel
    #[arg(long, value_name = "FILE.html")]
    page: Option<PathBuf>,
}

impl Inspect {
    /// Reads the logs and says what they hold.
    ///
    /// # Errors
    /// If a log cannot be read, or a file cannot be written.
    pub fn run(self, common: &Common) -> Result<Outcome> {
        let Inspect { logs, out: map, page } = self;
        common.print(&run(&Request { logs, map, page }, &common.context())?)
    }
}

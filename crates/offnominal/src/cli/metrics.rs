//! `metrics`: ranking and delay metrics of scores in a CSV file.

use crate::cli::{Common, Outcome};
use anyhow::{Context, Result};
use clap::Args;
use offnominal_bench::metrics_file::{self, Request, run};
use std::io::Read;
use std::path::{Path, PathBuf};

/// Arguments of `metrics`.
#[derive(Debug, Args)]
pub struct Metrics {
    /// CSV file with the columns episode, step, score, label (0 or 1, or False or True) in any order; `-` reads
    /// standard input
    file: PathBuf,
    /// Alarms are scores above this; adds delays, missed, early and false alarms
    #[arg(long, allow_negative_numbers = true, value_name = "SCORE")]
    threshold: Option<f64>,
    /// Bootstrap replicates of each interval, 100 to 100000
    #[arg(long, default_value_t = metrics_file::replicates(), value_name = "N", value_parser = clap::value_parser!(u32).range(100..=100_000))]
    replicates: u32,
    /// Confidence level of the intervals, between 0 and 1
    #[arg(long, default_value_t = metrics_file::level(), value_name = "P")]
    level: f64,
}

impl Metrics {
    /// Reads the scores and prints their metrics.
    ///
    /// # Errors
    /// If the file cannot be read or something in it is wrong.
    pub fn run(self, common: &Common) -> Result<Outcome> {
        let Metrics { file, threshold, replicates, level } = self;
        let (request, context) = (Request { file, threshold, replicates, level }, common.context());
        if request.file != Path::new("-") {
            return common.print(&run(&request, &context)?);
        }
        let mut bytes = Vec::new();
        std::io::stdin().lock().read_to_end(&mut bytes).context("cannot read standard input")?;
        common.print(&request.judge("standard input", &bytes, &context)?)
    }
}

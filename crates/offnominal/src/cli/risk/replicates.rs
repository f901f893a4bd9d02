//! `risk replicates`: what a method gains over counting.

use crate::cli::risk::print;
use crate::cli::{Common, Outcome};
use anyhow::Result;
use clap::Args;
use offnominal_risk::replicates::{self, Request};
use offnominal_risk::request;
use std::path::PathBuf;

/// Arguments of `risk replicates`.
#[derive(Debug, Args)]
pub struct ReplicatesArgs {
    /// Folder of a `risk fork`, which is cut into parts; without a committor that plays plain or thinned episodes. Or the
    /// folders of at least 20 `risk estimate`s that are alike but for their seeds
    #[arg(value_name = "RUN", required = true)]
    runs: Vec<PathBuf>,
    /// Folder of a `risk estimate --method plain` of the same policy with another seed
    #[arg(long, value_name = "FOLDER")]
    truth: PathBuf,
    /// Number of replicates that one run is cut into, at least 20
    #[arg(long, default_value_t = replicates::replicates(), value_name = "N")]
    replicates: usize,
    /// Factor within which an estimate is to be; can be repeated
    #[arg(long = "factor", value_name = "F", default_values_t = replicates::factors())]
    factors: Vec<f64>,
    /// Confidence level of the intervals, between 0 and 1
    #[arg(long, default_value_t = request::level())]
    level: f64,
}

impl ReplicatesArgs {
    /// Judges the run, writes and prints what was found.
    ///
    /// # Errors
    /// If a folder holds no finished run, the runs do not belong together, there is too little of either, or a file
    /// cannot be written.
    pub fn run(&self, common: &Common) -> Result<Outcome> {
        let request = Request {
            runs: self.runs.clone(),
            truth: self.truth.clone(),
            replicates: self.replicates,
            factors: self.factors.clone(),
            level: self.level,
            out: Some(common.out_or("risk-replicates")),
            command: Some(self.command(common.seed)),
        };
        print(common, &replicates::run(&request, &common.context())?)
    }

    /// The command that makes the same result.
    fn command(&self, seed: u64) -> String {
        let runs: Vec<String> = self.runs.iter().map(|run| run.display().to_string()).collect();
        let (runs, truth) = (runs.join(" "), self.truth.display());
        let factors: String = self.factors.iter().map(|f| format!(" --factor {f}")).collect();
        let cut =
            if self.runs.len() == 1 { format!(" --replicates {}", self.replicates) } else { String::new() };
        let level = self.level;
        format!(
            "offnominal risk replicates {runs} --truth {truth}{cut}{factors} --level {level} --seed {seed}"
        )
    }
}

//! The settings that all work shares: seed, threads, output folder, and how much is said.

use clap::Args;
use std::path::PathBuf;

/// Flags that every command understands.
#[derive(Debug, Clone, Args)]
pub struct Common {
    /// Seed of everything random; the same seed gives the same bits
    #[arg(long, global = true, default_value_t = 0)]
    pub seed: u64,
    /// Worker threads, 1 to 1024 [default: all cores]
    #[arg(long, global = true, value_parser = jobs, default_value_t = crate::parallel::default_jobs(), hide_default_value = true)]
    pub jobs: usize,
    /// Folder for everything that is written
    #[arg(long, global = true, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// Print one JSON value on standard output, and nothing else there
    #[arg(long, global = true)]
    pub json: bool,
    /// No progress bars
    #[arg(long, global = true)]
    pub quiet: bool,
}

fn jobs(text: &str) -> Result<usize, String> {
    let n = text.parse().map_err(|_| format!("expected a whole number, found {text:?}"))?;
    if (1..=1024).contains(&n) { Ok(n) } else { Err(format!("expected 1 to 1024 threads, found {n}")) }
}

impl Common {
    /// The output folder, or `runs/<command>`.
    pub fn out_or(&self, command: &str) -> PathBuf {
        self.out.clone().unwrap_or_else(|| PathBuf::from("runs").join(command))
    }
}

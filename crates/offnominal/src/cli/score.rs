//! `score`: a monitor's scores of recorded episodes or logs.

use crate::cli::{Common, Outcome};
use anyhow::{Result, ensure};
use clap::Args;
use offnominal_engine::monitor_file;
use offnominal_engine::score;
use offnominal_engine::steps;
use offnominal_logs::score as logs;
use offnominal_monitor::Verdict;
use std::path::PathBuf;

/// Arguments of `score`.
#[derive(Debug, Args)]
pub struct Score {
    /// File written by `fit`
    #[arg(value_name = "FILE.monitor")]
    monitor: PathBuf,
    /// Logs, if there is a mapping; else one file of episodes written by `collect`, of the same environment
    #[arg(value_name = "LOGS", required = true)]
    logs: Vec<PathBuf>,
    /// Which column of the logs is which channel of the monitor; else the mapping of the fit
    #[arg(long, value_name = "MAP.toml")]
    map: Option<PathBuf>,
    /// A page to write, with each alarm and the channels around it; for logs
    #[arg(long, value_name = "FILE.html")]
    report: Option<PathBuf>,
    /// A table of the alarms to write; for logs
    #[arg(long, value_name = "FILE.csv")]
    alarms: Option<PathBuf>,
    /// Print every step as CSV, which `metrics` reads
    #[arg(long, conflicts_with = "json")]
    csv: bool,
}

impl Score {
    /// Scores the episodes and prints what was found.
    ///
    /// # Errors
    /// If a file cannot be read or written, or the episodes have other channels than the monitor.
    pub fn run(self, common: &Common) -> Result<Outcome> {
        if self.map.is_some() || monitor_file::open(&self.monitor)?.about().mapping.is_some() {
            return self.logs(common);
        }
        let is_plain = self.logs.len() == 1 && self.report.is_none() && self.alarms.is_none();
        ensure!(
            is_plain,
            "monitor {}: --report, --alarms and several files need logs: a monitor that was fitted on some, or --map",
            self.monitor.display()
        );
        let Score { monitor, logs, csv, .. } = self;
        let episodes = logs.into_iter().next().unwrap_or_default();
        let found = score::run(&score::Request { monitor, episodes }, &common.context())?;
        if csv {
            as_csv(found.steps.iter().map(|steps| steps.iter().copied()))
        } else {
            common.print_in_order(&found)
        }
    }

    fn logs(self, common: &Common) -> Result<Outcome> {
        let Score { monitor, logs, map, report, alarms, csv } = self;
        let found = logs::run(&logs::Request { monitor, logs, map, report, alarms }, &common.context())?;
        if csv {
            as_csv(found.recordings.iter().map(logs::ScoredRecording::labelled_steps))
        } else {
            common.print(&found)
        }
    }
}

/// Every step of episodes, with its label.
fn as_csv(episodes: impl Iterator<Item = impl Iterator<Item = (Verdict, bool)>>) -> Result<Outcome> {
    steps::write(std::io::stdout().lock(), episodes)?;
    Ok(Outcome::Done)
}

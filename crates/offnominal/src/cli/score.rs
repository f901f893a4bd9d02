//! `score`: a monitor's scores of recorded episodes or logs; or what detectors are worth on labelled splits.

use super::command::{Answer, Call, asked};
use anyhow::{Result, ensure};
use clap::{ArgMatches, Args};
use offnominal_engine::detector_choice::DetectorChoice;
use offnominal_engine::monitor_file;
use offnominal_engine::rule_choice::Threshold;
use offnominal_engine::score;
use offnominal_engine::steps;
use offnominal_logs::{score as logs, splits};
use offnominal_monitor::Verdict;
use std::path::PathBuf;
use std::str::FromStr;

/// Arguments of `score`.
#[derive(Debug, Args)]
pub struct Score {
    /// File of `fit`, or folder with splits as Anomaly-Gym publishes it
    #[arg(value_name = "FILE.monitor|FOLDER")]
    monitor: PathBuf,
    /// Logs, or one file of `collect`
    #[arg(value_name = "LOGS")]
    logs: Vec<PathBuf>,
    /// Mapping of columns to channels [default: that of the fit]
    #[arg(long, value_name = "MAP.toml")]
    map: Option<PathBuf>,
    /// Labels of the logs: CSV of start, end, label, log; or NAB's JSON
    #[arg(long, value_name = "FILE")]
    events: Option<PathBuf>,
    /// Logs that are anomalous as a whole; the other LOGS are then nominal
    #[arg(long, value_name = "LOGS", num_args = 1.., conflicts_with = "events")]
    bad: Vec<PathBuf>,
    /// Write a page with each alarm and its channels; for logs
    #[arg(long, value_name = "FILE.html")]
    report: Option<PathBuf>,
    /// Write a table of the alarms; for logs
    #[arg(long, value_name = "FILE.csv")]
    alarms: Option<PathBuf>,
    /// Write observations, actions and verdicts to a new MCAP file; for logs
    #[arg(long, value_name = "FILE")]
    mcap: Option<PathBuf>,
    /// Print every step as CSV for `metrics`
    #[arg(long, conflicts_with = "json")]
    csv: bool,
    /// Folder: detector id or table; repeatable [default: default]
    #[arg(long = "detector", value_name = "DETECTOR", value_parser = DetectorChoice::from_str)]
    detectors: Vec<DetectorChoice>,
    /// Folder: threshold rule, as for `fit` [default: conformal]
    #[arg(long, value_name = "RULE")]
    rule: Option<String>,
    /// Folder: accepted false-alarm share, as for `fit` [default: 0.05]
    #[arg(long, value_name = "SHARE")]
    alpha: Option<f64>,
    /// Folder: write all numbers as CSV or Parquet
    #[arg(long, value_name = "FILE.csv|FILE.parquet")]
    table: Option<PathBuf>,
}

/// Scores the episodes and prints what was found.
pub fn run(matches: &ArgMatches, call: &Call) -> Result<Answer> {
    asked::<Score>(matches)?.run(call)
}

impl Score {
    /// Scores the episodes and prints what was found.
    ///
    /// # Errors
    /// If a file cannot be read or written, or the episodes have other channels than the monitor.
    fn run(self, call: &Call) -> Result<Answer> {
        if self.monitor.is_dir() {
            return self.splits(call);
        }
        self.insist_on_a_monitor()?;
        if self.map.is_some() || monitor_file::open(&self.monitor)?.about().mapping.is_some() {
            return self.logs(call);
        }
        let files = [&self.events, &self.report, &self.alarms, &self.mcap];
        let is_plain = self.logs.len() == 1 && self.bad.is_empty() && files.iter().all(|file| file.is_none());
        ensure!(
            is_plain,
            "monitor {}: --events, --bad, --report, --alarms, --mcap and several files need logs: a monitor that was fitted on some, or --map",
            self.monitor.display()
        );
        ensure!(
            !call.context.strict,
            "--strict: expected logs, found a file of episodes, of which no part is left out"
        );
        let Score { monitor, logs, csv, .. } = self;
        let episodes = logs.into_iter().next().unwrap_or_default();
        let found = score::run(&score::Request { monitor, episodes }, &call.context)?;
        if csv { as_csv(found.steps.iter().map(|steps| steps.iter().copied())) } else { call.answer(&found) }
    }

    /// Refuses what only a folder of splits has a use for, and no logs.
    fn insist_on_a_monitor(&self) -> Result<()> {
        let asked = [
            ("--detector", !self.detectors.is_empty()),
            ("--rule", self.rule.is_some()),
            ("--alpha", self.alpha.is_some()),
            ("--table", self.table.is_some()),
        ];
        let monitor = self.monitor.display();
        for (option, is_given) in asked {
            ensure!(!is_given, "{option}: expected the folder of an environment before it, found {monitor}");
        }
        ensure!(!self.logs.is_empty(), "monitor {monitor}: expected LOGS after it, found none");
        Ok(())
    }

    fn splits(self, call: &Call) -> Result<Answer> {
        let Score { monitor: folder, logs, map, events, bad, report, alarms, mcap, csv, .. } = &self;
        let files = [map, events, report, alarms, mcap];
        let of_monitors = [files.iter().any(|file| file.is_some()), *csv, !logs.is_empty(), !bad.is_empty()];
        ensure!(
            !of_monitors.contains(&true),
            "folder {}: expected --detector, --rule, --alpha and --table alone, found LOGS or options of a monitor",
            folder.display()
        );
        let Score { monitor: folder, detectors, rule, alpha, table, .. } = self;
        let detectors = if detectors.is_empty() { vec![DetectorChoice::named("default")] } else { detectors };
        let usual = Threshold::default();
        let (rule, alpha) = (rule.unwrap_or(usual.rule), alpha.unwrap_or(usual.alpha));
        let threshold = Threshold { rule, alpha, ..Threshold::default() };
        let request = splits::Request { folder, detectors, threshold, table };
        call.answer(&splits::run(&request, &call.context)?)
    }

    fn logs(self, call: &Call) -> Result<Answer> {
        let Score { monitor, logs, map, events, bad, report, alarms, mcap, csv, .. } = self;
        let request = logs::Request { monitor, logs, map, events, bad, report, alarms, mcap };
        let found = logs::run(&request, &call.context)?;
        if csv {
            as_csv(found.recordings.iter().map(logs::ScoredRecording::labelled_steps))
        } else {
            call.answer(&found)
        }
    }
}

/// Every step of episodes, with its label.
fn as_csv(episodes: impl Iterator<Item = impl Iterator<Item = (Verdict, bool)>>) -> Result<Answer> {
    steps::write(std::io::stdout().lock(), episodes)?;
    Ok(Answer::nothing())
}

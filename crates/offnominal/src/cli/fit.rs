//! `fit`: of logs or of episodes, one command; or a monitor whose threshold follows what came later.

use super::command::{Answer, Call, asked};
use anyhow::{Context as _, Result};
use clap::{Arg, ArgMatches, Args, Command};
use offnominal_engine::{fit as episodes, recalibrate};
use offnominal_logs::{fit as logs, recalibrate as recalibrate_logs};
use offnominal_stats::Recalibration;
use std::path::PathBuf;

/// A monitor that is fitted already.
#[derive(Debug, Args)]
pub struct Recalibrate {
    /// Do not fit: update this monitor's threshold from later nominal data
    #[arg(long, value_name = "FILE.monitor", conflicts_with_all = FITTED)]
    recalibrate: Option<PathBuf>,
    /// With --recalibrate: number of last episodes that set the threshold
    #[arg(long, default_value_t = Recalibration::default().memory, value_name = "N", requires = "recalibrate")]
    memory: usize,
    /// With --recalibrate: limit of the threshold's rise (docs/explanations/alarms.md)
    #[arg(long, default_value_t = Recalibration::default().tolerance, value_name = "C", requires = "recalibrate")]
    tolerance: f64,
}

/// What means nothing where nothing is fitted.
const FITTED: [&str; 24] = [
    "env",
    "policy",
    "detector",
    "train",
    "calibration",
    "rule",
    "alpha",
    "false_alarms",
    "confidence",
    "run_length",
    "block",
    "monitors",
    "events",
    "until",
    "by_task",
    "arm_after",
    "raise_after",
    "clear_after",
    "diagnosis",
    "faults",
    "lost_after",
    "failure",
    "failure_margin",
    "allow_diverged",
];

/// What means nothing where logs are fitted.
const OF_EPISODES: [&str; 7] =
    ["env", "policy", "data", "faults", "failure", "failure_margin", "allow_diverged"];

/// The arguments of both, each once.
pub fn declare(line: Command) -> Command {
    let line = Recalibrate::augment_args(episodes::Request::augment_args(line));
    let of_logs = logs::Request::augment_args(Command::new("logs"));
    let new = of_logs
        .get_arguments()
        .filter(|arg| line.get_arguments().all(|known| known.get_id() != arg.get_id()));
    // What only a fit on logs knows would do nothing without them; a requirement alone is waived beside what excludes logs.
    let needs_logs = |arg: Arg| match arg.get_id() == "logs" {
        true => arg,
        false => arg.requires("logs").conflicts_with_all(["env", "data"]),
    };
    let new: Vec<_> = new.cloned().map(needs_logs).collect();
    let either = ["logs", "recalibrate"];
    line.args(new)
        .mut_arg("env", |env| {
            env.required(false).required_unless_present_any(either).conflicts_with("strict")
        })
        .mut_arg("policy", |policy| policy.required(false).required_unless_present_any(either))
        .mut_arg("logs", |logs| logs.required(false).conflicts_with_all(OF_EPISODES))
}

/// Fits, calibrates, writes the file and says what it holds.
pub fn run(matches: &ArgMatches, call: &Call) -> Result<Answer> {
    let has_logs = matches.contains_id("logs");
    if let Recalibrate { recalibrate: Some(monitor), memory, tolerance } = asked(matches)? {
        return recalibrated(monitor, Recalibration { memory, tolerance }, matches, call);
    }
    match has_logs {
        true => call.answer(&logs::run(&asked(matches)?, &call.context)?),
        false => call.answer(&episodes::run(&asked(matches)?, &call.context)?),
    }
}

fn recalibrated(monitor: PathBuf, how: Recalibration, matches: &ArgMatches, call: &Call) -> Result<Answer> {
    let file = matches.get_one("file").cloned().context("out: expected a file, found none")?;
    if matches.contains_id("logs") {
        let logs::Request { logs, map, .. } = asked(matches)?;
        let request = recalibrate_logs::Request { monitor, logs, map, how, file };
        return call.answer(&recalibrate_logs::run(&request, &call.context)?);
    }
    let data = matches.get_one("data").cloned();
    let data = data.context("--recalibrate: expected LOGS or --data FILE.arrow, found neither")?;
    call.answer(&recalibrate::run(&recalibrate::Request { monitor, data, how, file }, &call.context)?)
}

//! `demo`: from recordings to an alarm; then a comparison of detectors on two shipped policies, from a campaign that travels
//! with the binary.

use super::command::{Answer, Call, asked, print};
use anyhow::Result;
use clap::{ArgMatches, Args, ValueEnum};
use offnominal_bench::run::{DEMO, Finished, demo};
use offnominal_logs::demo as logs;
use serde::Serialize;
use std::path::PathBuf;

/// Arguments of `demo`.
#[derive(Debug, Args)]
pub struct Demo {
    /// Print the campaign of the second part, as a template
    #[arg(long, conflicts_with = "json")]
    show: bool,
    /// One part only
    #[arg(long, value_name = "PART", conflicts_with = "show")]
    only: Option<Part>,
    /// Output folder
    #[arg(long, value_name = "DIR", default_value = "runs/demo")]
    out: PathBuf,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Part {
    /// Recordings of a car as CSV, and the three commands that lead to an alarm
    Logs,
    /// A comparison of detectors in two environments of the engine
    Environments,
}

/// Both parts as one value.
#[derive(Serialize)]
struct Found {
    #[serde(skip_serializing_if = "Option::is_none")]
    logs: Option<logs::Demo>,
    #[serde(flatten)]
    comparison: Option<Finished>,
}

/// Goes from recordings to an alarm; then finds or fetches MuJoCo, runs the campaign and writes the report. Each part is
/// printed once it is there, but as JSON both are one value.
pub fn run(matches: &ArgMatches, call: &Call) -> Result<Answer> {
    let Demo { show, only, out } = asked(matches)?;
    if show {
        return Ok(Answer::text(DEMO));
    }
    let has = |part: Part| only.is_none_or(|only| only == part);
    let logs = has(Part::Logs).then(|| logs::run(&out.join("logs"), &call.context)).transpose()?;
    if let Some(logs) = logs.as_ref().filter(|_| !call.json) {
        let end = if has(Part::Environments) { "\n\n" } else { "" };
        print(&format!("{logs}{end}"))?;
    }
    let comparison = has(Part::Environments).then(|| demo(&out, &call.context)).transpose()?;
    match comparison {
        Some(comparison) if !call.json => call.answer(&comparison),
        None if !call.json => Ok(Answer::nothing()),
        comparison => call.value(&Found { logs, comparison }),
    }
}

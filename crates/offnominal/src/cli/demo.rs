//! `demo`: from recordings to an alarm; then a comparison of detectors on two shipped policies, from a campaign that travels
//! with the binary.

use crate::cli::{Common, Outcome};
use anyhow::Result;
use clap::{Args, ValueEnum};
use offnominal_bench::run::{DEMO, Finished, demo};
use offnominal_logs::demo as logs;
use serde::Serialize;

/// Arguments of `demo`.
#[derive(Debug, Args)]
pub struct Demo {
    /// Print the campaign of the second part instead of running anything: a template for your own
    #[arg(long)]
    show: bool,
    /// One part only
    #[arg(long, value_name = "PART", conflicts_with = "show")]
    only: Option<Part>,
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

impl Demo {
    /// Goes from recordings to an alarm; then finds or fetches MuJoCo, runs the campaign and writes the report. Each part is
    /// printed once it is there, but as JSON both are one value.
    ///
    /// # Errors
    /// If MuJoCo cannot be had, or a file cannot be written.
    pub fn run(&self, common: &Common) -> Result<Outcome> {
        if self.show {
            return common.print_text(DEMO.into());
        }
        let (out, context) = (common.out_or("demo"), common.context());
        let has = |part: Part| self.only.is_none_or(|only| only == part);
        let logs = has(Part::Logs).then(|| logs::run(&out.join("logs"), &context)).transpose()?;
        if let Some(logs) = logs.as_ref().filter(|_| !common.json) {
            let end = if has(Part::Environments) { "\n\n" } else { "" };
            common.print_text(format!("{logs}{end}"))?;
        }
        let comparison = has(Part::Environments).then(|| demo(&out, &context)).transpose()?;
        match comparison {
            Some(comparison) if !common.json => common.print(&comparison),
            None if !common.json => Ok(Outcome::Done),
            comparison => common.print_text(Common::as_json(&Found { logs, comparison })?),
        }
    }
}

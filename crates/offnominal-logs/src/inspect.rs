//! What is in logs: topics, columns, rates, gaps, ranges; a page with a picture of each channel; a proposed mapping. And what
//! a monitor's file says of itself.

pub mod against;
pub mod column;
pub mod guess;
pub mod monitor;
pub mod picture;
pub mod steps;
pub mod survey;

mod clock;
mod dates;
mod merged;
mod names;
mod page;
mod proposal;
mod taken;
mod windows;

use crate::source::{Source, Strict, in_folders};
use against::Compared;
use anyhow::{Result, ensure};
use clap::Args;
use column::Kind;
use guess::Proposal;
use offnominal_files::write::atomically;
use offnominal_work::context::Context;
use offnominal_work::parallel;
use serde::Serialize;
use std::fmt::{self, Display, Formatter};
use std::path::PathBuf;
use survey::{LogReport, survey};

/// What to look at.
#[derive(Debug, Clone, PartialEq, Eq, Args)]
pub struct Request {
    /// Files or folders of one kind (formats: docs/reference/logs.md), compressed or not; or a monitor
    #[arg(value_name = "LOGS", required = true)]
    pub logs: Vec<PathBuf>,
    /// Write the mapping, to edit it [default: print it]
    #[arg(long = "out", value_name = "MAP.toml")]
    pub map: Option<PathBuf>,
    /// Write a page with a plot of each channel
    #[arg(long, value_name = "FILE.html")]
    pub report: Option<PathBuf>,
    /// Reference logs: say which channels of LOGS differ from them
    #[arg(long, value_name = "LOGS", num_args = 1..)]
    pub against: Vec<PathBuf>,
}

/// What is in the logs.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Inspected {
    /// Each log.
    pub logs: Vec<LogReport>,
    /// The proposed mapping, as TOML.
    pub mapping: String,
    /// Channels that not all logs have, each with the number of logs that do.
    pub not_in_all: Vec<(String, usize)>,
    /// How they differ from the reference, if one was given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub against: Option<Compared>,
}

/// Reads the logs once and writes what was asked for.
///
/// # Errors
/// If there is no log, one cannot be read, or a file cannot be written.
pub fn run(request: &Request, context: &Context) -> Result<Inspected> {
    let (logs, against) = (in_folders(&request.logs)?, in_folders(&request.against)?);
    let (found, page) = beside(&logs, &against, context)?;
    if let Some(path) = &request.map {
        guess::propose(&found.logs).check()?;
        atomically(path, found.mapping.as_bytes())?;
    }
    if let Some(path) = &request.report {
        atomically(path, page.as_bytes())?;
    }
    Ok(found)
}

/// What is in logs of any origin, and the page that shows it.
///
/// # Errors
/// If there is no log, or one cannot be read.
pub fn of(logs: &[impl Source], context: &Context) -> Result<(Inspected, String)> {
    beside(logs, &[] as &[PathBuf], context)
}

/// The same, with how they differ from a reference, if there is one.
fn beside<S: Source>(
    logs: &[S],
    reference: &[impl Source],
    context: &Context,
) -> Result<(Inspected, String)> {
    ensure!(!logs.is_empty(), "expected at least one log, found none");
    let reports = surveyed(logs, context)?;
    let proposal = guess::propose(&reports);
    let against = match reference {
        [] => None,
        _ => Some(against::compare((reference, surveyed(reference, context)?), (logs, &reports), context)?),
    };
    let found =
        Inspected { not_in_all: not_in_all(&reports), mapping: proposal.to_toml(), logs: reports, against };
    let page = page::page(&found, &proposal)?;
    Ok((found, page))
}

fn surveyed(logs: &[impl Source], context: &Context) -> Result<Vec<LogReport>> {
    let bar = context.task(logs.len(), "reading logs");
    parallel::map(context.jobs, logs.len(), &bar, |i| survey(&Strict(&logs[i], context.strict)))
}

/// Channels that some logs lack.
fn not_in_all(logs: &[LogReport]) -> Vec<(String, usize)> {
    let mut counts = std::collections::BTreeMap::new();
    for log in logs {
        for topic in &log.topics {
            for column in &topic.columns {
                *counts.entry(topic.full_name(column)).or_insert(0) += 1;
            }
        }
    }
    counts.into_iter().filter(|(_, n)| *n < logs.len()).collect()
}

impl Display for Inspected {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        for log in &self.logs {
            writeln!(
                out,
                "{}: {}",
                log.path.display(),
                serde_json::json!(log.format).as_str().unwrap_or_default()
            )?;
            for topic in &log.topics {
                let name = if topic.name.is_empty() { "(table)" } else { &topic.name };
                let bursts = if topic.is_in_bursts() { " in bursts" } else { "" };
                let rate = topic.rate().map_or(String::new(), |rate| format!(", {rate:.4} Hz{bursts}"));
                let (rows, columns) = (topic.rows, topic.columns.len());
                writeln!(out, "  {name:<40} {rows:>9} rows{rate}, {columns} columns")?;
            }
            for what in log.left_out.iter().take(5) {
                writeln!(out, "  left out: {what}")?;
            }
            for what in log.assumed.iter().take(5) {
                writeln!(out, "  assumed: {what}")?;
            }
        }
        if !self.not_in_all.is_empty() {
            writeln!(
                out,
                "{} columns are not in all logs, such as {}",
                self.not_in_all.len(),
                self.not_in_all[0].0
            )?;
        }
        write!(out, "\n{}", self.mapping.trim_end())?;
        self.against.iter().try_for_each(|against| write!(out, "\n\n{}", against.to_string().trim_end()))
    }
}

impl survey::TopicReport {
    /// Rows per second, if its rows have time stamps: by the median of the steps, or by their mean where rows come in bursts.
    pub fn rate(&self) -> Option<f64> {
        let times = self.times.as_ref()?;
        let step = if times.are_bursts() { times.mean() } else { times.median() };
        step.map(|step| 1.0 / step)
    }

    /// Whether its rows come in bursts, so that their rate is none of a clock.
    pub fn is_in_bursts(&self) -> bool {
        self.times.as_ref().is_some_and(|times| times.are_bursts())
    }

    /// Of a table whose clock is a column: the usual step and the longest one, in seconds.
    fn of_clock(&self, proposal: &Proposal) -> Option<(f64, f64)> {
        let clock = &proposal.mapping.clock;
        let column = self.columns.iter().find(|column| Some(self.full_name(column)) == clock.column)?;
        // The steps between dates are in seconds already, but not those between whole numbers that are dates.
        let secs = match clock.unit.nanos() {
            Some(nanos) => nanos * 1e-9,
            None => (column.kind == Kind::Date).then_some(1.0)?,
        };
        let steps = column.steps.as_ref()?;
        Some((steps.median()? * secs, steps.longest() * secs))
    }

    /// The longest time without a row, in seconds.
    pub fn longest_gap(&self) -> Option<f64> {
        self.times.as_ref().map(|times| times.longest())
    }
}

impl Proposal {
    /// What the proposal takes a column for, in a word.
    fn role_of(&self, name: &str) -> &'static str {
        let is = |channels: &[crate::mapping::Channel]| channels.iter().any(|c| c.column == name);
        let mapping = &self.mapping;
        let same = |column: &Option<String>| column.as_deref() == Some(name);
        match () {
            () if is(&mapping.observation) => "observation",
            () if is(&mapping.command) => "command",
            () if mapping.label.0.iter().any(|label| label == name) => "label",
            () if same(&mapping.task) => "task",
            () if same(&mapping.clock.column) => "time",
            () if mapping.outcome.as_ref().is_some_and(|o| o.column == name) => "outcome",
            () if mapping.episodes.columns().any(|column| column == name) => "episode",
            () => "ignored",
        }
    }
}

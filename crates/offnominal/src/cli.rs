//! The command line: one file per command, each with its arguments and its `run`.

mod bench;
mod calibrate;
mod collect;
mod demo;
mod evaluate;
mod export;
mod fault;
mod list;
mod metrics;
mod render;
mod report;
mod train;

use crate::catalogues::{self, Extras};
pub use crate::common::Common;
use anyhow::Result;
use clap::{Parser, Subcommand};
use std::ffi::OsString;
use std::process::ExitCode;

/// How a command ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// It did what it was asked to do.
    Done,
    /// It measured, and a requirement that the user gave is not met.
    NotAcceptable,
}

/// Would a monitor notice that something is wrong? Tests run-time monitors of trained control policies.
#[derive(Debug, Parser)]
#[command(name = "offnominal", version, propagate_version = true)]
struct Cli {
    #[command(flatten)]
    common: Common,
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// See the whole thing work: two trained policies, calibrated anomalies, detectors, a report
    Demo(demo::Demo),
    /// List what there is: envs, anomalies, detectors, policies, metrics
    List(list::List),
    /// Train a policy, and write it with a card that says how good it is
    Train(train::Train),
    /// Measure a policy's return and success rate, with intervals
    Evaluate(evaluate::Evaluate),
    /// Play episodes, nominal or anomalous with their twins, and store them as one Arrow file
    Collect(collect::Collect),
    /// Find how strong each anomaly must be to cost a policy 1, 10, 25 and 50 % of its score
    Calibrate(calibrate::Calibrate),
    /// Run a campaign: detectors against anomalies, with tables and a report
    Bench(bench::BenchArgs),
    /// Make the page of a results folder anew
    Report(report::Report),
    /// Judge scores in a CSV file: ranking metrics, and delays at a threshold, with intervals
    Metrics(metrics::Metrics),
    /// Give a dataset to other programs in their own format
    Export(export::Export),
    /// Pictures, class masks and a film of one episode
    Render(render::Render),
}

/// The whole program, with what it adds to the catalogues: `main` of the binary, and of anybody's program around this
/// library. Exit code 0 — done; 1 — evaluated and not acceptable; 2 — error.
pub fn main_with(extras: Extras) -> ExitCode {
    match catalogues::extend(extras).and_then(|()| execute(Cli::parse())) {
        Ok(Outcome::Done) => ExitCode::SUCCESS,
        Ok(Outcome::NotAcceptable) => ExitCode::from(1),
        Err(error) if is_broken_pipe(&error) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("offnominal: {error:#}");
            ExitCode::from(2)
        }
    }
}

/// Runs one command line, the program's name first; for programs that run several.
///
/// # Errors
/// Whatever the command reports; the message is complete.
pub fn run_from<A: Into<OsString> + Clone>(args: impl IntoIterator<Item = A>) -> Result<Outcome> {
    execute(Cli::try_parse_from(args)?)
}

fn execute(Cli { common, command }: Cli) -> Result<Outcome> {
    match command {
        Command::Demo(args) => args.run(&common),
        Command::List(args) => args.run(&common),
        Command::Train(args) => args.run(&common),
        Command::Evaluate(args) => args.run(&common),
        Command::Collect(args) => args.run(&common),
        Command::Calibrate(args) => args.run(&common),
        Command::Bench(args) => args.run(&common),
        Command::Report(args) => args.run(&common),
        Command::Metrics(args) => args.run(&common),
        Command::Export(args) => args.run(&common),
        Command::Render(args) => args.run(&common),
    }
}

/// Whether the reader of our output went away, which is not an error of ours.
fn is_broken_pipe(error: &anyhow::Error) -> bool {
    error
        .chain()
        .filter_map(|e| e.downcast_ref::<std::io::Error>())
        .any(|e| e.kind() == std::io::ErrorKind::BrokenPipe)
}

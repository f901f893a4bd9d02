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
mod robot;
mod train;
mod ur_sim;

pub use crate::common::Common;
use anyhow::Result;
use clap::{Parser, Subcommand};

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
    /// Be a robot: a simulated controller of Universal Robots, for any program that speaks to one
    UrSim(ur_sim::UrSim),
}

/// Parses the command line and runs the command.
///
/// # Errors
/// Whatever the command reports; the message is complete.
pub fn run() -> Result<Outcome> {
    let Cli { common, command } = Cli::parse();
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
        Command::UrSim(args) => args.run(&common),
    }
}

/// Whether the reader of our output went away, which is not an error of ours.
pub fn is_broken_pipe(error: &anyhow::Error) -> bool {
    error
        .chain()
        .filter_map(|e| e.downcast_ref::<std::io::Error>())
        .any(|e| e.kind() == std::io::ErrorKind::BrokenPipe)
}

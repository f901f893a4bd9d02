//! The command line: one file per command, each with its arguments and its `run`.

mod anomaly_request;
mod audit;
mod bench;
mod calibrate;
mod collect;
mod common;
mod compare;
mod demo;
mod ensemble;
mod evaluate;
mod evidence;
mod export;
mod fit;
mod images;
mod import;
mod inspect;
mod list;
mod manual;
mod metrics;
mod monitor;
mod one_of;
mod pixels;
mod render;
mod report;
mod risk;
mod rollouts;
mod scenario;
mod score;
mod sheet;
mod shift;
mod terminal;
mod train;
mod ur_sim;

use anyhow::Result;
use clap::{ArgMatches, CommandFactory, FromArgMatches, Parser, Subcommand};
pub use common::Common;
use offnominal_engine::catalogues::{self, Extras};
use offnominal_engine::{device, foreign, stop};
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

/// What stands below the list of commands.
const BEGIN: &str = "Begin with `offnominal demo`; `offnominal COMMAND --help` explains a command.

The mjc environments need the MuJoCo library: it is fetched when it is first used, unless OFFNOMINAL_MUJOCO names the file.";

/// Would a monitor notice that something is wrong? Tests run-time monitors of trained control policies.
#[derive(Debug, Parser)]
#[command(name = "offnominal", version, after_help = BEGIN)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// See the whole thing work: from recordings to an alarm; then trained policies, anomalies, detectors, a report
    Demo(demo::Demo),
    /// Audit one policy in one simulator: which faults a monitor notices, how often the policy fails, and what to do
    Audit(audit::Audit),
    /// Put results and their inputs into one signed file that somebody else can check
    Evidence(evidence::Evidence),
    /// Check such a file: digests, signature, and parts of the work done once more
    Verify(evidence::Verify),
    /// List what there is: envs, anomalies, detectors, policies, algorithms, metrics
    List(list::List),
    /// Train a policy, and write it with a card that says how good it is
    Train(train::Train),
    /// Make one policy of several, of different seeds or of different steps: it acts on their mean, and they can disagree
    Ensemble(ensemble::Ensemble),
    /// Measure a policy's return and success rate, with intervals
    Evaluate(evaluate::Evaluate),
    /// Compare two policies on the same seeds until it is clear whether the new one is better, worse, or within a margin
    Compare(compare::Compare),
    /// Play episodes, nominal or anomalous with their twins, and store them as one Arrow file
    Collect(collect::Collect),
    /// Find how strong each anomaly must be to cost a policy 1, 10, 25 and 50 % of its score
    Calibrate(calibrate::Calibrate),
    /// Say what is in logs of any format, and propose which column is what
    Inspect(inspect::Inspect),
    /// Fit a detector on nominal logs or episodes, set its threshold on others, and write both as one file
    Fit(fit::Fit),
    /// Score logs or recorded episodes with a fitted detector, and write a report of its alarms
    Score(score::Score),
    /// Watch a stream of steps, or a log while it is recorded: a verdict for each step as a JSON line
    Monitor(monitor::Monitor),
    /// Run a campaign: detectors against anomalies, with tables and a report
    Bench(bench::BenchArgs),
    /// Failure probabilities: learn where failures are, estimate, search, select, replay
    Risk(risk::Risk),
    /// Rollouts of generative policies (VLA, diffusion): who notices a failing one, once the clock is taken out
    Rollouts(rollouts::Rollouts),
    /// Policies on bodies that they do not know: how much is lost, and can one tell without a reward
    Shift(shift::Shift),
    /// Make the page of a results folder anew
    Report(report::Report),
    /// Results of suites that anybody may submit: check them, and rank the detectors
    /// Judge scores in a CSV file: ranking metrics, and delays at a threshold, with intervals
    Metrics(metrics::Metrics),
    /// Take over a policy of another program
    Import(import::Import),
    /// Where in an image the unknown thing is: scenes, scores, metrics, a page
    Pixels(pixels::Pixels),
    /// Image detectors: train the encoder of patches, fit networks that expect what is seen, score with them
    Images(images::Images),
    /// Give a dataset to other programs in their own format
    Export(export::Export),
    /// Images, class masks and a video of one episode
    Render(render::Render),
    /// One picture of many frames with their names: environments, or an environment under anomalies
    Sheet(sheet::Sheet),
    /// Print the completions of a shell, which complete commands and options
    Completions(manual::Completions),
    /// Write the manual as man pages, one per command
    Man(manual::Man),
    /// Be a robot: a simulated controller of Universal Robots, for any program that speaks to one
    UrSim(ur_sim::UrSim),
}

/// The whole program, with what it adds to the catalogues: `main` of the binary, and of anybody's program around this
/// library.
pub fn main_with(mut extras: Extras) -> ExitCode {
    extras.image_detectors.extend(offnominal_pixels::IMAGE_DETECTORS);
    match catalogues::extend(extras) {
        Ok(()) => ExitCode::from(main_from(std::env::args_os())),
        Err(error) => ExitCode::from(failed(&error)),
    }
}

/// Runs one command line, the program's name first, and returns its exit code: 0 done, 1 evaluated and not acceptable,
/// 2 error.
pub fn main_from<A: Into<OsString> + Clone>(args: impl IntoIterator<Item = A>) -> u8 {
    let matches = match line().try_get_matches_from(args) {
        Ok(matches) => matches,
        Err(usage) => return usage.print().map_or(2, |()| u8::from(usage.use_stderr()) * 2),
    };
    match execute(&matches) {
        Ok(Outcome::Done) => 0,
        Ok(Outcome::NotAcceptable) => 1,
        Err(error) if is_broken_pipe(&error) => 0,
        Err(error) => failed(&error),
    }
}

/// Whether these arguments, the program's name first, are a command line; nothing is run.
///
/// # Errors
/// What is wrong with them, in the words of the usage.
pub fn parse<A: Into<OsString> + Clone>(args: impl IntoIterator<Item = A>) -> Result<(), String> {
    match line().try_get_matches_from(args) {
        Err(usage) if usage.use_stderr() => Err(usage.to_string()),
        _ => Ok(()),
    }
}

fn failed(error: &anyhow::Error) -> u8 {
    terminal::say(format!("offnominal: {error:#}"));
    2
}

fn execute(matches: &ArgMatches) -> Result<Outcome> {
    let common = Common::read(innermost(matches));
    let Cli { command } = Cli::from_arg_matches(matches).unwrap_or_else(|e| e.format(&mut line()).exit());
    let done = device::guard(|| stop::guard(|| run(command, &common)));
    common.context().pass_on_remarks();
    foreign::end_all();
    done
}

fn run(command: Command, common: &Common) -> Result<Outcome> {
    match command {
        Command::Demo(args) => args.run(common),
        Command::Audit(args) => args.run(common),
        Command::Evidence(args) => args.run(common),
        Command::Verify(args) => args.run(common),
        Command::List(args) => args.run(common),
        Command::Train(args) => args.run(common),
        Command::Ensemble(args) => args.run(common),
        Command::Evaluate(args) => args.run(common),
        Command::Compare(args) => args.run(common),
        Command::Collect(args) => args.run(common),
        Command::Calibrate(args) => args.run(common),
        Command::Inspect(args) => args.run(common),
        Command::Fit(args) => args.run(common),
        Command::Score(args) => args.run(common),
        Command::Monitor(args) => args.run(common),
        Command::Bench(args) => args.run(common),
        Command::Risk(args) => args.run(common),
        Command::Rollouts(args) => args.run(common),
        Command::Shift(args) => args.run(common),
        Command::Report(args) => args.run(common),
        Command::Metrics(args) => args.run(common),
        Command::Import(args) => args.run(common),
        Command::Pixels(args) => args.run(common),
        Command::Images(args) => args.run(common),
        Command::Export(args) => args.run(common),
        Command::Render(args) => args.run(common),
        Command::Sheet(args) => args.run(common),
        Command::Completions(args) => args.run(common),
        Command::Man(args) => args.run(common),
        Command::UrSim(args) => args.run(common),
    }
}

/// The whole command line: each command with its own options, then the common ones that it uses.
fn line() -> clap::Command {
    let line = Cli::command();
    let names: Vec<String> = line.get_subcommands().map(|c| c.get_name().to_string()).collect();
    names.iter().fold(line, |line, name| line.mut_subcommand(name, |command| with_common(command, name)))
}

/// A command with the common options that it uses; those of `risk` differ in theirs.
fn with_common(command: clap::Command, name: &str) -> clap::Command {
    if name != "risk" {
        return command.args(Common::options(&unused(name)));
    }
    let names: Vec<String> = command.get_subcommands().map(|c| c.get_name().to_string()).collect();
    names.iter().fold(command, |command, inner| {
        let unused = unused(&format!("risk {inner}"));
        command.mut_subcommand(inner, |inner| inner.args(Common::options(&unused)))
    })
}

/// The commands for which each episode without an outcome matters.
const COUNTS_DIVERGED: [&str; 10] = [
    "audit",
    "evaluate",
    "compare",
    "fit",
    "calibrate",
    "risk estimate",
    "risk search",
    "risk stress",
    "risk select",
    "risk split",
];

/// The commands that read logs.
const READS_LOGS: [&str; 4] = ["inspect", "fit", "score", "monitor"];

/// The commands in which it may be stated what counts as a failure.
const STATES_FAILURE: [&str; 13] = [
    "audit",
    "evaluate",
    "compare",
    "collect",
    "fit",
    "calibrate",
    "render",
    "risk estimate",
    "risk search",
    "risk stress",
    "risk select",
    "risk split",
    "risk learn",
];

/// The common options that mean nothing to a command, so that it does not offer them.
fn unused(command: &str) -> Vec<&'static str> {
    let counts = COUNTS_DIVERGED.contains(&command);
    let diverged = (!counts).then_some("allow_diverged");
    let strict = (!READS_LOGS.contains(&command)).then_some("strict");
    let failure = (!STATES_FAILURE.contains(&command)).then_some("failure");
    // The margin of `compare` is that of its test.
    let margin = (failure.is_some() || command == "compare").then_some("margin_of");
    own_unused(command).iter().copied().chain(diverged).chain(strict).chain(failure).chain(margin).collect()
}

fn own_unused(command: &str) -> &'static [&'static str] {
    match command {
        "demo" | "bench" => &["seed"],
        "list" => &["seed", "jobs", "out", "quiet"],
        "evaluate" => &["out"],
        "report" => &["seed", "jobs", "out", "quiet"],
        "risk budget" => &["seed", "jobs", "out", "quiet"],
        "risk replay" => &["seed", "jobs", "quiet"],
        "export" | "import" | "ensemble" => &["seed", "jobs", "quiet"],
        "metrics" => &["jobs", "out", "quiet"],
        "render" => &["jobs", "quiet"],
        "sheet" => &["jobs", "out", "quiet"],
        "fit" => &["out"],
        "inspect" => &["seed", "out"],
        "completions" | "man" => &["seed", "jobs", "out", "json", "quiet"],
        "score" => &["out"],
        "monitor" => &["seed", "jobs", "json", "quiet"],
        "ur-sim" => &["jobs", "out"],
        _ => &[],
    }
}

/// What was given to the command itself, or to the command within it.
fn innermost(matches: &ArgMatches) -> &ArgMatches {
    matches.subcommand().map_or(matches, |(_, inner)| innermost(inner))
}

/// Whether the reader of our output went away, which is not an error of ours.
fn is_broken_pipe(error: &anyhow::Error) -> bool {
    // Errors of tables keep theirs where `source` does not lead.
    let of_table = |e: &(dyn std::error::Error + 'static)| match e.downcast_ref::<csv::Error>()?.kind() {
        csv::ErrorKind::Io(inner) => Some(inner.kind()),
        _ => None,
    };
    let kind = |e: &(dyn std::error::Error + 'static)| {
        e.downcast_ref::<std::io::Error>().map(std::io::Error::kind).or_else(|| of_table(e))
    };
    error.chain().filter_map(kind).any(|kind| kind == std::io::ErrorKind::BrokenPipe)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn help(args: &[&str]) -> String {
        let refused = line().try_get_matches_from([&["offnominal"], args, &["--help"]].concat());
        refused.unwrap_err().to_string()
    }

    #[test]
    fn the_line_is_sound() {
        line().debug_assert();
    }

    #[test]
    fn own_options_come_first_and_then_the_common_ones() {
        let help = help(&["collect"]);
        let at = |text: &str| help.find(text).unwrap_or_else(|| panic!("{text} is missing in {help}"));
        let order = ["--env", "--policy", "--episodes", "Common options:", "--seed", "--jobs", "--out"];
        assert!(order.map(at).is_sorted(), "{help}");
    }

    #[test]
    fn what_makes_an_anomaly_stands_together() {
        let help = help(&["render"]);
        let (own, anomaly) = help.split_once("Anomaly:").unwrap();
        assert!(own.contains("--size") && own.contains("--classes") && !own.contains("--magnitude"), "{own}");
        assert!(anomaly.contains("--magnitude") && !anomaly.contains("--size"), "{anomaly}");
    }

    #[test]
    fn a_common_option_without_a_use_is_not_offered_and_not_taken() {
        assert!(!help(&["list"]).contains("--seed") && help(&["list"]).contains("--json"));
        assert!(!help(&["export", "minari"]).contains("--jobs"));
        let refused = line().try_get_matches_from(["offnominal", "list", "envs", "--seed", "3"]);
        assert!(refused.unwrap_err().to_string().contains("unexpected argument '--seed'"));
    }

    #[test]
    fn common_options_are_read_wherever_they_stand() {
        let read = |args: &[&str]| {
            let matches = line().try_get_matches_from([&["offnominal"], args].concat()).unwrap();
            Common::read(innermost(&matches))
        };
        assert!(read(&["list", "--json", "envs"]).json && read(&["list", "envs", "--json"]).json);
        let common = read(&["evaluate", "--env", "e", "--policy", "p", "--seed", "7", "--jobs", "3"]);
        assert_eq!((common.seed, common.jobs, common.out, common.quiet), (7, 3, None, false));
    }

    #[test]
    fn every_exception_is_one_of_a_command() {
        let line = line();
        for command in [
            "fit", "inspect", "score", "monitor", "demo", "bench", "list", "evaluate", "report", "export",
            "metrics", "render",
        ] {
            assert!(!own_unused(command).is_empty() && line.find_subcommand(command).is_some(), "{command}");
        }
    }
}

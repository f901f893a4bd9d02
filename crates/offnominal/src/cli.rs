//! The command line: one table of commands, and a file for each that does more than ask the library.

mod bench;
mod command;
mod commands;
mod declared;
mod demo;
mod fit;
mod interrupt;
mod list;
mod manual;
mod monitor;
mod pictures;
mod score;
mod tables;
mod terminal;
mod ur_sim;

use anyhow::{Context as _, Result};
use clap::builder::StyledStr;
use clap::error::{ContextKind, ContextValue};
use command::Common;
use commands::{FAMILIES, GROUPS};
pub use declared::{Argument, Declaration, Declarations, declarations};
use offnominal_core::suggest::{did_you_mean, nearest};
use offnominal_engine::catalogues::{self, Extras};
use offnominal_engine::context::Context;
use offnominal_engine::{device, stop};
use offnominal_hosts::foreign;
use offnominal_work::cli;
use serde_json::Value;
use std::ffi::OsString;
use std::process::ExitCode;

/// What stands below the list of commands.
const BEGIN: &str = "Begin with `offnominal demo`; `offnominal COMMAND --help` explains a command.

The mjc environments fetch the MuJoCo library at first use, unless OFFNOMINAL_MUJOCO names it.";

/// What the program is.
const ABOUT: &str =
    "Tests run-time monitors of trained control policies: would a monitor notice that something is wrong?";

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
/// 2 error, 130 interrupted.
pub fn main_from<A: Into<OsString> + Clone>(args: impl IntoIterator<Item = A>) -> u8 {
    let line = program(command::Command::line_of_help);
    let typed: Vec<OsString> = args.into_iter().map(Into::into).collect();
    let matches = match line.try_get_matches_from(&typed) {
        Ok(matches) => matches,
        Err(usage) => {
            let usage = helpful(usage);
            return usage.print().map_or(2, |()| u8::from(usage.use_stderr()) * 2);
        }
    };
    let Some((command, own)) = commands::chosen(&matches) else { return 2 };
    let done = guarded(|| command.run(own)?.tell());
    foreign::end_all();
    match done {
        Ok(code) => code,
        Err(error) if is_broken_pipe(&error) => 0,
        Err(error) if interrupt::is_requested() => {
            // What else went wrong after Ctrl-C is said, and is no reason to call it something else.
            if !error.chain().any(|cause| cause.to_string().starts_with("stopped")) {
                failed(&error);
            }
            terminal::say(interrupt::said((command.name, command.resumes), own, &typed));
            interrupt::CODE
        }
        Err(error) => failed(&error),
    }
}

/// The same error with suggestions that are similar enough to be meant: clap's are more generous, and for an option that
/// does not exist it explains how to pass a value.
fn helpful(mut usage: clap::Error) -> clap::Error {
    usage.remove(ContextKind::Suggested);
    if let Some(ContextValue::String(name)) = usage.remove(ContextKind::InvalidSubcommand) {
        let all = GROUPS.iter().flat_map(|(_, commands)| *commands);
        let meant = nearest(&name, all.flat_map(|command| command.name.split(' ')));
        usage.remove(ContextKind::SuggestedSubcommand);
        if let Some(meant) = meant {
            usage.insert(ContextKind::SuggestedSubcommand, ContextValue::Strings(vec![meant]));
        }
        usage.insert(ContextKind::InvalidSubcommand, ContextValue::String(name));
    }
    usage
}

/// Does what a request in JSON asks of a command, such as `risk estimate`, and returns what it prints with `--json`.
///
/// # Errors
/// If there is no such command, the request is none of it, or it fails.
pub fn call(name: &str, asked: Value, context: Context) -> Result<String> {
    let all = || GROUPS.iter().flat_map(|(_, commands)| *commands).map(|command| command.name);
    let command = commands::find(name)
        .with_context(|| format!("expected a command, found {name:?}{}", did_you_mean(name, all())))?;
    let answer = guarded(|| command.call(asked, context))?;
    answer.text.with_context(|| format!("{name}: expected a command that answers, which this one does not"))
}

/// Whether a request in JSON is one of some command; nothing is run.
pub fn reads(asked: &Value) -> bool {
    let all =
        GROUPS.iter().flat_map(|(_, commands)| *commands).map(|command| command.line().no_binary_name(true));
    let reads =
        |line: clap::Command| cli::words(&line, asked).and_then(|words| cli::matched(&line, words)).is_ok();
    all.fold(false, |any, line| reads(line) | any)
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

fn guarded<T>(work: impl FnOnce() -> Result<T>) -> Result<T> {
    device::guard(|| stop::guard(work))
}

fn failed(error: &anyhow::Error) -> u8 {
    terminal::say(format!("offnominal: {error:#}"));
    2
}

/// The whole command line, as completions and the manual have it.
pub(crate) fn line() -> clap::Command {
    program(command::Command::line_of_person)
}

/// The whole command line with each of its commands made so.
fn program(made: fn(&command::Command) -> clap::Command) -> clap::Command {
    let program = clap::Command::new("offnominal")
        .version(env!("CARGO_PKG_VERSION"))
        .about(ABOUT)
        .subcommand_required(true)
        .arg_required_else_help(true)
        .help_template("{about}\n\n{usage-heading} {usage}\n\n{before-help}{options}\n\n{after-help}")
        .before_help(overview())
        .after_help(BEGIN);
    let alone = |name: &str| !name.contains(' ');
    let all = || GROUPS.iter().flat_map(|(_, commands)| *commands);
    let program = program.subcommands(all().filter(|c| alone(c.name)).map(made));
    program.subcommands(FAMILIES.iter().map(|(first, about)| {
        let within = all().filter(|c| c.name.split_once(' ').is_some_and(|(name, _)| name == *first));
        let family = clap::Command::new(*first).about(*about).subcommand_required(true);
        family.arg_required_else_help(true).subcommands(within.map(made))
    }))
}

/// The commands in their groups, with what each does.
fn overview() -> StyledStr {
    let mut text = String::new();
    for (group, commands) in GROUPS {
        text += &format!("{group}:\n");
        let mut family = "";
        for command in *commands {
            let first = command.name.split(' ').next().unwrap_or(command.name);
            let about = FAMILIES.iter().find(|(name, _)| *name == first);
            match about {
                Some(_) if first == family => continue,
                Some((name, about)) => text += &format!("  {name:<12}{about}\n"),
                None => text += &format!("  {:<12}{}\n", command.name, command.about),
            }
            family = first;
        }
        text.push('\n');
    }
    text += &format!("Common options, of the commands whose help names them:\n{}\n", Common::texts());
    text.into()
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
mod tests;

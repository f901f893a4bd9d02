//! The options that all commands share, and the context that they make.

use super::Outcome;
use super::terminal::{Events, Terminal};
use anyhow::Result;
use clap::{Arg, ArgMatches, Args};
use offnominal_core::outside;
use offnominal_engine::context::Context;
use offnominal_engine::parallel::default_jobs;
use offnominal_engine::policies::Told;
use offnominal_engine::progress::{Progress, Silent};
use offnominal_hosts::foreign;
use serde::Serialize;
use signal_hook::consts::SIGINT;
use signal_hook::flag;
use std::fmt::Display;
use std::io::Write;
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, OnceLock};

/// Options that mean the same in every command that has them.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Common options")]
pub struct Common {
    /// Seed of everything random; the same seed gives the same bits
    #[arg(long, global = true, default_value_t = 0)]
    pub seed: u64,
    /// Worker threads, 1 to 1024 [default: all cores]
    #[arg(long, global = true, value_parser = jobs, default_value_t = default_jobs(), hide_default_value = true)]
    pub jobs: usize,
    /// Episodes that may diverge and so have no outcome, because the simulation broke or a number was not finite
    #[arg(long, global = true, value_name = "N", default_value_t = 0)]
    pub allow_diverged: u64,
    /// End with an error where a part of a log cannot be read; else it is left out, which is said
    #[arg(long, global = true)]
    pub strict: bool,
    /// What counts as a failure in an environment of Gymnasium: `terminated`, `timeout` (not terminated in time), `info.KEY`
    /// (true in a step), `info.KEY=false` (at the end), or `return<R`; every other episode succeeds. It becomes a part of the
    /// environment's id
    #[arg(long, global = true, value_name = "RULE")]
    pub failure: Option<String>,
    /// What in an environment of Gymnasium tells how far a state is from failure: an episode fails as soon as it is zero or
    /// less. It becomes a part of the environment's id
    #[arg(id = "margin_of", long = "margin", global = true, value_name = "info.KEY")]
    pub margin: Option<String>,
    /// Folder for everything that is written [default: one for the command under runs/]
    #[arg(long, global = true, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// Print one JSON value on standard output, and nothing else there
    #[arg(long, global = true)]
    pub json: bool,
    /// No progress on standard error
    #[arg(long, global = true)]
    pub quiet: bool,
}

/// A share, which may not be mistaken for a percentage.
pub fn share(text: &str) -> Result<f64, String> {
    let percent = text.trim().strip_suffix('%').and_then(|number| number.trim().parse::<f64>().ok());
    match (text.trim().parse(), percent) {
        (Ok(share), _) => Ok(share),
        (_, Some(percent)) => Err(format!("expected a share: {} is {percent} %", percent / 100.0)),
        _ => Err("expected a share, a number such as 0.05".into()),
    }
}

fn jobs(text: &str) -> Result<usize, String> {
    let n = text.parse().map_err(|_| format!("expected a whole number, found {text:?}"))?;
    if (1..=1024).contains(&n) { Ok(n) } else { Err(format!("expected 1 to 1024 threads, found {n}")) }
}

impl Common {
    /// The options as a command offers them, but for those that it has no use for.
    pub fn options(unused: &[&str]) -> Vec<Arg> {
        let all = Common::augment_args(clap::Command::new("common"));
        all.get_arguments().filter(|option| !unused.contains(&option.get_id().as_str())).cloned().collect()
    }

    /// The settings from a command's matches; what the command does not offer has its default.
    pub fn read(matches: &ArgMatches) -> Common {
        Common {
            seed: value(matches, "seed").unwrap_or_default(),
            jobs: value(matches, "jobs").unwrap_or_else(default_jobs),
            allow_diverged: value(matches, "allow_diverged").unwrap_or_default(),
            strict: value(matches, "strict").unwrap_or_default(),
            failure: value(matches, "failure"),
            margin: value(matches, "margin_of"),
            out: value(matches, "out"),
            json: value(matches, "json").unwrap_or_default(),
            quiet: value(matches, "quiet").unwrap_or_default(),
        }
    }

    /// The id of an environment, with what counts as a failure there, and what tells how near one is.
    ///
    /// # Errors
    /// If that is stated of an environment that says it itself.
    pub fn environment(&self, id: &str) -> Result<String> {
        let mut stated = self.stated().into_iter();
        stated.try_fold(id.to_string(), |id, (option, value)| foreign::with_option(&id, option, value))
    }

    /// What is stated of failures: options and their values.
    fn stated(&self) -> Vec<(&'static str, &str)> {
        let all = [("failure", &self.failure), ("margin", &self.margin)];
        all.into_iter().filter_map(|(option, value)| Some((option, value.as_deref()?))).collect()
    }

    /// The same as words of a command line.
    pub fn words(&self) -> Vec<String> {
        self.stated().into_iter().map(|(option, value)| format!("--{option} '{value}'")).collect()
    }

    /// What goes down to the work: seed, threads, and who shows the progress.
    pub fn context(&self) -> Context {
        let progress: Arc<dyn Progress> = match (self.quiet, self.json) {
            (true, _) => Arc::new(Silent),
            (false, true) => Arc::new(Events),
            (false, false) => Arc::new(Terminal),
        };
        let (stop, allow_diverged, strict) = (Arc::clone(interrupted()), self.allow_diverged, self.strict);
        offnominal_engine::stop::from_now_on(&stop);
        Context { progress, stop, allow_diverged, strict, ..Context::silent(self.seed, self.jobs) }
    }

    /// Prints a result: in words, or as JSON with keys in alphabetical order.
    ///
    /// # Errors
    /// If nobody can be told.
    pub fn print(&self, found: &(impl Serialize + Display)) -> Result<Outcome> {
        self.print_text(if self.json { Common::as_json(found)? } else { found.to_string() })
    }

    /// Prints a result: in words, or as JSON with keys in the order of its fields.
    ///
    /// # Errors
    /// If nobody can be told.
    pub fn print_in_order(&self, found: &(impl Serialize + Display)) -> Result<Outcome> {
        self.print_text(if self.json {
            serde_json::to_string_pretty(&Told::new(found, None))?
        } else {
            found.to_string()
        })
    }

    /// A result as JSON with keys in alphabetical order, and how policies of other programs were played.
    ///
    /// # Errors
    /// If it has none, which is a mistake of ours.
    pub fn as_json(found: &impl Serialize) -> Result<String> {
        Ok(format!("{:#}", serde_json::to_value(Told::new(found, None))?))
    }

    /// Prints lines, of which the last one may lack its end. What a terminal would obey is escaped: names come from outside.
    ///
    /// # Errors
    /// If nobody can be told.
    pub fn print_text(&self, text: String) -> Result<Outcome> {
        let text = outside::lines(text.strip_suffix('\n').unwrap_or(&text));
        writeln!(std::io::stdout().lock(), "{text}")?;
        Ok(Outcome::Done)
    }

    /// The output folder, or `runs/<command>`.
    pub fn out_or(&self, command: &str) -> PathBuf {
        self.out.clone().unwrap_or_else(|| PathBuf::from("runs").join(command))
    }
}

/// Set by the first Ctrl-C, which asks the work to stop where it can go on later; the second ends the program at once.
fn interrupted() -> &'static Arc<AtomicBool> {
    static STOP: OnceLock<Arc<AtomicBool>> = OnceLock::new();
    STOP.get_or_init(|| {
        let stop = Arc::default();
        // Where signals cannot be watched, Ctrl-C ends the program at once, as it would without us.
        if flag::register_conditional_default(SIGINT, Arc::clone(&stop)).is_ok() {
            let _ = flag::register(SIGINT, Arc::clone(&stop));
        }
        stop
    })
}

/// The value of an option; none too if the command does not offer it.
fn value<T: Clone + Send + Sync + 'static>(matches: &ArgMatches, option: &str) -> Option<T> {
    matches.try_get_one(option).ok().flatten().cloned()
}

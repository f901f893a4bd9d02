//! A command: its declaration, what it does, and what it answers.

use super::interrupt;
use super::terminal::{Events, Terminal, say};
use anyhow::{Result, ensure};
use clap::{Arg, ArgMatches, Args, FromArgMatches};
use offnominal_core::outside;
use offnominal_engine::context::Context;
use offnominal_engine::parallel::default_jobs;
use offnominal_engine::policies::Told;
use offnominal_engine::progress::{Progress, Silent};
use offnominal_work::cli;
use serde::Serialize;
use serde_json::Value;
use std::fmt::Display;
use std::io::Write;
use std::sync::Arc;

/// A command of the program.
pub struct Command {
    /// Its words, such as `risk estimate`.
    pub name: &'static str,
    /// What it does, in one sentence.
    pub about: &'static str,
    /// The common options that it uses.
    uses: &'static [&'static str],
    /// The folder on the command line if none is named; a call from Python without one writes nothing.
    out: Option<&'static str>,
    /// What it answers to a request in JSON.
    pub reply: Reply,
    /// Whether it goes on where it was interrupted.
    pub resumes: bool,
    /// Adds its own arguments.
    declare: fn(clap::Command) -> clap::Command,
    /// Does it.
    run: Run,
}

/// What a command answers to a request in JSON.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Reply {
    /// One object.
    Object,
    /// A list of objects.
    List,
    /// An object, or a list of objects.
    Either,
    /// None: it is for a terminal, or serves until it is stopped.
    Nothing,
}

/// What a command does with its arguments.
type Run = fn(&ArgMatches, &Call) -> Result<Answer>;

impl Command {
    /// A command whose arguments are those of `R`.
    pub const fn new<R: Args>(
        name: &'static str,
        about: &'static str,
        uses: &'static [&'static str],
        run: Run,
    ) -> Command {
        Command {
            name,
            about,
            uses,
            out: None,
            reply: Reply::Object,
            resumes: false,
            declare: R::augment_args,
            run,
        }
    }

    /// The same with a folder that the command line writes to if none is named.
    pub const fn into(self, folder: &'static str) -> Command {
        Command { out: Some(folder), ..self }
    }

    /// The same with another reply than one object.
    pub const fn replies(self, reply: Reply) -> Command {
        Command { reply, ..self }
    }

    /// The same for one that goes on where it was interrupted.
    pub const fn resumes(self) -> Command {
        Command { resumes: true, ..self }
    }

    /// The same with a change of its declaration.
    pub const fn declared(self, declare: fn(clap::Command) -> clap::Command) -> Command {
        Command { declare, ..self }
    }

    /// The last word of its name.
    pub fn word(&self) -> &'static str {
        self.name.rsplit(' ').next().unwrap_or(self.name)
    }

    /// Its own arguments, then the common ones that it uses.
    pub fn line(&self) -> clap::Command {
        let own = (self.declare)(clap::Command::new(self.word())).about(self.about).long_about(None::<&str>);
        let common = Common::augment_args(clap::Command::new("common"));
        let used = |option: &&Arg| self.uses.contains(&option.get_id().as_str());
        own.args(common.get_arguments().filter(used).cloned())
    }

    /// The same for a person, who gets a folder.
    pub fn line_of_person(&self) -> clap::Command {
        let line = self.line();
        match self.out {
            Some(folder) => line.mut_arg("out", |out| out.default_value(folder)),
            None => line,
        }
    }

    /// The same with the names of the common options in place of their texts, which the help of the program has.
    pub fn line_of_help(&self) -> clap::Command {
        let line = self
            .uses
            .iter()
            .fold(self.line_of_person(), |line, option| line.mut_arg(option, |option| option.hide(true)));
        if self.uses.is_empty() {
            return line;
        }
        let own = line.get_after_help().map(|text| format!("{text}\n\n")).unwrap_or_default();
        let names: String =
            self.uses.iter().map(|option| format!(" --{}", option.replace('_', "-"))).collect();
        line.after_help(format!("{own}Common options:{names} (see `offnominal --help`)"))
    }

    /// Does what the words of a person ask for.
    ///
    /// # Errors
    /// Whatever the command reports.
    pub fn run(&self, matches: &ArgMatches) -> Result<Answer> {
        let common = Common::read(matches);
        let command = cli::recorded(self.name, &self.line(), matches)?;
        self.done(matches, &Call { context: common.context(command), json: common.json, asked: None })
    }

    /// Does what a request in JSON asks for, whose keys are the names of the arguments.
    ///
    /// # Errors
    /// If the request is none of the command; else whatever the command reports.
    pub fn call(&self, asked: Value, context: Context) -> Result<Answer> {
        ensure!(
            self.reply != Reply::Nothing,
            "{}: expected a command that answers, which this one does not",
            self.name
        );
        let line = self.line().no_binary_name(true);
        for arg in line.get_arguments() {
            let id = arg.get_id().as_str();
            ensure!(
                asked.get(id).is_none() || !(id == "quiet" || is_of_terminal(&line, arg)),
                "{id}: expected it on a command line only, found it in a request"
            );
        }
        let mut words = cli::words(&line, &asked)?;
        if self.uses.contains(&"seed") {
            words.insert(0, format!("--seed={}", context.seed));
        }
        let matches = cli::matched(&line, words)?;
        let common = Common::read(&matches);
        let (allow_diverged, strict) = (common.allow_diverged, common.strict);
        let command = cli::recorded(self.name, &line, &matches)?;
        let jobs = common.jobs.unwrap_or(context.jobs);
        let context = Context { jobs, allow_diverged, strict, command, ..context };
        self.done(&matches, &Call { context, json: true, asked: Some(asked) })
    }

    /// Does it, and tells what was said where no context was at hand.
    fn done(&self, matches: &ArgMatches, call: &Call) -> Result<Answer> {
        let answer = (self.run)(matches, call);
        call.context.pass_on_remarks();
        answer
    }
}

/// Whether an argument says what a terminal shows, in place of one JSON value.
pub fn is_of_terminal(line: &clap::Command, arg: &Arg) -> bool {
    let is_json = |arg: &Arg| arg.get_id() == "json";
    is_json(arg) || line.get_arg_conflicts_with(arg).into_iter().any(is_json)
}

/// Options that mean the same in every command that has them.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Common options")]
pub struct Common {
    /// Seed of all randomness; same seed, same bits
    #[arg(long, default_value_t = 0)]
    pub seed: u64,
    /// Worker threads, 1 to 1024 [default: all cores]
    #[arg(long, value_parser = jobs)]
    pub jobs: Option<usize>,
    /// Accepted number of diverged episodes, which have no outcome
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub allow_diverged: u64,
    /// Fail where a part of a log cannot be read
    #[arg(long)]
    pub strict: bool,
    /// Print one JSON value on standard output, nothing else
    #[arg(long)]
    pub json: bool,
    /// No progress on standard error
    #[arg(long)]
    pub quiet: bool,
}

fn jobs(text: &str) -> Result<usize, String> {
    let n = text.parse().map_err(|_| format!("expected a whole number, found {text:?}"))?;
    if (1..=1024).contains(&n) { Ok(n) } else { Err(format!("expected 1 to 1024 threads, found {n}")) }
}

impl Common {
    /// What they are, as help says it.
    pub fn texts() -> String {
        let line = clap::Command::new("common").disable_help_flag(true).help_template("{options}");
        Common::augment_args(line).render_help().to_string()
    }

    /// The settings from a command's matches; what the command does not offer has its default.
    pub fn read(matches: &ArgMatches) -> Common {
        Common {
            seed: value(matches, "seed").unwrap_or_default(),
            jobs: value(matches, "jobs"),
            allow_diverged: value(matches, "allow_diverged").unwrap_or_default(),
            strict: value(matches, "strict").unwrap_or_default(),
            json: value(matches, "json").unwrap_or_default(),
            quiet: value(matches, "quiet").unwrap_or_default(),
        }
    }

    /// What goes down to the work.
    fn context(&self, command: String) -> Context {
        let progress: Arc<dyn Progress> = match (self.quiet, self.json) {
            (true, _) => Arc::new(Silent),
            (false, true) => Arc::new(Events),
            (false, false) => Arc::new(Terminal),
        };
        let (stop, allow_diverged, strict) =
            (Arc::clone(interrupt::flag()), self.allow_diverged, self.strict);
        offnominal_engine::stop::from_now_on(&stop);
        let plain = Context::silent(self.seed, self.jobs.unwrap_or_else(default_jobs));
        Context { progress, stop, allow_diverged, strict, command, ..plain }
    }
}

/// The value of an option; none too if the command does not offer it.
fn value<T: Clone + Send + Sync + 'static>(matches: &ArgMatches, option: &str) -> Option<T> {
    matches.try_get_one(option).ok().flatten().cloned()
}

/// One use of a command.
pub struct Call {
    /// Seed, threads, progress, and the line that makes the same result.
    pub context: Context,
    /// Whether the answer is one JSON value.
    pub json: bool,
    /// The request, if it came as JSON: of policies of other programs, the answer tells of those that it names.
    asked: Option<Value>,
}

impl Call {
    /// Whether the words of a person began it, and not a request in JSON.
    pub fn is_of_person(&self) -> bool {
        self.asked.is_none()
    }

    /// A result: in words, or as JSON.
    ///
    /// # Errors
    /// If it has no JSON, which is a mistake of ours.
    pub fn answer(&self, found: &(impl Serialize + Display)) -> Result<Answer> {
        match self.json {
            true => self.value(found),
            false => Ok(Answer::text(found.to_string())),
        }
    }

    /// A result as JSON, whatever was asked for.
    ///
    /// # Errors
    /// As [`Call::answer`].
    pub fn value(&self, found: &impl Serialize) -> Result<Answer> {
        Ok(Answer::text(serde_json::to_string_pretty(&Told::new(found, self.asked.as_ref()))?))
    }
}

/// What a command answers.
pub struct Answer {
    /// What is printed, if anything is.
    pub text: Option<String>,
    /// The requirements of the user that are not met.
    refusals: Vec<String>,
    /// Whether something was measured, and is not acceptable.
    is_refused: bool,
}

impl Answer {
    /// Lines, of which the last one may lack its end.
    pub fn text(text: impl Into<String>) -> Answer {
        Answer { text: Some(text.into()), ..Answer::nothing() }
    }

    /// Nothing, as the command has printed what there was.
    pub fn nothing() -> Answer {
        Answer { text: None, refusals: Vec::new(), is_refused: false }
    }

    /// The same with what is not acceptable.
    pub fn refused(self, why: impl IntoIterator<Item = String>) -> Answer {
        let refusals: Vec<String> = why.into_iter().collect();
        Answer { is_refused: !refusals.is_empty(), refusals, ..self }
    }

    /// The same, not acceptable unless this holds; the text says why.
    pub fn only_if(self, is_acceptable: bool) -> Answer {
        Answer { is_refused: !is_acceptable, ..self }
    }

    /// Prints it and returns the exit code.
    ///
    /// # Errors
    /// If nobody can be told.
    pub fn tell(&self) -> Result<u8> {
        if let Some(text) = &self.text {
            print(text)?;
        }
        self.refusals.iter().for_each(|why| say(format!("not acceptable: {why}")));
        Ok(u8::from(self.is_refused))
    }
}

/// Prints lines. What a terminal would obey is escaped: names come from outside.
///
/// # Errors
/// If nobody can be told.
pub fn print(text: &str) -> Result<()> {
    let text = outside::lines(text.strip_suffix('\n').unwrap_or(text));
    Ok(writeln!(std::io::stdout().lock(), "{text}")?)
}

/// The arguments of a command as its request.
///
/// # Errors
/// If they are none, which the declaration rules out.
pub fn asked<R: FromArgMatches>(matches: &ArgMatches) -> Result<R> {
    cli::read(matches)
}

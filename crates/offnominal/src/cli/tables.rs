//! `metrics` and `evidence`: what they do beside asking the library, which is to read standard input and to make a key.

use super::command::{Answer, Call, asked};
use anyhow::{Context as _, Result};
use clap::{Arg, ArgMatches, Args, Command, value_parser};
use offnominal_audit::evidence::{self, key::SecretKey};
use offnominal_bench::metrics_file;
use std::io::Read;
use std::path::{Path, PathBuf};

/// The metrics of a file, or of standard input.
pub fn metrics(matches: &ArgMatches, call: &Call) -> Result<Answer> {
    let request: metrics_file::Request = asked(matches)?;
    if request.file != Path::new("-") {
        return call.answer(&metrics_file::run(&request, &call.context)?);
    }
    let mut bytes = Vec::new();
    std::io::stdin().lock().read_to_end(&mut bytes).context("cannot read standard input")?;
    call.answer(&request.judge("standard input", &bytes, &call.context)?)
}

/// `evidence` with the option that makes a key in place of a bundle.
pub fn with_new_key(line: Command) -> Command {
    let new_key = Arg::new("new_key").long("new-key").value_name("FILE").value_parser(value_parser!(PathBuf));
    let help = "Write a new secret key, print its public key; no bundle";
    evidence::Request::augment_args(line)
        .mut_arg("run", |run| run.required(false).required_unless_present("new_key"))
        .arg(new_key.help(help).conflicts_with_all(["run", "key", "json"]))
}

/// The bundle, or a key.
pub fn evidence(matches: &ArgMatches, call: &Call) -> Result<Answer> {
    let Some(path) = matches.get_one::<PathBuf>("new_key") else {
        return call.answer(&evidence::run(&asked(matches)?, &call.context)?);
    };
    let key = SecretKey::new()?;
    key.save(path)?;
    Ok(Answer::text(key.public().to_string()))
}

//! `leaderboard`: results that anybody may submit, checked and ranked.

use crate::cli::{Common, Outcome};
use anyhow::Result;
use clap::{Args, Subcommand};
use offnominal_bench::leaderboard::{self, Submit};
use offnominal_files::write::atomically;
use std::path::PathBuf;

/// Where submissions are, seen from the repository.
const SUBMISSIONS: &str = "leaderboard/submissions";

/// Arguments of `leaderboard`.
#[derive(Debug, Args)]
pub struct Leaderboard {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, Subcommand)]
enum What {
    /// Check every submission, and rank the detectors on a page
    Check(Check),
    /// Make a submission of the results of a suite: a folder with copies, their digests, and what it is
    Add(Add),
}

/// Arguments of `leaderboard check`.
#[derive(Debug, Args)]
struct Check {
    /// The folder of all submissions
    #[arg(value_name = "DIR", default_value = SUBMISSIONS)]
    submissions: PathBuf,
    /// Write the page there, and not to standard output
    #[arg(long, value_name = "FILE.md")]
    page: Option<PathBuf>,
}

/// Arguments of `leaderboard add`.
#[derive(Debug, Args)]
struct Add {
    /// The folder that `bench --suite` wrote
    results: PathBuf,
    /// The suite: `vector` or `images`
    #[arg(long, value_name = "NAME")]
    suite: String,
    /// Name of the submission: small letters, digits and `-`
    #[arg(long)]
    name: String,
    /// Who submits
    #[arg(long, value_name = "WHO")]
    by: String,
    /// The day
    #[arg(long, value_name = "YYYY-MM-DD")]
    date: String,
    /// What is new in it, in a sentence
    #[arg(long, value_name = "TEXT")]
    about: String,
    /// Where the detectors' code can be had
    #[arg(long, value_name = "WHERE")]
    code: String,
    /// The folder of all submissions
    #[arg(long, value_name = "DIR", default_value = SUBMISSIONS)]
    submissions: PathBuf,
}

impl Leaderboard {
    /// Runs the command within.
    ///
    /// # Errors
    /// If a submission is wrong, or a file cannot be read or written.
    pub fn run(self, common: &Common) -> Result<Outcome> {
        match self.what {
            What::Check(check) => check.run(common),
            What::Add(add) => add.run(common),
        }
    }
}

impl Check {
    fn run(self, common: &Common) -> Result<Outcome> {
        let submissions = leaderboard::load(&self.submissions)?;
        let text = leaderboard::page(&submissions)?;
        let Some(page) = self.page else { return common.print_text(text) };
        atomically(&page, text.as_bytes())?;
        Ok(Outcome::Done)
    }
}

impl Add {
    fn run(self, common: &Common) -> Result<Outcome> {
        let Add { results, suite, name, by, date, about, code, submissions } = self;
        common.print(&leaderboard::add(&Submit { results, suite, name, by, date, about, code, submissions })?)
    }
}

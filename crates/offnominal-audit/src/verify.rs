//! `verify`: whether a bundle of [`evidence`](mod@crate::evidence) is what it says.
//!
//! Files are compared with the digests of the manifest, the signature with the manifest, the version with that of this
//! program. Then parts of the work, drawn at random, are done once more from the inputs in the bundle, and must come out
//! with the same bits: draws of an estimate, blocks of roots, cells of an audit or a campaign, and all pairs of a comparison.
//! The result must follow from them. This happens in a process that can start no program, reach no other machine and write
//! nothing outside its folder ([`confined`]), unless whoever checks the bundle allows its programs.
//!
//! If all of n drawn parts agree, then with 95 % confidence at most 1 − 0.05^(1/n) of all parts do not: a part that differs
//! would have been missed with the chance (1 − share)^n.
//!
//! Blind to: a wrong simulator or a wrong program, which are wrong here too.

mod apart;
mod cells;
mod command;
mod draws;
mod pairs;
#[cfg(test)]
mod tests;

use crate::evidence::bundle::Bundle;
use crate::evidence::key::PublicKey;
use crate::evidence::kind::Kind;
use anyhow::{Context as _, Result, anyhow};
use clap::Args;
use offnominal_core::Seed;
use offnominal_core::outside;
use offnominal_engine::context::Context;
use offnominal_engine::request::within;
use offnominal_files::confined;
use offnominal_risk::recompute::Recomputed;
use serde::Serialize;
use std::fmt;
use std::path::{Path, PathBuf};

/// What is checked.
#[derive(Debug, Clone, PartialEq, Eq, Args)]
pub struct Request {
    /// Bundle of `evidence`
    #[arg(value_name = "BUNDLE")]
    pub bundle: PathBuf,
    /// Public key of the signer, as `evidence --new-key` printed it
    #[arg(long, value_name = "KEY")]
    pub key: Option<String>,
    /// Parts to recompute: draws, blocks or cells (at most 20)
    #[arg(long, default_value_t = 20, value_name = "N")]
    pub sample: usize,
    /// Run programs that the bundle names: only if you trust it
    #[arg(long)]
    pub allow_programs: bool,
    /// Seed that chooses the parts [default: from the operating system]
    #[arg(long, value_name = "SEED")]
    pub sample_seed: Option<u64>,
    /// This program, as words, for the processes of its own that do parts once more; if empty, the one that runs.
    #[arg(skip)]
    pub program: Vec<String>,
}

/// What was found.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Report {
    /// The bundle.
    pub bundle: PathBuf,
    /// The command that is said to have made the results.
    pub command: String,
    /// Everything that was checked.
    pub checks: Vec<Check>,
    /// What was done once more, if anything was.
    pub recomputed: Option<Recomputed>,
    /// The seed by which it was drawn.
    pub sample_seed: u64,
}

/// One thing that was checked.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Check {
    /// What.
    pub what: &'static str,
    /// Whether it is as it should be; none if it could not be checked.
    pub holds: Option<bool>,
    /// What was found.
    pub found: String,
}

/// Checks the bundle.
///
/// # Errors
/// If it cannot be read, or the key is none. What is wrong with what it says is no error, but in the report.
pub fn run(request: &Request, context: &Context) -> Result<Report> {
    within("sample", request.sample, 0..=1_000_000)?;
    let key = request.key.as_deref().map(str::parse::<PublicKey>).transpose()?;
    let bundle = Bundle::read(&request.bundle)?;
    let sample_seed = request.sample_seed.map_or_else(unknown, Ok)?;
    let mut checks = vec![files(&bundle), signature(&bundle, key.as_ref()), version(&bundle)];
    let is_sound = checks.iter().all(|check| check.holds != Some(false));
    let mut recomputed = None;
    if request.sample > 0 && is_sound {
        let (check, found) = again(&bundle, request, sample_seed, context);
        checks.push(check);
        recomputed = found;
    }
    let command = bundle.manifest.made.command.clone();
    Ok(Report { bundle: request.bundle.clone(), command, checks, recomputed, sample_seed })
}

/// A seed that nobody knows before.
fn unknown() -> Result<u64> {
    getrandom::u64().map_err(|why| anyhow!("random numbers of the operating system: {why}"))
}

fn files(bundle: &Bundle) -> Check {
    let changes = bundle.changes();
    let found = match &changes[..] {
        [] => format!("{} files have the digests of the manifest", bundle.files.len()),
        [first, rest @ ..] if !rest.is_empty() => format!("{first}, and {} more", rest.len()),
        [first, ..] => first.clone(),
    };
    Check { what: "files", holds: Some(changes.is_empty()), found }
}

fn signature(bundle: &Bundle, key: Option<&PublicKey>) -> Check {
    let (holds, found) = match (bundle.signer(), key.map(PublicKey::to_string)) {
        (Err(why), _) => (Some(false), format!("{why:#}")),
        (Ok(None), Some(key)) => (Some(false), format!("expected that of {key}, found none")),
        (Ok(None), None) => (None, "not signed".into()),
        (Ok(Some(signer)), Some(key)) if signer != key => {
            (Some(false), format!("expected that of {key}, found that of {signer}"))
        }
        (Ok(Some(signer)), Some(_)) => (Some(true), format!("of {signer}")),
        (Ok(Some(signer)), None) => (None, format!("of {signer}; whose key that is, --key would tell")),
    };
    Check { what: "signature", holds, found }
}

fn version(bundle: &Bundle) -> Check {
    let (expected, found) = (env!("CARGO_PKG_VERSION"), &bundle.manifest.made.engine);
    Check {
        what: "version",
        holds: Some(found == expected),
        found: format!("made by {found}, this is {expected}"),
    }
}

/// Some parts once more.
fn again(bundle: &Bundle, request: &Request, seed: u64, context: &Context) -> (Check, Option<Recomputed>) {
    let check = |holds, found| Check { what: "once more", holds, found };
    match recomputed(bundle, request, seed, context) {
        Err(why) => (check(None, format!("not possible: {why:#}")), None),
        Ok(found) => {
            let words = found.differences.first().cloned().unwrap_or_else(|| agreement(&found));
            (check(Some(found.differences.is_empty()), words), Some(found))
        }
    }
}

/// Parts of the work once more: here, if the bundle is trusted, else in a confined process.
fn recomputed(bundle: &Bundle, request: &Request, seed: u64, context: &Context) -> Result<Recomputed> {
    if !request.allow_programs && confined::folder().is_none() {
        return apart::again(bundle, request, seed, context);
    }
    let folder = tempfile::tempdir().context("a folder for what is in the bundle")?;
    let (here, results) = (folder.path().join("inputs"), folder.path().join("results"));
    std::fs::create_dir_all(&here).context("a folder for what is in the bundle")?;
    bundle.unpack(&here, &results)?;
    let mut rng = Seed(seed).child("verify").rng();
    match bundle.manifest.kind {
        Kind::Audit | Kind::Bench => cells::again(bundle, request, (&here, &results), &mut rng),
        Kind::Compare => pairs::again(bundle, request, (&here, &results)),
        Kind::RiskEstimate => draws::again(bundle, request.sample, (&here, &results), &mut rng, context),
    }
}

/// What it says that all parts agree.
fn agreement(found: &Recomputed) -> String {
    let Recomputed { what, of, n, failures, .. } = found;
    let besides = if *failures > 0 { format!(" and {failures} failures") } else { String::new() };
    let most = 100.0 * (1.0 - 0.05_f64.powf(1.0 / *n as f64));
    let all = if n < of {
        format!("; at most {most:.1} % of all differ, with 95 % confidence")
    } else {
        String::new()
    };
    format!("{n} of {of} {what}{besides} came out with the same bits{all}")
}

impl Report {
    /// Whether nothing is wrong; what could not be checked is not.
    pub fn is_sound(&self) -> bool {
        self.checks.iter().all(|check| check.holds != Some(false))
    }

    /// Whether parts were to be done once more and were not.
    pub fn is_incomplete(&self) -> bool {
        self.checks.iter().any(|check| check.what == "once more" && check.holds.is_none())
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let bundle = self.bundle.display().to_string();
        writeln!(f, "{}: {}", outside::line(&bundle), outside::line(&self.command))?;
        for Check { what, holds, found } in &self.checks {
            let mark = match holds {
                Some(true) => "right",
                Some(false) => "WRONG",
                None => "open",
            };
            writeln!(f, "  {what:<10} {mark:<6} {}", outside::line(found))?;
        }
        if self.recomputed.is_some() {
            writeln!(f, "  the same parts again: --sample-seed {}", self.sample_seed)?;
        }
        Ok(())
    }
}

/// Where a word of a command is among unpacked inputs, if it is there.
fn located(inputs: &Path, word: &str) -> Option<PathBuf> {
    let path = inputs.join(word);
    path.is_file().then_some(path)
}

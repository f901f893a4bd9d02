//! `evidence` and `verify`: results that somebody else can check.

use crate::cli::{Common, Outcome};
use anyhow::{Context as _, Result};
use clap::Args;
use offnominal_audit::evidence::key::SecretKey;
use offnominal_audit::{evidence, verify};
use std::path::PathBuf;

/// Arguments of `evidence`.
#[derive(Debug, Args)]
pub struct Evidence {
    /// Folder of a finished `audit`, `bench`, `compare` or `risk estimate`
    #[arg(value_name = "RUN", required_unless_present = "new_key")]
    run: Option<PathBuf>,
    /// The file of a secret key, by which the bundle is signed
    #[arg(long, value_name = "FILE")]
    key: Option<PathBuf>,
    /// Instead of a bundle, write a new secret key into this file and print its public key
    #[arg(long, value_name = "FILE", conflicts_with_all = ["run", "key"])]
    new_key: Option<PathBuf>,
}

impl Evidence {
    /// Writes the bundle, or a key.
    ///
    /// # Errors
    /// If the folder holds no results that can be checked, or a file cannot be read or written.
    pub fn run(&self, common: &Common) -> Result<Outcome> {
        if let Some(path) = &self.new_key {
            let key = SecretKey::new()?;
            key.save(path)?;
            return common.print_text(key.public().to_string());
        }
        let run = self.run.clone().context("run: expected a folder, found none")?;
        let out = common.out.clone().unwrap_or_else(|| "evidence.zip".into());
        let request = evidence::Request { run, key: self.key.clone(), out };
        common.print(&evidence::run(&request, &common.context())?)
    }
}

/// Arguments of `verify`.
#[derive(Debug, Args)]
pub struct Verify {
    /// The bundle that `evidence` wrote
    #[arg(value_name = "BUNDLE")]
    bundle: PathBuf,
    /// The public key that must have signed it, as `evidence --new-key` printed it
    #[arg(long, value_name = "KEY")]
    key: Option<String>,
    /// How many parts are done once more: draws of an estimate, blocks of roots, or cells (at most 20)
    #[arg(long, default_value_t = verify::sample(), value_name = "N")]
    sample: usize,
    /// Run programs, modules of Python and hosted environments that the bundle names: only if you trust who made it
    #[arg(long)]
    allow_programs: bool,
    /// The seed by which parts are drawn [default: from the operating system]
    #[arg(long, value_name = "SEED")]
    sample_seed: Option<u64>,
}

impl Verify {
    /// Checks the bundle; the exit code is 1 if something is wrong, or could not be done once more.
    ///
    /// # Errors
    /// If the bundle cannot be read, or the key is none.
    pub fn run(&self, common: &Common) -> Result<Outcome> {
        let request = verify::Request {
            bundle: self.bundle.clone(),
            key: self.key.clone(),
            sample: self.sample,
            sample_seed: self.sample_seed,
            allow_programs: self.allow_programs,
            program: program()?,
        };
        let report = verify::run(&request, &common.context())?;
        common.print(&report)?;
        let is_right = report.is_sound() && !report.is_incomplete();
        Ok(if is_right { Outcome::Done } else { Outcome::NotAcceptable })
    }
}

/// The words that start this program: the Python package says them, whose process is an interpreter.
fn program() -> Result<Vec<String>> {
    let said = std::env::var("OFFNOMINAL_PROGRAM").ok();
    if let Some(words) = said.as_deref().and_then(shlex::split) {
        return Ok(words);
    }
    let this = std::env::current_exe().context("the path of this program")?;
    Ok(vec![this.display().to_string()])
}

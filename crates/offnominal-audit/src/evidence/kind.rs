//! Of which command a folder holds the results.

use anyhow::{Context as _, Result, bail, ensure};
use offnominal_files::provenance::Provenance;
use offnominal_files::read;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::path::Path;
use strum::VariantArray;

/// A command whose results can be checked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, VariantArray)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// `audit`.
    Audit,
    /// `bench` with a campaign.
    Bench,
    /// `compare`.
    Compare,
    /// `risk estimate`.
    RiskEstimate,
}

impl Kind {
    /// That of a folder.
    ///
    /// # Errors
    /// If it holds the results of none.
    pub fn of(folder: &Path) -> Result<Kind> {
        let found = Kind::VARIANTS.iter().find(|kind| folder.join(kind.result()).is_file());
        if let Some(kind) = found {
            return Ok(*kind);
        }
        let expected: Vec<&str> = Kind::VARIANTS.iter().map(|kind| kind.result()).collect();
        bail!(
            "{}: expected the results of audit, bench, compare or risk estimate (one of {}), found none",
            folder.display(),
            expected.join(", ")
        )
    }

    /// The file by which it is known.
    pub fn result(self) -> &'static str {
        match self {
            Kind::Audit => "audit.json",
            Kind::Bench => "results.json",
            Kind::Compare => "compare.json",
            Kind::RiskEstimate => "risk.json",
        }
    }

    /// What made the results.
    ///
    /// # Errors
    /// If the file does not say. A risk from a library call has no command, but names environment and policy.
    pub fn made(self, folder: &Path) -> Result<Provenance> {
        let path = folder.join(self.result());
        let result: Value = read::json(&path)?;
        let is_recorded = self == Kind::Compare && result.get("pairs").is_none();
        ensure!(
            !is_recorded,
            "{}: expected pairs that were played, found recorded outcomes, which cannot be played again",
            path.display()
        );
        let place = if self == Kind::Bench { "/recipe/made" } else { "/made" };
        let made = result.pointer(place).cloned().unwrap_or_default();
        let mut made: Provenance = serde_json::from_value(made)
            .with_context(|| format!("{}: expected what made it at {place}", path.display()))?;
        if made.command.is_empty() {
            let named = |place| result.pointer(place).and_then(Value::as_str);
            let (env, policy) = (named("/run/env"), named("/run/policy/id"));
            let (env, policy) = env.zip(policy).with_context(|| {
                format!("{}: expected the command that made it, found none", path.display())
            })?;
            let words = ["offnominal", "risk", "estimate", "--env", env, "--policy", policy];
            made.command = shlex::try_join(words).context("names without zeros")?;
        }
        Ok(made)
    }
}

//! `risk sensitivity`: which parts of an initial condition decide whether an episode fails.
//!
//! f says whether an episode fails; it is a function of the parts of its initial condition and of its random numbers,
//! which count as a part too. Sobol's two shares of the variance of f are, for a part j:
//!
//! - the *total effect*, what is due to j alone or together with others: (1 − q) / (1 − p), where q is the share of the
//!   failures that fail again if j alone is drawn anew (Jansen 1999);
//! - the *first-order effect*, what is due to j alone: (r − p) / (1 − p), where r is the share of the failures that fail
//!   again if all but j is drawn anew (Sobol 1993).
//!
//! Because f is 0 or 1, both need the failures only, and a rare failure costs no more than a common one.
//!
//! Assumes: parts are drawn independently of one another, and the run is one of plain draws.
//! References: Sobol, "Sensitivity estimates for nonlinear mathematical models", 1993; Jansen, "Analysis of variance
//! designs for model output", 1999.
//!
//! | file      | content                                              |
//! |-----------|------------------------------------------------------|
//! | [`parts`] | the parts of an initial condition                    |
//! | [`effect`] | failures once more, and the effects that they show  |

pub mod effect;
pub mod parts;
#[cfg(test)]
mod tests;

use crate::estimate::block::Method;
use crate::estimate::document::Document;
use crate::experimenter::Experimenter;
use crate::replay::subject_of;
use crate::request::{self, defaults, within};
use anyhow::{Result, ensure};
use effect::{Effect, Failures};
use offnominal_core::estimate::Estimate;
use offnominal_core::spec::EnvSpec;
use offnominal_engine::context::Context;
use offnominal_engine::provenance;
use offnominal_files::lock::Lock;
use offnominal_files::provenance::Provenance;
use offnominal_stats::Level;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::path::PathBuf;

/// Whose failures are played again.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Request {
    /// Folder of an [`estimate`](crate::estimate) of plain episodes.
    pub run: PathBuf,
    /// The policy, where it is not to be found under the name it had.
    pub policy: Option<String>,
    /// How often each failure is played again for each effect of each part.
    #[serde(default = "redraws")]
    pub redraws: u64,
    /// Whether each number of an initial condition is a part, in place of all whose names differ in their last number.
    #[serde(default)]
    pub each: bool,
    /// Confidence level of the intervals, between 0 and 1.
    #[serde(default = "request::level")]
    pub level: f64,
    /// Folder for `sensitivity.json`; if absent, nothing is written.
    pub out: Option<PathBuf>,
    /// The command that the result names as its origin.
    pub command: Option<String>,
}

defaults! {
    redraws: u64 = 4;
}

/// What decides.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Report {
    /// What made it.
    pub made: Provenance,
    /// Id of the environment.
    pub env: String,
    /// Label of the policy.
    pub policy: String,
    /// Experiments of the run.
    pub experiments: u64,
    /// Failures of the run.
    pub failures: usize,
    /// Episodes that were played for the effects.
    pub episodes: u64,
    /// One row for each part, the largest total effect first.
    pub parts: Vec<Effect>,
}

/// The most parts for which effects are computed.
const MOST_PARTS: usize = 1000;

/// Plays each failure again with each part drawn anew, and with all others drawn anew.
///
/// # Errors
/// If the run or the policy cannot be read, the run has other draws than plain ones or saw no failure, an initial condition
/// cannot be varied, or a file cannot be written.
pub fn run(request: &Request, context: &Context) -> Result<Report> {
    let level = Level::try_from(request.level)?;
    within("redraws", request.redraws, 1..=10_000)?;
    let _held = request.out.as_deref().map(Lock::folder).transpose()?;
    let document = request.document()?;
    let subject = subject_of(&document, request.policy.as_deref())?;
    let by = Experimenter::new(&subject, document.run.seed)?
        .disturbed_by(document.run.anomaly_spec.as_ref())
        .allowing(u64::MAX);
    let parts = parts::of(&subject.env.spec().initial, request.each);
    within("parts", parts.len(), 1..=MOST_PARTS)?;
    let failures = Failures::new(by, &document, request.redraws, level)?;
    let bar = context.task(2 * parts.len(), "effects");
    let effects = parts.iter().map(|part| failures.effect(part, context, &bar)).collect::<Result<_>>()?;
    let report = request.report(&document, subject.env.spec(), effects)?;
    request::write_json(request.out.as_deref(), "sensitivity.json", &report)?;
    Ok(report)
}

impl Request {
    /// The run, if its failures come as often as they do.
    fn document(&self) -> Result<Document> {
        let (document, run) = (Document::read(&self.run)?, self.run.display());
        ensure!(
            document.run.method == Method::Plain,
            "{run}: expected a run of `risk estimate --method plain`, as failures must come as often as they do"
        );
        ensure!(!document.failures.is_empty(), "{run}: expected failures to play again, found none");
        Ok(document)
    }

    fn report(&self, document: &Document, spec: &EnvSpec, mut parts: Vec<Effect>) -> Result<Report> {
        parts.sort_by(|a, b| b.total.value.total_cmp(&a.total.value));
        let (command, config) =
            (self.command.as_deref().unwrap_or_default(), serde_json::to_vec(&document.run)?);
        Ok(Report {
            made: provenance::made(command, document.run.seed, &config, &[spec], &[&document.run.policy]),
            env: document.run.env.clone(),
            policy: document.run.policy.label(),
            experiments: document.experiments,
            failures: document.failures.len(),
            episodes: 2 * self.redraws * (parts.len() * document.failures.len()) as u64,
            parts,
        })
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Report { env, policy, failures, experiments, .. } = self;
        writeln!(
            f,
            "{policy} in {env}: {failures} failures in {experiments} experiments, by what they are due to"
        )?;
        writeln!(
            f,
            "  {:<24} {:<20} {:<20} among failures, in standard deviations",
            "part", "total", "alone"
        )?;
        let short = |e: &Estimate| format!("{:.2} [{:.2}, {:.2}]", e.value, e.low, e.high);
        for Effect { part, total, first, shift, .. } in &self.parts {
            let shift = shift.as_ref().map(|e| format!("{:+.2} [{:+.2}, {:+.2}]", e.value, e.low, e.high));
            let (total, first) = (short(total), short(first));
            writeln!(f, "  {part:<24} {total:<20} {first:<20} {}", shift.unwrap_or_default())?;
        }
        Ok(())
    }
}

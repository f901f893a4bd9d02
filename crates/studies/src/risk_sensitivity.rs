//! Which parts of an initial condition decide whether an episode fails?
//!
//! `cargo run --release -p studies -- risk-sensitivity RUN > studies/risk/hopper/sensitivity.json`
//!
//! RUN is the folder of an `offnominal risk estimate --method plain`. f says whether an episode fails; it is a function of
//! the parts of its initial condition and of its random numbers, which count as a part too. Sobol's two shares of the
//! variance of f are, for a part j:
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

mod effect;
mod sobol;

use crate::played::{again, finished, print};
use anyhow::{Result, bail, ensure};
use effect::{Effect, Failures, Part, REDRAWS};
use offnominal_risk::estimate::block::Method;
use offnominal_risk::estimate::document::Document;
use serde::Serialize;
use std::path::Path;

/// What decides.
#[derive(Serialize)]
struct Report {
    env: String,
    policy: String,
    experiments: u64,
    failures: usize,
    /// Episodes that were played for the effects.
    episodes: u64,
    /// One row for each part, the largest total effect first.
    parts: Vec<Effect>,
}

/// Runs the study.
///
/// # Errors
/// If the run or its policy cannot be read, the run has other draws than plain ones or saw no failure, or an initial
/// condition cannot be varied.
pub fn run(args: &[String]) -> Result<()> {
    let [run] = args else { bail!("expected the folder of a run, found {} words", args.len()) };
    let (document, subject) = finished(Path::new(run))?;
    ensure!(
        document.run.method == Method::Plain,
        "{run}: expected a run of `risk estimate --method plain`, as failures must come as often as they do"
    );
    ensure!(!document.failures.is_empty(), "{run}: expected failures to play again, found none");
    let failures = Failures::new(again(&document, &subject)?, &document)?;
    let parts = parts(&subject.env.spec().initial);
    let mut effects = parts.iter().map(|part| failures.effect(part)).collect::<Result<Vec<Effect>>>()?;
    effects.sort_by(|a, b| b.total.value.total_cmp(&a.total.value));
    print(&Report::of(&document, effects))
}

impl Report {
    fn of(document: &Document, parts: Vec<Effect>) -> Report {
        let failures = document.failures.len();
        Report {
            env: document.run.env.clone(),
            policy: document.run.policy.label(),
            experiments: document.experiments,
            failures,
            episodes: 2 * REDRAWS * (parts.len() * failures) as u64,
            parts,
        }
    }
}

/// The parts of initial conditions with these names, and the random numbers. Numbers whose names differ in their last
/// digits only, such as those of a track, are one part.
fn parts(names: &[String]) -> Vec<Part> {
    let mut parts: Vec<Part> = Vec::new();
    for (i, name) in names.iter().enumerate() {
        let stem = stem(name);
        match parts.iter_mut().find(|part| part.name == stem) {
            Some(part) => part.numbers.push(i),
            None => parts.push(Part { name: stem.into(), numbers: vec![i], is_randomness: false }),
        }
    }
    parts.push(Part { name: "random numbers".into(), numbers: vec![], is_randomness: true });
    parts
}

/// A name without the number at its end.
fn stem(name: &str) -> &str {
    let stem = name.trim_end_matches(|c: char| c.is_ascii_digit()).trim_end_matches(['_', '-', '.', ' ']);
    if stem.is_empty() { name } else { stem }
}

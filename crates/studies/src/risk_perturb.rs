//! Do failures fail again from initial conditions near by? That bounds what any predictor of initial conditions can do.
//!
//! `cargo run --release -p studies -- risk-perturb RUN > studies/risk/driving/perturb.json`
//!
//! RUN is the folder of an `offnominal risk estimate`. Each of its failures is played once with each change.

use crate::played::{again, context, failures, finished, moments, print};
use anyhow::{Context as _, Result, bail, ensure};
use offnominal_core::estimate::Estimate;
use offnominal_core::prelude::*;
use offnominal_risk::experimenter::Experimenter;
use offnominal_stats::Level;
use offnominal_stats::proportion::clopper_pearson;
use serde::Serialize;
use std::path::Path;

/// How often failures fail again.
#[derive(Serialize)]
struct Report {
    env: String,
    failures: usize,
    rows: Vec<Row>,
}

/// One way to begin near by, and the share of the failures that fail again.
#[derive(Serialize)]
struct Row {
    change: Change,
    fails_again: Estimate,
}

/// What is changed of a failure.
#[derive(Clone, Copy, Serialize)]
#[serde(rename_all = "kebab-case")]
enum Change {
    /// Nothing: the experiment itself.
    Nothing,
    /// The random numbers of the environment and the policy, not where the episode begins.
    Randomness,
    /// Initial conditions in single precision.
    Rounding,
    /// A normal deviate is added to each number, in shares of its standard deviation among draws.
    Deviation(f64),
}

/// The changes, from the smallest on.
const CHANGES: [Change; 6] = [
    Change::Nothing,
    Change::Rounding,
    Change::Deviation(1e-6),
    Change::Deviation(1e-4),
    Change::Deviation(1e-2),
    Change::Randomness,
];

/// Runs the study.
///
/// # Errors
/// If the run or its policy cannot be read, it saw no failure, or none near by can be begun from.
pub fn run(args: &[String]) -> Result<()> {
    let [run] = args else { bail!("expected the folder of a run, found {} words", args.len()) };
    let (document, subject) = finished(Path::new(run))?;
    let by = again(&document, &subject)?;
    let found = failures(&document);
    ensure!(!found.is_empty(), "{run}: expected failures to play again, found none");
    let rows = rows(&by, &found)?;
    print(&Report { env: document.run.env.clone(), failures: found.len(), rows })
}

fn rows(by: &Experimenter<'_>, failures: &[(Seed, &[f64])]) -> Result<Vec<Row>> {
    let scales: Vec<f64> = moments(by).into_iter().map(|(_, deviation)| deviation).collect();
    let row = |change: Change| {
        let again = context(0).map(failures.len(), "failures", |i| {
            let (key, x) = change.of(by, failures[i], &scales)?;
            Ok(by.play(key, &x)?.failed)
        })?;
        let failed = again.iter().filter(|failed| **failed).count();
        Ok(Row { change, fails_again: clopper_pearson(failed, again.len(), Level::P95)? })
    };
    CHANGES.into_iter().map(row).collect()
}

impl Change {
    /// The key and the initial condition of a failure after the change.
    fn of(self, by: &Experimenter<'_>, (key, x): (Seed, &[f64]), scales: &[f64]) -> Result<(Seed, Vec<f64>)> {
        Ok(match self {
            Change::Nothing => (key, x.to_vec()),
            Change::Randomness => (key.child("again"), x.to_vec()),
            Change::Rounding => (key, x.iter().map(|&v| f64::from(v as f32)).collect()),
            Change::Deviation(share) => (key, near(by, x, share, scales, &mut key.child("near").rng())?),
        })
    }
}

/// A condition near by that the environment can begin from.
fn near(by: &Experimenter<'_>, x: &[f64], share: f64, scales: &[f64], rng: &mut Rng) -> Result<Vec<f64>> {
    const TRIES: usize = 1000;
    let search = by.subject.env.failure_search();
    let mut one =
        || -> Vec<f64> { x.iter().zip(scales).map(|(v, s)| v + share * s * rng.normal()).collect() };
    let found = (0..TRIES).map(|_| one()).find(|near| search.admits(near));
    found.with_context(|| format!("expected a condition near {x:?} that can be begun from, found none"))
}

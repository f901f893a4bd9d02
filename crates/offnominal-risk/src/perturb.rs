//! `risk replay --perturb`: whether the failures of a run fail again from initial conditions near by, which bounds what
//! any predictor of initial conditions can do.

use crate::estimate::document::Document;
use crate::experimenter::Experimenter;
use crate::record::in_chunks;
use crate::replay::subject_of;
use crate::request;
use anyhow::{Context as _, Result, ensure};
use offnominal_core::estimate::Estimate;
use offnominal_core::prelude::*;
use offnominal_engine::context::Context;
use offnominal_stats::Level;
use offnominal_stats::proportion::clopper_pearson;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::path::PathBuf;

/// Whose failures are played again.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Request {
    /// Folder of an [`estimate`](crate::estimate).
    pub run: PathBuf,
    /// The policy, where it is not to be found under the name it had.
    pub policy: Option<String>,
    /// Confidence level of the intervals, between 0 and 1.
    #[serde(default = "request::level")]
    pub level: f64,
    /// Folder for `perturb.json`; if absent, nothing is written.
    pub out: Option<PathBuf>,
}

/// How often failures fail again.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Report {
    /// Id of the environment.
    pub env: String,
    /// Failures of the run.
    pub failures: usize,
    /// One row for each way to begin near by.
    pub rows: Vec<Row>,
}

/// One way to begin near by.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Row {
    /// What was changed.
    pub change: Change,
    /// Share of the failures that fail again, each tried once.
    pub fails_again: Estimate,
}

/// What is changed of a failure.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Change {
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

/// Draws from which means and standard deviations are known.
const DRAWS: u64 = 1000;

/// Plays each failure of a run once with each change.
///
/// # Errors
/// If the run or the policy cannot be read, the run saw no failure, none near by can be begun from, or a file cannot be
/// written.
pub fn run(request: &Request, context: &Context) -> Result<Report> {
    let level = Level::try_from(request.level)?;
    let document = Document::read(&request.run)?;
    let subject = subject_of(&document, request.policy.as_deref())?;
    let by = Experimenter::new(&subject, document.run.seed)?
        .disturbed_by(document.run.anomaly_spec.as_ref())
        .allowing(u64::MAX);
    let failures: Vec<(Seed, &[f64])> = document.failures.iter().map(|f| (f.key, &f.x[..])).collect();
    ensure!(!failures.is_empty(), "{}: expected failures to play again, found none", request.run.display());
    let rows = rows(&by, &failures, level, context)?;
    let report = Report { env: document.run.env.clone(), failures: failures.len(), rows };
    request::write_json(request.out.as_deref(), "perturb.json", &report)?;
    Ok(report)
}

/// One row for each change of failures, of which the key and the initial condition are known.
pub(crate) fn rows(
    by: &Experimenter<'_>,
    failures: &[(Seed, &[f64])],
    level: Level,
    context: &Context,
) -> Result<Vec<Row>> {
    let scales: Vec<f64> = moments(by).into_iter().map(|(_, deviation)| deviation).collect();
    let row = |change: Change| {
        let again = in_chunks(context, 0..failures.len() as u64, 4, |range| {
            let one = |i: u64| {
                let (key, x) = change.of(by, failures[i as usize], &scales)?;
                Ok(by.play(key, &x)?.failed)
            };
            range.map(one).collect()
        })?;
        let failed = again.iter().filter(|failed| **failed).count();
        Ok(Row { change, fails_again: clopper_pearson(failed, again.len(), level)? })
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
            Change::Deviation(share) => {
                let mut rng = key.child("near").rng();
                (key, near(by, x, share, scales, &mut rng)?)
            }
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

/// Mean and standard deviation of each number of an initial condition, among draws.
pub(crate) fn moments(by: &Experimenter<'_>) -> Vec<(f64, f64)> {
    let draws: Vec<Vec<f64>> = (0..DRAWS).map(|i| by.draw(by.key("scales", i))).collect();
    let of = |k: usize| {
        let mean = draws.iter().map(|x| x[k]).sum::<f64>() / draws.len() as f64;
        let variance = draws.iter().map(|x| (x[k] - mean).powi(2)).sum::<f64>() / draws.len() as f64;
        (mean, variance.sqrt())
    };
    (0..draws[0].len()).map(of).collect()
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}: {} failures, each once more after a change", self.env, self.failures)?;
        for Row { change, fails_again } in &self.rows {
            let Estimate { value, low, high, .. } = fails_again;
            let what = match change {
                Change::Nothing => "nothing".into(),
                Change::Randomness => "other random numbers".into(),
                Change::Rounding => "rounded to single precision".into(),
                Change::Deviation(share) => format!("{share:e} standard deviations"),
            };
            writeln!(f, "  {what:<28} {value:.2} [{low:.2}, {high:.2}] fail again")?;
        }
        Ok(())
    }
}

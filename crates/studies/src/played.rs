//! What studies that play a policy have in common: their words, their threads, and the result as JSON.

use anyhow::Result;
use clap::Args;
use offnominal_core::prelude::*;
use offnominal_engine::context::Context;
use offnominal_engine::scenario::ScenarioRequest;
use offnominal_engine::subject::Subject;
use offnominal_risk::estimate::document::Document;
use offnominal_risk::experimenter::Experimenter;
use offnominal_risk::replay::subject_of;
use serde::Serialize;
use std::path::Path;

/// Who plays where.
#[derive(Debug, Args)]
pub struct Played {
    /// Environment id
    #[arg(long)]
    env: String,
    /// The policy, as for `offnominal risk estimate`
    #[arg(long)]
    pub policy: String,
    /// Parameters that are drawn for each episode
    #[arg(long, value_delimiter = ',')]
    randomise: Vec<String>,
    /// Their standard deviation, relative to the nominal values
    #[arg(long, default_value_t = ScenarioRequest::default().sigma)]
    sigma: f64,
    /// The return below which an episode fails
    #[arg(long)]
    below: Option<f64>,
}

impl Played {
    /// The policy in the environment.
    ///
    /// # Errors
    /// If one of them cannot be had.
    pub fn subject(&self, policy: &str) -> Result<Subject> {
        let (parameters, sigma, below) = (self.randomise.clone(), self.sigma, self.below);
        let scenario = ScenarioRequest { randomise: parameters, sigma, below, ..ScenarioRequest::default() };
        scenario.subject(&self.env, policy)
    }
}

/// All threads of the machine.
pub fn context(seed: u64) -> Context {
    Context::silent(seed, std::thread::available_parallelism().map_or(1, usize::from))
}

/// Prints a result.
///
/// # Errors
/// If it is no JSON.
pub fn print(result: &impl Serialize) -> Result<()> {
    println!("{:#}", serde_json::to_value(result)?);
    Ok(())
}

/// The run in a folder, and its policy where it played.
///
/// # Errors
/// If the folder holds no finished run, or the policy is no longer to be had.
pub fn finished(run: &Path) -> Result<(Document, Subject)> {
    let document = Document::read(run)?;
    let subject = subject_of(&document, None)?;
    Ok((document, subject))
}

/// Who makes the experiments of a finished run once more; those without an outcome count as failures.
///
/// # Errors
/// If the environment cannot be copied.
pub fn again<'r>(document: &'r Document, subject: &'r Subject) -> Result<Experimenter<'r>> {
    let by = Experimenter::new(subject, document.run.seed)?;
    Ok(by.disturbed_by(document.run.anomaly_spec.as_ref()).allowing(u64::MAX))
}

/// Draws from which means and standard deviations are known.
const DRAWS: u64 = 1000;

/// Mean and standard deviation of each number of an initial condition, among draws.
pub fn moments(by: &Experimenter<'_>) -> Vec<(f64, f64)> {
    let draws: Vec<Vec<f64>> = (0..DRAWS).map(|i| by.draw(by.key("scales", i))).collect();
    let of = |k: usize| {
        let mean = draws.iter().map(|x| x[k]).sum::<f64>() / draws.len() as f64;
        let variance = draws.iter().map(|x| (x[k] - mean).powi(2)).sum::<f64>() / draws.len() as f64;
        (mean, variance.sqrt())
    };
    (0..draws[0].len()).map(of).collect()
}

/// The keys and initial conditions of the failures of a run.
pub fn failures(document: &Document) -> Vec<(Seed, &[f64])> {
    document.failures.iter().map(|f| (f.key, &f.x[..])).collect()
}

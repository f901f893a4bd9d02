//! What does a method gain over counting? Measured by runs that were repeated, and not promised by one run.
//!
//! `cargo run --release -p studies -- risk-replicates RUN … --truth PLAIN > studies/risk/driving/thinned-gain-4.json`
//!
//! A single RUN of `risk-thinned` is cut into parts, which do not depend on one another, so that each is a replicate of a
//! shorter run. At least twenty RUNs of `offnominal risk estimate` with seeds of their own are replicates too; only they can
//! be where a run learns from its own experiments. PLAIN is a plain `offnominal risk estimate` of another seed. Replicates
//! are compared with it: their mean with the truth, their variance times cost with that of counting, their intervals with
//! what they promise, and how often they are off by more than a factor with how often counting is (figures 1 and 3 of
//! Uesato et al., 2018). The statistics are in [`gain`]. Costs are in plain episodes, by steps.

mod curve;
mod gain;
mod runs;

use crate::played::print;
use anyhow::{Context as _, Result, ensure};
use clap::Parser;
use curve::Curve;
use gain::{Known, Replicate};
use offnominal_core::Seed;
use offnominal_core::estimate::Estimate;
use offnominal_files::dataset::PolicyName;
use offnominal_risk::estimate::block::{ExperimentSpec, Method};
use offnominal_risk::estimate::document::Document;
use offnominal_stats::Level;
use offnominal_stats::proportion::clopper_pearson;
use serde::Serialize;
use std::path::PathBuf;

/// What does a method gain over counting?
#[derive(Debug, Parser)]
#[command(name = "risk-replicates", no_binary_name = true)]
struct Asked {
    /// Folder of a `risk-thinned`, or folders of at least 20 `risk estimate`s that are alike but for their seeds
    #[arg(required = true)]
    runs: Vec<PathBuf>,
    /// Folder of a plain `risk estimate` of the same policy, with another seed
    #[arg(long)]
    truth: PathBuf,
    /// Number of replicates that one run is cut into
    #[arg(long, default_value_t = 200)]
    replicates: usize,
    /// A factor within which an estimate is to be
    #[arg(long, default_values_t = [3.0])]
    factor: Vec<f64>,
    #[arg(long, default_value_t = 0)]
    seed: u64,
}

/// What replicates say of a method.
#[derive(Serialize)]
struct Report {
    env: String,
    policy: String,
    /// What is judged.
    method: String,
    /// The failure probability by plain episodes of another seed.
    truth: Estimate,
    replicates: usize,
    draws_each: u64,
    experiments_each: f64,
    cost_each: f64,
    /// The mean of the replicates, and its standard error.
    mean: f64,
    standard_error: f64,
    /// Variance of counting at the same cost over that of the replicates.
    gain: Estimate,
    /// Share of the replicates whose interval holds the truth.
    covered: Estimate,
    /// How the variance is spread over the experiments that failed.
    spread: Spread,
    /// For each factor, how often parts of growing size are off by more.
    curves: Vec<Curve>,
}

/// How much of the variance comes from few experiments.
#[derive(Serialize)]
struct Spread {
    /// Experiments with a failure.
    failed: usize,
    /// The fewest of them that make up half of the sum of squares.
    half: usize,
    /// The share of these in the estimate.
    share_of_estimate: f64,
}

/// Replicates, and what their runs say of themselves.
struct Replicated {
    run: ExperimentSpec,
    method: String,
    draws_each: u64,
    experiments_each: f64,
    all: Vec<Replicate>,
    /// Whether the interval of each holds the truth.
    held: Vec<bool>,
    spread: Spread,
    curves: Vec<Curve>,
}

/// Replicates that tell a variance.
const FEWEST: usize = 20;

/// Runs the study.
///
/// # Errors
/// If a folder holds no finished run, runs are of different things or of one seed, or there is too little of them or of the
/// truth.
pub fn run(args: &[String]) -> Result<()> {
    let asked = Asked::parse_from(args);
    let n = asked.runs.len();
    ensure!(n == 1 || n >= FEWEST, "runs: expected one or at least {FEWEST}, found {n}");
    ensure!(asked.replicates >= FEWEST, "replicates: expected at least {FEWEST}, found {}", asked.replicates);
    ensure!(
        asked.factor.iter().all(|f| *f >= 1.01),
        "factor: expected at least 1.01, found {:?}",
        asked.factor
    );
    let truth = Document::read(&asked.truth)?;
    let replicated = if n == 1 { runs::cut(&asked, &truth)? } else { runs::many(&asked, &truth)? };
    print(&replicated.judge(&asked, &truth)?)
}

/// How often the truth failed.
fn known(truth: &Document) -> Known {
    Known { failures: truth.failures.len(), episodes: truth.experiments as usize }
}

impl Replicated {
    fn judge(self, asked: &Asked, truth: &Document) -> Result<Report> {
        let (all, known) = (&self.all, known(truth));
        let (mean, standard_error) = gain::centre(all);
        let held = self.held.iter().filter(|held| **held).count();
        Ok(Report {
            truth: clopper_pearson(known.failures, known.episodes, Level::P95)?,
            replicates: all.len(),
            cost_each: all.iter().map(|r| r.cost).sum::<f64>() / all.len() as f64,
            mean,
            standard_error,
            gain: gain::gain(all, known, Level::P95, Seed(asked.seed).child("replicates"))?,
            covered: clopper_pearson(held, self.held.len(), Level::P95)?,
            env: self.run.env,
            policy: self.run.policy.id,
            method: self.method,
            draws_each: self.draws_each,
            experiments_each: self.experiments_each,
            spread: self.spread,
            curves: self.curves,
        })
    }
}

impl Spread {
    /// That of these terms of an estimate.
    ///
    /// # Errors
    /// If there is none above zero.
    fn of(mut terms: Vec<f64>) -> Result<Spread> {
        terms.sort_by(|a, b| b.total_cmp(a));
        let squares: f64 = terms.iter().map(|t| t * t).sum();
        let mut sum = 0.0;
        let half = terms.iter().position(|t| {
            sum += t * t;
            2.0 * sum >= squares
        });
        let half = half.context("expected a failure, found none")? + 1;
        let share_of_estimate = terms[..half].iter().sum::<f64>() / terms.iter().sum::<f64>();
        Ok(Spread { failed: terms.len(), half, share_of_estimate })
    }
}

/// How initial conditions were chosen, in words.
fn draws(method: &Method) -> String {
    match method {
        Method::Thinned { exponent, .. } => format!("thinned draws, exponent {exponent}"),
        Method::Adaptive { predictor: None, .. } => "adaptive draws".into(),
        Method::Adaptive { .. } => "adaptive draws with a predictor".into(),
        Method::Plain => "plain draws".into(),
        Method::Importance { .. } => "importance sampling".into(),
    }
}

/// Refuses a truth that is no independent one of the same thing.
fn independent(run: &ExperimentSpec, truth: &Document) -> Result<()> {
    let of = &truth.run;
    // The policy may have another name by now.
    let policy = PolicyName { id: run.policy.id.clone(), ..of.policy.clone() };
    let alike = ExperimentSpec { seed: run.seed, method: run.method.clone(), policy, ..of.clone() };
    ensure!(
        alike == *run,
        "truth: expected environment, policy, scenario and fault of the run, found others"
    );
    ensure!(of.method == Method::Plain, "truth: expected method plain, found another");
    ensure!(
        run.seed != of.seed,
        "truth: expected another seed than {}, that of the run, found the same",
        run.seed
    );
    Ok(())
}

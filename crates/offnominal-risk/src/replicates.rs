//! `risk replicates`: what a method gains over counting, measured and not promised.
//!
//! The blocks of a long [`fork`](crate::forks) run do not depend on one another, so that equal parts of it are replicates
//! of a shorter run. Runs of an [`estimate`](crate::estimate) with seeds of their own are replicates too; only they can be
//! where a run learns from its own experiments. Replicates are compared with plain episodes of another seed: their mean with the truth, their variance
//! times cost with that of counting, their intervals with what they promise, and how often they are off by more than a
//! factor with how often counting is (figures 1 and 3 of Uesato et al., 2018). The statistics are those of
//! [`offnominal_stats::risk::replicates`].
//!
//! | file     | content                                                          |
//! |----------|------------------------------------------------------------------|
//! | `parts`  | a finished run, in parts that can be put together                |
//! | `runs`   | several runs that are alike but for their seeds                  |
//! | `curve`  | how often parts of growing size are off                          |
//! | `chart`  | the same as a picture                                            |
//! | `page`   | everything as a page                                             |

mod chart;
mod curve;
mod page;
mod parts;
mod runs;
#[cfg(test)]
mod tests;

use crate::estimate::block::Method;
use crate::estimate::document::{Document, probability};
use crate::request::{self, defaults, positive, within};
use anyhow::{Context as _, Result, ensure};
use curve::Curve;
use offnominal_core::Seed;
use offnominal_core::estimate::Estimate;
use offnominal_engine::context::Context;
use offnominal_engine::provenance;
use offnominal_engine::scenario::Scenario;
use offnominal_files::dataset::PolicyName;
use offnominal_files::lock::Lock;
use offnominal_files::provenance::Provenance;
use offnominal_files::write;
use offnominal_stats::Level;
use offnominal_stats::proportion::clopper_pearson;
use offnominal_stats::risk::replicates::{self, Replicate, Truth};
use parts::Parts;
use runs::Runs;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::path::PathBuf;

/// Which run or runs are judged, by which truth.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Request {
    /// Folder of a [`fork`](crate::forks) run, or folders of [`estimate`](crate::estimate) runs that are alike but for
    /// their seeds, at least 20.
    pub runs: Vec<PathBuf>,
    /// Folder of a plain [`estimate`](crate::estimate) of the same policy, with another seed.
    pub truth: PathBuf,
    /// Number of replicates that one run is cut into, at least 20; several runs are as many replicates.
    #[serde(default = "replicates")]
    pub replicates: usize,
    /// Factors within which an estimate is to be, each at least 1.01.
    #[serde(default = "factors")]
    pub factors: Vec<f64>,
    /// Confidence level of the intervals, between 0 and 1.
    #[serde(default = "request::level")]
    pub level: f64,
    /// Folder for result and page; if absent, nothing is written.
    pub out: Option<PathBuf>,
    /// The command that the result names as its origin.
    pub command: Option<String>,
}

defaults! {
    replicates: usize = 200;
    factors: Vec<f64> = vec![3.0];
}

/// What replicates say of a method.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Report {
    /// Id of the environment.
    pub env: String,
    /// The policy.
    pub policy: String,
    /// What is judged.
    pub method: String,
    /// The failure probability by plain episodes of another seed.
    pub truth: Estimate,
    /// Number of replicates.
    pub replicates: usize,
    /// Draws of initial conditions behind each.
    pub draws_each: u64,
    /// Experiments of each, on average.
    pub experiments_each: f64,
    /// What each cost, in plain episodes.
    pub cost_each: f64,
    /// The mean of the replicates.
    pub mean: f64,
    /// Its standard error.
    pub standard_error: f64,
    /// Variance of counting at the same cost over that of the replicates.
    pub gain: Estimate,
    /// Share of the replicates whose interval holds the truth.
    pub covered: Estimate,
    /// How the variance is spread over the experiments that failed.
    pub spread: Spread,
    /// For each factor, how often parts of growing size are off by more.
    pub curves: Vec<Curve>,
    /// What made it.
    pub made: Provenance,
}

/// How much of the variance comes from few experiments.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Spread {
    /// Experiments with a failure.
    pub failed: usize,
    /// The fewest of them that make up half of the sum of squares.
    pub half: usize,
    /// The share of these in the estimate.
    pub share_of_estimate: f64,
}

/// Replicates, and what their runs say of themselves.
struct Replicated {
    env: String,
    policy: String,
    method: String,
    /// What was run, as plain data.
    config: Vec<u8>,
    draws_each: u64,
    experiments_each: f64,
    all: Vec<Replicate>,
    /// Whether the interval of each holds the truth.
    held: Vec<bool>,
    spread: Spread,
    curves: Vec<Curve>,
}

/// Judges the replicates that a run is cut into, or that several runs are.
///
/// # Errors
/// If a folder holds no finished run, runs are of different things or of one seed, there is too little of them or of the
/// truth, or a file cannot be written.
pub fn run(request: &Request, context: &Context) -> Result<Report> {
    let level = Level::try_from(request.level)?;
    request.check()?;
    let _held = request.out.as_deref().map(Lock::folder).transpose()?;
    let truth = Document::read(&request.truth)?;
    let replicated = match &request.runs[..] {
        [run] => Parts::read(run, &truth)?.replicated(request, known(&truth).p(), level)?,
        runs => Runs::read(runs, &truth)?.replicated(request, known(&truth).p(), level)?,
    };
    let report = replicated.judge(request, &truth, level, context)?;
    if let Some(folder) = &request.out {
        request::write_json(Some(folder), "replicates.json", &report)?;
        write::atomically(&folder.join("replicates.html"), page::render(&report)?.as_bytes())?;
    }
    Ok(report)
}

/// How often the truth failed.
fn known(truth: &Document) -> Truth {
    Truth { failures: truth.failures.len(), episodes: truth.experiments as usize }
}

impl Request {
    fn check(&self) -> Result<()> {
        within("replicates", self.replicates, FEWEST..=100_000)?;
        let n = self.runs.len();
        ensure!(n == 1 || n >= FEWEST, "runs: expected one or at least {FEWEST}, found {n}");
        ensure!(!self.factors.is_empty(), "factors: expected at least one, found none");
        let check = |factor: &f64| {
            positive("factor", *factor, 1e6)?;
            ensure!(*factor >= 1.01, "factor: expected at least 1.01, found {factor}");
            Ok(())
        };
        self.factors.iter().try_for_each(check)
    }
}

/// Replicates that tell a variance.
const FEWEST: usize = 20;

impl Replicated {
    fn judge(self, request: &Request, truth: &Document, level: Level, context: &Context) -> Result<Report> {
        let (all, known) = (&self.all, known(truth));
        let (mean, standard_error) = replicates::centre(all);
        let held = self.held.iter().filter(|held| **held).count();
        let command = request.command.as_deref().unwrap_or_default();
        Ok(Report {
            truth: clopper_pearson(known.failures, known.episodes, level)?,
            replicates: all.len(),
            cost_each: all.iter().map(|r| r.cost).sum::<f64>() / all.len() as f64,
            mean,
            standard_error,
            gain: replicates::gain(all, known, level, Seed(context.seed).child("replicates"))?,
            covered: clopper_pearson(held, self.held.len(), level)?,
            made: provenance::made(command, context.seed, &self.config, &[], &[]),
            env: self.env,
            policy: self.policy,
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
        Method::Accepted { .. } => "accepted draws".into(),
        Method::Plain => "plain draws".into(),
    }
}

/// Refuses a truth that is no independent one of the same thing.
fn independent(
    (env, policy, seed): (&str, &PolicyName, u64),
    scenario: Option<&Scenario>,
    truth: &Document,
) -> Result<()> {
    let of = &truth.run;
    let same = |what: &str, run: &str, truth: &str| {
        ensure!(run == truth, "truth: expected {what} {run}, that of the run, found {truth}");
        Ok(())
    };
    same("environment", env, &of.env)?;
    same("the policy with digest", &policy.digest, &of.policy.digest)?;
    ensure!(scenario == of.scenario.as_ref(), "truth: expected the scenario of the run, found another");
    ensure!(of.method == Method::Plain, "truth: expected method plain, found another");
    ensure!(seed != of.seed, "truth: expected another seed than {seed}, that of the run, found the same");
    Ok(())
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Report { env, policy, method, replicates, draws_each, experiments_each, cost_each, .. } = self;
        writeln!(f, "{policy} in {env}: {replicates} replicates, {method}")?;
        writeln!(
            f,
            "  each {draws_each} draws, {experiments_each:.0} experiments, which cost as much as {cost_each:.0} plain episodes"
        )?;
        let between = |e: &Estimate| [e.value, e.low, e.high].map(probability);
        let [value, low, high] = between(&self.truth);
        writeln!(f, "  plain episodes of another seed   {value} [{low}, {high}], {} of them", self.truth.n)?;
        let (mean, error) = (probability(self.mean), probability(self.standard_error));
        writeln!(f, "  mean of the replicates           {mean}, standard error {error}")?;
        let Estimate { value, low, high, .. } = &self.gain;
        writeln!(f, "  gain in variance times cost      {value:.2} [{low:.2}, {high:.2}]")?;
        let Estimate { value, low, high, .. } = &self.covered;
        writeln!(f, "  intervals that hold the truth    {value:.3} [{low:.3}, {high:.3}]")?;
        let Spread { failed, half, share_of_estimate } = self.spread;
        let percent = 100.0 * share_of_estimate;
        writeln!(
            f,
            "  half of the sum of squares       {half} of {failed} failures, {percent:.0} % of the estimate"
        )?;
        self.curves.iter().try_for_each(|curve| writeln!(f, "  {curve}"))
    }
}

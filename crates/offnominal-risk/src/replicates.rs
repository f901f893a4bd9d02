//! `risk replicates`: what a method gains over counting, measured and not promised.
//!
//! The blocks of a long [`fork`](crate::forks) run do not depend on one another, so that equal parts of it are replicates
//! of a shorter run. They are compared with plain episodes of another seed: their mean with the truth, their variance
//! times cost with that of counting, their intervals with what they promise, and how often they are off by more than a
//! factor with how often counting is (figures 1 and 3 of Uesato et al., 2018). The statistics are those of
//! [`offnominal_stats::risk::replicates`].
//!
//! | file     | content                                                          |
//! |----------|------------------------------------------------------------------|
//! | `parts`  | a finished run, in parts that can be put together                |
//! | `curve`  | how often parts of growing size are off                          |
//! | `chart`  | the same as a picture                                            |
//! | `page`   | everything as a page                                             |

mod chart;
mod curve;
mod page;
mod parts;
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
use offnominal_files::lock::Lock;
use offnominal_files::provenance::Provenance;
use offnominal_files::write;
use offnominal_stats::Level;
use offnominal_stats::proportion::clopper_pearson;
use offnominal_stats::risk::replicates::{self, Replicate, Truth};
use parts::Parts;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::path::PathBuf;

/// Which run is judged, by which truth.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Request {
    /// Folder of a [`fork`](crate::forks) run.
    pub run: PathBuf,
    /// Folder of a plain [`estimate`](crate::estimate) of the same policy, with another seed.
    pub truth: PathBuf,
    /// Number of replicates that the run is cut into, at least 20.
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

/// Cuts the run into replicates and judges them.
///
/// # Errors
/// If a folder holds no finished run, the two runs are of different things or of one seed, there is too little of either,
/// or a file cannot be written.
pub fn run(request: &Request, context: &Context) -> Result<Report> {
    let level = Level::try_from(request.level)?;
    request.check()?;
    let _held = request.out.as_deref().map(Lock::folder).transpose()?;
    let truth = Document::read(&request.truth)?;
    let parts = Parts::read(&request.run, &truth)?;
    let report = parts.judge(request, &truth, level, context)?;
    if let Some(folder) = &request.out {
        request::write_json(Some(folder), "replicates.json", &report)?;
        write::atomically(&folder.join("replicates.html"), page::render(&report)?.as_bytes())?;
    }
    Ok(report)
}

impl Request {
    fn check(&self) -> Result<()> {
        within("replicates", self.replicates, 20..=100_000)?;
        ensure!(!self.factors.is_empty(), "factors: expected at least one, found none");
        let check = |factor: &f64| {
            positive("factor", *factor, 1e6)?;
            ensure!(*factor >= 1.01, "factor: expected at least 1.01, found {factor}");
            Ok(())
        };
        self.factors.iter().try_for_each(check)
    }
}

impl Parts {
    fn judge(&self, request: &Request, truth: &Document, level: Level, context: &Context) -> Result<Report> {
        let size = self.blocks.len() / request.replicates;
        ensure!(
            size > 0,
            "{}: expected at least {} blocks of roots, one for each replicate, found {}; continue it with more --episodes",
            request.run.display(),
            request.replicates,
            self.blocks.len()
        );
        let all = self.replicates(size, request.replicates);
        let known = Truth { failures: truth.failures.len(), episodes: truth.experiments as usize };
        let seed = Seed(context.seed).child("replicates");
        let (mean, standard_error) = replicates::centre(&all);
        let curve = |&factor: &f64| Curve::of(self, known.p(), factor, level);
        let command = request.command.as_deref().unwrap_or_default();
        let config = serde_json::to_vec(&(&self.spec, &truth.run, request.replicates))?;
        Ok(Report {
            env: self.spec.env.clone(),
            policy: self.spec.policy.id.clone(),
            method: self.method(),
            truth: clopper_pearson(known.failures, known.episodes, level)?,
            replicates: all.len(),
            draws_each: self.draws(size),
            experiments_each: self.experiments() / (self.blocks.len() / size) as f64,
            cost_each: all.iter().map(|r| r.cost).sum::<f64>() / all.len() as f64,
            mean,
            standard_error,
            gain: replicates::gain(&all, known, level, seed)?,
            covered: self.covered(size, request.replicates, known.p(), level)?,
            spread: self.spread().context("expected a failure, found none")?,
            curves: request.factors.iter().map(curve).collect::<Result<_>>()?,
            made: provenance::made(command, context.seed, &config, &[]),
        })
    }

    /// The share of replicates whose interval holds the truth.
    fn covered(&self, size: usize, n: usize, p: f64, level: Level) -> Result<Estimate> {
        let holds = |part| Ok(self.interval(part, level)?.covers(p));
        let held = self.blocks.chunks_exact(size).take(n).map(holds).collect::<Result<Vec<bool>>>()?;
        Ok(clopper_pearson(held.iter().filter(|held| **held).count(), held.len(), level)?)
    }

    fn method(&self) -> String {
        let copies = self.spec.committor.as_ref().map(|_| "copies of episodes in progress");
        let thinned = match self.spec.method {
            Method::Thinned { exponent, .. } => Some(format!("thinned draws, exponent {exponent}")),
            _ => None,
        };
        let words: Vec<String> = thinned.into_iter().chain(copies.map(String::from)).collect();
        if words.is_empty() { "plain draws".into() } else { words.join(", ") }
    }

    /// Replicates of so many blocks each, at most so many.
    fn replicates(&self, size: usize, most: usize) -> Vec<Replicate> {
        self.blocks.chunks_exact(size).take(most).map(|part| self.replicate(part)).collect()
    }
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

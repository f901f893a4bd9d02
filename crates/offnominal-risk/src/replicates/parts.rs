//! A finished run of `risk fork`, in blocks that can be put together to replicates of any size.

use super::Spread;
use crate::estimate::block::Method;
use crate::estimate::document::Document;
use crate::forks::ForkSpec;
use crate::forks::roots::{self, BLOCK, Roots};
use anyhow::{Result, ensure};
use offnominal_core::estimate::Estimate;
use offnominal_stats::Level;
use offnominal_stats::risk::Bounded;
use offnominal_stats::risk::replicates::Replicate;
use std::path::Path;

/// The blocks, and what is needed to judge some of them.
pub struct Parts {
    /// Which run it is.
    pub spec: ForkSpec,
    /// Its blocks, in order.
    pub blocks: Vec<Roots>,
    /// The largest term: one over the smallest chance to be tried.
    bound: f64,
    /// Steps of a plain episode, on average.
    episode: f64,
}

impl Parts {
    /// Reads a run, and checks that the truth is one.
    ///
    /// # Errors
    /// If the folder holds no finished run, or the truth is of something else, of the same seed, or not plain.
    pub fn read(folder: &Path, truth: &Document) -> Result<Parts> {
        let (spec, blocks) = roots::read(folder)?;
        independent(&spec, truth)?;
        let bound = 1.0 / spec.method.thinning()?.map_or(1.0, |rule| rule.floor());
        Ok(Parts { spec, blocks, bound, episode: truth.steps as f64 / truth.experiments as f64 })
    }

    /// Draws of so many blocks.
    pub fn draws(&self, blocks: usize) -> u64 {
        BLOCK * blocks as u64
    }

    /// Experiments of the whole run.
    pub fn experiments(&self) -> f64 {
        self.blocks.iter().map(|b| b.roots).sum::<u64>() as f64
    }

    /// The estimate of some blocks and its cost.
    pub fn replicate(&self, part: &[Roots]) -> Replicate {
        let sum: f64 = terms(part).sum();
        let steps: u64 = part.iter().map(|b| b.steps).sum();
        Replicate { estimate: sum / self.draws(part.len()) as f64, cost: steps as f64 / self.episode }
    }

    /// The interval of some blocks.
    ///
    /// # Errors
    /// If there is no block.
    pub fn interval(&self, part: &[Roots], level: Level) -> Result<Estimate> {
        let mut bounded = Bounded::new(self.bound);
        terms(part).for_each(|term| bounded.push(term));
        bounded.push_zeros(self.draws(part.len()) as usize - bounded.len());
        Ok(bounded.estimate(level)?)
    }

    /// How the sum of squares is spread over the terms; nothing, if there is none.
    pub fn spread(&self) -> Option<Spread> {
        let mut terms: Vec<f64> = terms(&self.blocks).collect();
        terms.sort_by(|a, b| b.total_cmp(a));
        let squares: f64 = terms.iter().map(|t| t * t).sum();
        let mut sum = 0.0;
        let half = terms.iter().position(|t| {
            sum += t * t;
            2.0 * sum >= squares
        })? + 1;
        let share_of_estimate = terms[..half].iter().sum::<f64>() / terms.iter().sum::<f64>();
        Some(Spread { failed: terms.len(), half, share_of_estimate })
    }
}

/// The terms of an estimate that are not zero: a total over its chance to be tried.
fn terms(part: &[Roots]) -> impl Iterator<Item = f64> + '_ {
    part.iter().flat_map(|block| &block.totals).map(|(chance, total)| total / chance)
}

/// Refuses a truth that is no independent one of the same thing.
fn independent(run: &ForkSpec, truth: &Document) -> Result<()> {
    let of = &truth.run;
    let same = |what: &str, run: &str, truth: &str| {
        ensure!(run == truth, "truth: expected {what} {run}, that of the run, found {truth}");
        Ok(())
    };
    same("environment", &run.env, &of.env)?;
    same("the policy with digest", &run.policy.digest, &of.policy.digest)?;
    ensure!(run.scenario == of.scenario, "truth: expected the parameters that the run draws, found others");
    ensure!(
        of.anomaly_spec.is_none(),
        "truth: expected episodes in which nothing goes wrong, found some with a fault"
    );
    ensure!(of.method == Method::Plain, "truth: expected method plain, found another");
    ensure!(
        run.seed != of.seed,
        "truth: expected another seed than {}, that of the run, found the same",
        run.seed
    );
    Ok(())
}

//! A finished run of `risk fork`, in blocks that can be put together to replicates of any size.

use super::curve::{Curve, Point, sizes};
use super::{Replicated, Request, Spread, independent};
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
        independent((&spec.env, &spec.policy, spec.seed), spec.scenario.as_ref(), truth)?;
        ensure!(
            truth.run.anomaly_spec.is_none(),
            "truth: expected episodes in which nothing goes wrong, found some with a fault"
        );
        let bound = 1.0 / spec.method.floor()?;
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

    /// The replicates that it is cut into.
    ///
    /// # Errors
    /// If there are too few blocks, or no failure.
    pub(super) fn replicated(self, request: &Request, p: f64, level: Level) -> Result<Replicated> {
        let (n, found) = (request.replicates, self.blocks.len());
        let size = found / n;
        ensure!(
            size > 0,
            "{}: expected at least {n} blocks of roots, one for each replicate, found {found}; continue it with more \
             --episodes",
            request.runs[0].display()
        );
        let parts = || self.blocks.chunks_exact(size).take(n);
        let holds = |part| Ok(self.interval(part, level)?.covers(p));
        Ok(Replicated {
            env: self.spec.env.clone(),
            policy: self.spec.policy.id.clone(),
            method: self.method(),
            config: serde_json::to_vec(&(&self.spec, n))?,
            draws_each: self.draws(size),
            experiments_each: self.experiments() / (found / size) as f64,
            all: self.replicates(size, n),
            held: parts().map(holds).collect::<Result<_>>()?,
            spread: Spread::of(terms(&self.blocks).collect())?,
            curves: request.factors.iter().map(|&f| self.curve(p, f, level)).collect::<Result<_>>()?,
        })
    }

    /// Replicates of so many blocks each, at most so many.
    pub fn replicates(&self, size: usize, most: usize) -> Vec<Replicate> {
        self.blocks.chunks_exact(size).take(most).map(|part| self.replicate(part)).collect()
    }

    /// How often parts of growing size are off by more than a factor, where this is the truth.
    fn curve(&self, p: f64, factor: f64, level: Level) -> Result<Curve> {
        let point = |size: usize| {
            let experiments = self.experiments() * size as f64 / self.blocks.len() as f64;
            Point::of(&self.replicates(size, usize::MAX), experiments, p, factor, level)
        };
        Curve::through(sizes(self.blocks.len()).into_iter().map(point).collect::<Result<_>>()?, p, factor)
    }

    fn method(&self) -> String {
        let copies = self.spec.committor.as_ref().map(|_| "copies of episodes in progress");
        match (copies, &self.spec.method) {
            (Some(copies), Method::Plain) => copies.into(),
            (Some(copies), method) => format!("{}, {copies}", super::draws(method)),
            (None, method) => super::draws(method),
        }
    }
}

/// The terms of an estimate that are not zero: a total over its chance to be tried.
fn terms(part: &[Roots]) -> impl Iterator<Item = f64> + '_ {
    part.iter().flat_map(|block| &block.totals).map(|(chance, total)| total / chance)
}

//! Importance sampling in standard normal space, from a mixture of normals that cross-entropy fits to the failures.
//!
//! An initial condition is made of d independent standard normal numbers z. Experiments are of two kinds, told apart by their
//! number before the first is made:
//!
//! - *plain* ones draw z from φ. Counting them is an interval without any assumption.
//! - *guided* ones draw z from g.
//!
//! With n₀ and n₁ of them in a block, each counts φ over the density that the block was drawn from, (n₀ + n₁) / (n₀ + n₁ g / φ):
//! at most the inverse of the plain share. The mean is p exactly, whatever g is.
//!
//! g follows all experiments so far, each with the weight φ over the mean of the densities that all of them were drawn from
//! ([`Learner`], [`mixture`], [`aim`]). Blocks are estimated from once enough failures were seen; when that is depends on what
//! came before only, as g does, so that the estimate stays unbiased.
//!
//! Assumes, for its normal interval: that g reaches every region of failures. Doubted where the weights
//! warn ([`Diagnostics`](super::Diagnostics)), and where the plain experiments deny it. Cost: O(experiments · components · d)
//! a fit.
//!
//! Reference: Kurtz & Song, "Cross-entropy-based adaptive importance sampling using Gaussian mixture", Structural Safety 42,
//! 2013; Papaioannou, Geyer & Straub, "Improved cross entropy-based importance sampling with a flexible mixture model",
//! Reliability Engineering & System Safety 191, 2019 (many dimensions); Hesterberg, Technometrics 37(2), 1995 (defensive
//! mixtures); Cornuet et al., Scandinavian Journal of Statistics 39(4), 2012 (weights of all past proposals together).

pub mod aim;
pub mod mixture;
#[cfg(test)]
mod tests;

use super::refusal::Refusal;
use super::warning::Warning;
use super::weighted::Weighted;
use super::{counting, normal};
use crate::Level;
use aim::aimed;
use mixture::Mixture;
use offnominal_core::Rng;
use offnominal_core::estimate::Estimate;
use std::ops::Range;

/// Failures, by how many of equal weight say as much, from which on guided experiments are estimated from.
const ENOUGH_FAILURES: f64 = 25.0;
/// The same from which on the interval of the weights is not refused. With fewer, those that miss lie too low: what g hardly
/// reaches has not been seen yet (measured: studies/risk, the series system far out).
const FEWEST_EFFECTIVE: f64 = 40.0;
/// Error of the interval of plain experiments that may deny the assumption.
const DENIAL: f64 = 1e-3;

/// An experiment that was made.
#[derive(Debug, Clone, PartialEq)]
pub struct Seen {
    /// The standard normal numbers.
    pub z: Vec<f64>,
    /// How far it was from failing; zero or less is failure.
    pub margin: f64,
}

/// Whether an experiment is guided, so that a share of `plain_share` of any number of first experiments is not.
pub fn is_guided(index: u64, plain_share: f64) -> bool {
    // A hair more, for 1 − 0.92 is a hair less than 0.08.
    let before = |n: u64| (n as f64 * (1.0 - plain_share) + 1e-9).floor();
    before(index + 1) > before(index)
}

/// Experiments of the next block, after so many, behind which a proposal is fitted anew.
pub fn block(done: u64) -> u64 {
    (done / 4).clamp(200, 5000)
}

/// The part of a block of experiments that is guided.
pub fn guided_part(block: Range<u64>, plain_share: f64) -> f64 {
    let n = (block.end - block.start).max(1) as f64;
    block.filter(|&index| is_guided(index, plain_share)).count() as f64 / n
}

/// The density that a block was drawn from, over φ, at numbers where g / φ is `ratio`; `guided` is the part that is guided.
pub fn chance(guided: f64, ratio: f64) -> f64 {
    1.0 - guided + guided * ratio
}

/// Where guided experiments are drawn: g.
#[derive(Debug, Clone, PartialEq)]
pub struct Proposal {
    /// The mixture; nothing while it is φ.
    g: Option<Mixture>,
    /// Whether its block is estimated from.
    pub is_ready: bool,
}

impl Proposal {
    /// Before anything is known: φ.
    pub const PLAIN: Proposal = Proposal { g: None, is_ready: false };

    /// A draw of d numbers.
    pub fn draw(&self, d: usize, rng: &mut Rng) -> Vec<f64> {
        let mut z: Vec<f64> = (0..d).map(|_| rng.normal()).collect();
        if let Some(g) = &self.g {
            g.place(&mut z, rng);
        }
        z
    }

    /// g(z) / φ(z).
    pub fn ratio(&self, z: &[f64]) -> f64 {
        self.g.as_ref().map_or(1.0, |g| g.ratio(z))
    }

    /// How many normals g is a mixture of.
    pub fn components(&self) -> usize {
        self.g.as_ref().map_or(0, |g| g.components.len())
    }
}

/// What experiments have told, and the next proposal.
#[derive(Debug, Clone)]
pub struct Learner {
    seen: Vec<Seen>,
    /// Σ over all experiments of the density that they were drawn from, over φ, at each of those seen.
    densities: Vec<f64>,
    /// The proposals, with how many experiments were drawn from each; φ first.
    drawn: Vec<(Proposal, usize)>,
    next: Proposal,
}

impl Default for Learner {
    fn default() -> Learner {
        Learner { seen: vec![], densities: vec![], drawn: vec![(Proposal::PLAIN, 0)], next: Proposal::PLAIN }
    }
}

impl Learner {
    /// Where the next guided experiments are drawn.
    pub fn proposal(&self) -> &Proposal {
        &self.next
    }

    /// The first block that is estimated from, counted from 0; nothing before there is one.
    pub fn ready_from(&self) -> Option<usize> {
        self.drawn[1..].iter().position(|(proposal, _)| proposal.is_ready)
    }

    /// Learns from the plain experiments of a block, and from its guided ones, which were drawn from the proposal.
    pub fn learn(&mut self, plain: Vec<Seen>, guided: Vec<Seen>, rng: &mut Rng) {
        self.drawn[0].1 += plain.len();
        self.drawn.push((self.next.clone(), guided.len()));
        let (proposal, n) = (&self.next, guided.len() as f64);
        let more = |(sum, seen): (&mut f64, &Seen)| *sum += plain.len() as f64 + n * proposal.ratio(&seen.z);
        self.densities.iter_mut().zip(&self.seen).for_each(more);
        let drawn = &self.drawn;
        let all = |seen: &Seen| drawn.iter().map(|(q, n)| *n as f64 * q.ratio(&seen.z)).sum::<f64>();
        self.densities.extend(plain.iter().chain(&guided).map(all));
        self.seen.extend(plain.into_iter().chain(guided));
        self.next = self.refitted(rng);
    }

    fn refitted(&self, rng: &mut Rng) -> Proposal {
        let n = self.seen.len() as f64;
        let weights: Vec<f64> = self.densities.iter().map(|sum| n / sum).collect();
        let failing = self.seen.iter().zip(&weights).filter(|(seen, _)| seen.margin <= 0.0);
        let is_ready = self.next.is_ready || effective(failing.map(|(_, w)| *w)) >= ENOUGH_FAILURES;
        let g = aimed(&self.seen, &weights, rng).or_else(|| self.next.g.clone());
        Proposal { is_ready: is_ready && g.is_some(), g }
    }
}

/// How many numbers of equal weight say as much.
pub(super) fn effective(weights: impl Iterator<Item = f64>) -> f64 {
    let (sum, squares) = weights.fold((0.0, 0.0), |(s, q), w| (s + w, q + w * w));
    if squares > 0.0 { sum * sum / squares } else { 0.0 }
}

/// The failure probability by the weighted experiments of `draws` draws, if g reaches every region of failures. `plain` are
/// the failures and the number of all plain experiments.
///
/// # Errors
/// If the weights warn, or the plain experiments deny it.
pub fn estimate(
    sample: &[Weighted],
    draws: usize,
    plain: (usize, usize),
    level: Level,
) -> Result<Estimate, Refusal> {
    let found = normal::normal(sample, draws, 0.0, level)?;
    let effective = effective(sample.iter().map(Weighted::term));
    if effective < FEWEST_EFFECTIVE {
        return Err(Refusal::Doubtful(Warning::FewEffective { effective }));
    }
    let counted = counting::planned(plain.0, plain.1, Level::try_from(1.0 - DENIAL)?)?;
    if counted.low > found.high || counted.high < found.low {
        return Err(Refusal::Doubtful(Warning::Denied { low: counted.low, high: counted.high }));
    }
    Ok(Estimate { high: found.high.min(1.0), method: "importance-normal".into(), ..found })
}

/// What a run in standard normal space found.
#[derive(Debug, Clone, PartialEq)]
pub struct Found {
    /// The failure probability, assuming nothing: counted from the plain experiments.
    pub counted: Estimate,
    /// The same, if g reaches every region of failures.
    pub assumed: Result<Estimate, Refusal>,
}

/// Makes so many experiments with a margin of `d` standard normal numbers, of which a share is plain.
///
/// ```
/// use offnominal_core::Rng;
/// use offnominal_stats::{Level, risk::importance};
/// // A sum of two normal numbers above 5.26: Φ(−3.72), which is 1e-4.
/// let margin = &mut |z: &[f64]| 5.2595 - z[0] - z[1];
/// let found = importance::run(2, margin, 6000, 0.92, Level::P95, &mut Rng::new(1)).unwrap();
/// let assumed = found.assumed.unwrap();
/// assert!(assumed.covers(1e-4) && assumed.high < 2e-4 && found.counted.covers(1e-4));
/// ```
///
/// # Errors
/// If there are no experiments.
pub fn run(
    d: usize,
    margin: &mut dyn FnMut(&[f64]) -> f64,
    experiments: u64,
    plain_share: f64,
    level: Level,
    rng: &mut Rng,
) -> Result<Found, Refusal> {
    let (mut learner, mut done, mut sample) = (Learner::default(), 0, Vec::new());
    let mut counts = (0, 0);
    while done < experiments {
        let end = (done + block(done)).min(experiments);
        let (proposal, part) = (learner.proposal().clone(), guided_part(done..end, plain_share));
        let (mut plain, mut guided) = (Vec::new(), Vec::new());
        for index in done..end {
            let is_guided = is_guided(index, plain_share);
            let z = if is_guided { proposal.draw(d, rng) } else { Proposal::PLAIN.draw(d, rng) };
            let seen = Seen { margin: margin(&z), z };
            let failed = seen.margin <= 0.0;
            if proposal.is_ready {
                sample.push(Weighted { weight: 1.0 / chance(part, proposal.ratio(&seen.z)), failed });
            }
            if !is_guided {
                counts = (counts.0 + usize::from(failed), counts.1 + 1);
            }
            if is_guided { &mut guided } else { &mut plain }.push(seen);
        }
        learner.learn(plain, guided, rng);
        done = end;
    }
    let assumed = estimate(&sample, sample.len(), counts, level);
    Ok(Found { counted: counting::planned(counts.0, counts.1, level)?, assumed })
}

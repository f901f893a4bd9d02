//! Subset simulation: rare failures in environments that say how far they were from failing.
//!
//! A swarm of N particles is drawn from P. The fifth of them with the smallest margins are the seeds of the next level: each
//! begins a chain of moves that keep P and stay below the largest margin of the seeds, until there are N particles again.
//! Each level multiplies the probability by a fifth; where at least a fifth has failed, by their share, and it ends.
//! In standard normal space a move is z ← √(1 − λ²) z + λ ξ (preconditioned Crank–Nicolson, conditional sampling), which
//! keeps P in any number of dimensions; λ follows the share of moves that are accepted, chain after chain.
//!
//! Swarms do not know one another, and the interval is Student's of ln p̂ by their spread.
//!
//! Assumes: that the mean of so many swarms is nearly normal. Refused: margins that tie, chains that stick, swarms of which
//! few say most. Blind to: failures in a region that no swarm enters. Bias: of the order 1 / N, upwards.
//! Cost: N (1 + 0.8 moves · levels) experiments a swarm, levels ≈ ln p / ln ⅕.
//!
//! Reference: Au & Beck, "Estimation of small failure probabilities in high dimensions by subset simulation", Probabilistic
//! Engineering Mechanics 16(4), 2001; Papaioannou, Betz, Zwirglmaier & Straub, "MCMC algorithms for subset simulation",
//! ibid. 41, 2015 (moves and their step, section 4); Cérou, Del Moral, Furon & Guyader, "Sequential Monte Carlo for rare event
//! estimation", Statistics and Computing 22(3), 2012 (adaptive levels); Cotter, Roberts, Stuart & White, Statistical Science
//! 28(3), 2013.

use super::refusal::Refusal;
use crate::{Level, StatsError};
use offnominal_core::Rng;
use offnominal_core::estimate::Estimate;

/// Particles of a level for each seed of the next.
const PER_SEED: usize = 5;
/// λ of the first moves, and the share of moves that it is to make acceptable (Papaioannou et al., section 4.3).
const FIRST_STEP: f64 = 0.6;
const ACCEPTED: f64 = 0.44;
/// Parts of the chains of a level, after each of which λ follows.
const PARTS: usize = 10;
/// Share of the moves of a level below which its chains stick.
const FEWEST_ACCEPTED: f64 = 0.05;
/// Share of the swarms that must say as much as all, were they equal.
const FEWEST_EFFECTIVE: f64 = 0.4;

/// How swarms are moved.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Subset {
    /// Number of particles N of a level.
    pub particles: usize,
    /// Moves, accepted or not, from one particle of a chain to the next.
    pub moves: usize,
    /// Experiments after which a swarm gives up.
    pub budget: usize,
}

/// A problem with a margin.
pub trait Margin {
    /// An initial condition, with all of the experiment's noise if it is noisy.
    type X: Clone;
    /// A draw from P.
    fn draw(&mut self, rng: &mut Rng) -> Self::X;
    /// A random neighbour of x at a distance of about `step` of that to a new draw, from 0 to 1; drawing x from P and then the
    /// neighbour must look the same backwards. Nothing where P has no neighbour there: the particle stays.
    fn vary(&mut self, x: &Self::X, step: f64, rng: &mut Rng) -> Option<Self::X>;
    /// How far the experiment was from failing; zero or less is failure.
    fn margin(&mut self, x: &Self::X) -> f64;
}

/// How far one swarm came.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Swarm {
    /// The failure probability that it found; where the budget ended first, that of its last level.
    pub value: f64,
    /// Levels before the last.
    pub levels: usize,
    /// Experiments that it took.
    pub experiments: usize,
    /// Whether it reached failure, or else the budget was spent.
    pub has_failed: bool,
}

impl Subset {
    /// How far one swarm comes, to be pooled with others.
    ///
    /// # Errors
    /// If margins tie, or moves are hardly ever accepted.
    ///
    /// # Panics
    /// If there are fewer than ten particles.
    pub fn swarm<M: Margin>(&self, problem: &mut M, rng: &mut Rng) -> Result<Swarm, Refusal> {
        assert!(self.particles >= 2 * PER_SEED, "expected at least 10 particles, found {}", self.particles);
        StatsError::require("subset simulation", self.particles, "experiments", self.budget)?;
        let mut run = Run::new(problem, *self, rng);
        let n = self.particles as f64;
        let (mut value, mut levels) = (1.0, 0);
        while run.limit() > 0.0 {
            if run.experiments + self.particles * self.moves > self.budget {
                return Ok(Swarm { value, levels, experiments: run.experiments, has_failed: false });
            }
            let seeds = run.next_level(rng)?;
            (value, levels) = (value * seeds as f64 / n, levels + 1);
        }
        let failed = run.particles.iter().filter(|p| p.1 <= 0.0).count() as f64;
        Ok(Swarm { value: value * failed / n, levels, experiments: run.experiments, has_failed: true })
    }

    /// The failure probability from swarms that do not know one another. If a budget ended first, an upper bound: the value
    /// is then that of the last levels.
    ///
    /// # Errors
    /// If there are fewer than four swarms, or few of them say most of the estimate.
    pub fn pooled(swarms: &[Swarm], level: Level) -> Result<Estimate, Refusal> {
        StatsError::require("subset simulation", 4, "swarms", swarms.len())?;
        let n = swarms.len() as f64;
        let (sum, squares) = swarms.iter().fold((0.0, 0.0), |(s, q), w| (s + w.value, q + w.value * w.value));
        let effective = sum * sum / squares;
        if effective < FEWEST_EFFECTIVE * n {
            return Err(Refusal::Disagreement { effective, swarms: swarms.len() });
        }
        let value = sum / n;
        let relative = ((squares / n / (value * value) - 1.0).max(0.0) / (n - 1.0)).sqrt();
        let factor = libm::exp(level.t(swarms.len() - 1) * relative);
        let has_failed = swarms.iter().all(|s| s.has_failed);
        let low = if has_failed { value / factor } else { 0.0 };
        let experiments = swarms.iter().map(|s| s.experiments).sum();
        Ok(level.estimate(value, (low, (value * factor).min(1.0)), experiments, "subset-replicates"))
    }
}

struct Run<'m, M: Margin> {
    problem: &'m mut M,
    plan: Subset,
    /// Sorted by margin, the smallest first.
    particles: Vec<(M::X, f64)>,
    step: f64,
    experiments: usize,
}

impl<'m, M: Margin> Run<'m, M> {
    fn new(problem: &'m mut M, plan: Subset, rng: &mut Rng) -> Run<'m, M> {
        let mut run =
            Run { problem, plan, particles: Vec::new(), step: FIRST_STEP, experiments: plan.particles };
        for _ in 0..plan.particles {
            let x = run.problem.draw(rng);
            let margin = run.problem.margin(&x);
            run.particles.push((x, margin));
        }
        run.sort();
        run
    }

    fn sort(&mut self) {
        self.particles.sort_by(|a, b| a.1.total_cmp(&b.1));
    }

    /// The largest margin of the seeds.
    fn limit(&self) -> f64 {
        self.particles[self.plan.particles / PER_SEED - 1].1
    }

    /// Replaces all but the seeds by chains that begin at them; how many seeds there were. Copies of a particle that did not
    /// move tie, so there can be a few more than a fifth.
    fn next_level(&mut self, rng: &mut Rng) -> Result<usize, Refusal> {
        let limit = self.limit();
        let seeds = self.particles.partition_point(|p| p.1 <= limit);
        if 2 * seeds > self.plan.particles {
            return Err(Refusal::Ties { margin: limit });
        }
        self.particles.truncate(seeds);
        rng.shuffle(&mut self.particles);
        let (mut accepted, mut moves) = (0, 0);
        for part in 0..PARTS {
            let chains = part * seeds / PARTS..(part + 1) * seeds / PARTS;
            let made = chains.clone().map(|seed| self.chain(seed, seeds, limit, rng)).sum::<usize>();
            let tried: usize = chains.map(|seed| self.length(seed, seeds) * self.plan.moves).sum();
            self.follow(made, tried, part);
            (accepted, moves) = (accepted + made, moves + tried);
        }
        if (accepted as f64) < FEWEST_ACCEPTED * moves as f64 {
            return Err(Refusal::Stuck { accepted, moves, margin: limit });
        }
        self.sort();
        Ok(seeds)
    }

    /// Particles that a chain adds to its seed.
    fn length(&self, seed: usize, seeds: usize) -> usize {
        let new = self.plan.particles - seeds;
        new / seeds + usize::from(seed < new % seeds)
    }

    /// The particles of one chain behind its seed; how many moves were accepted.
    fn chain(&mut self, seed: usize, seeds: usize, limit: f64, rng: &mut Rng) -> usize {
        let (mut at, mut accepted) = (self.particles[seed].clone(), 0);
        for _ in 0..self.length(seed, seeds) {
            for _ in 0..self.plan.moves {
                accepted += usize::from(self.step_from(&mut at, limit, rng));
            }
            self.particles.push(at.clone());
        }
        accepted
    }

    /// One move; whether it was accepted.
    fn step_from(&mut self, at: &mut (M::X, f64), limit: f64, rng: &mut Rng) -> bool {
        let Some(x) = self.problem.vary(&at.0, self.step, rng) else { return false };
        let margin = self.problem.margin(&x);
        self.experiments += 1;
        let taken = margin <= limit;
        if taken {
            *at = (x, margin);
        }
        taken
    }

    /// λ grows where more moves are accepted than it is to make acceptable, and shrinks where fewer are; later less.
    fn follow(&mut self, accepted: usize, moves: usize, part: usize) {
        if moves > 0 {
            let off = accepted as f64 / moves as f64 - ACCEPTED;
            self.step = (self.step * libm::exp(off / ((part + 1) as f64).sqrt())).min(1.0);
        }
    }
}

#[cfg(test)]
mod tests;

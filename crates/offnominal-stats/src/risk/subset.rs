//! Subset simulation: rare failures in environments that say how far they were from failing.
//!
//! A swarm of N particles is drawn from P. The fifth of them with the smallest margins are the seeds of the next level: each
//! begins a chain of moves that keep P and stay below the smallest margin that is no seed's, until there are N particles again.
//! Each level multiplies the probability by a fifth; where more than a fifth have failed, by their share, and it ends. As the
//! limit is strict and no seed lies on it, the mean over swarms is the failure probability (Bréhier et al.).
//! In standard normal space a move is z ← √(1 − λ²) z + λ ξ (preconditioned Crank–Nicolson, conditional sampling), which
//! keeps P in any number of dimensions.
//!
//! Where a chain goes is proposed by eight moves with λ uniform in (0, 1), each accepted by what a surrogate of the margin says
//! (S is its chance to be below the limit); then the experiment is made. The chain goes from x to y if y is below the limit,
//! with probability min(1, S(x) / S(y)). That keeps P below the limit, whatever the surrogate is, if it does not know x:
//! therefore the first particles are in two families, and what descends from one is moved by a surrogate that learned from the
//! other. Where surrogates mislead, moves are single ones, whose λ follows the share that is accepted, chain after chain.
//!
//! Swarms do not know one another, and the interval is Student's of ln p̂ by their spread.
//!
//! Assumes: that the mean of so many swarms is nearly normal. Refused: margins that tie, chains that stick, swarms of which
//! few say most. Blind to: failures in a region that no swarm enters.
//! Cost: N (1 + 0.8 moves · levels) experiments a swarm, levels ≈ ln p / ln ⅕.
//!
//! Reference: Au & Beck, "Estimation of small failure probabilities in high dimensions by subset simulation", Probabilistic
//! Engineering Mechanics 16(4), 2001; Papaioannou, Betz, Zwirglmaier & Straub, "MCMC algorithms for subset simulation",
//! ibid. 41, 2015 (moves and their step, section 4); Cérou, Del Moral, Furon & Guyader, "Sequential Monte Carlo for rare event
//! estimation", Statistics and Computing 22(3), 2012 (adaptive levels); Cotter, Roberts, Stuart & White, Statistical Science
//! 28(3), 2013; Liu, "Monte Carlo Strategies in Scientific Computing", Springer 2001, section 9.4.3 (surrogate transitions);
//! Bréhier, Gazeau, Goudenège, Lelièvre & Rousset, "Unbiasedness of some generalized adaptive multilevel splitting algorithms",
//! Annals of Applied Probability 26(6), 2016.

use super::refusal::Refusal;
use crate::{Level, StatsError};
use offnominal_core::Rng;
use offnominal_core::estimate::Estimate;
use run::Run;

mod run;

/// Particles of a level for each seed of the next.
const PER_SEED: usize = 5;
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
    /// The numbers of x from which its margin may be guessed.
    fn covariates<'x>(&self, x: &'x Self::X) -> &'x [f64];
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
        Ok(Swarm {
            value: value * run.failed() as f64 / n,
            levels,
            experiments: run.experiments,
            has_failed: true,
        })
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

#[cfg(test)]
mod tests;

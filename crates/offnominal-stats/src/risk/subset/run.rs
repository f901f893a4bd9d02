//! One swarm of [`super`]: its levels, chains and moves.

use super::super::refusal::Refusal;
use super::super::surrogate::{Surrogate, Tried};
use super::{Margin, PER_SEED, Subset};
use offnominal_core::Rng;

/// λ of the first moves, and the share of moves that it is to make acceptable (Papaioannou et al., section 4.3).
const FIRST_STEP: f64 = 0.6;
const ACCEPTED: f64 = 0.44;
/// Parts of the chains of a level, after each of which λ follows.
const PARTS: usize = 10;
/// Moves that the surrogate decides before an experiment, and the accepted share of proposals below which it misleads.
const PROPOSING: usize = 8;
const MISLED: f64 = 0.4;
/// Particles for each of the fewest seeds: with fewer, margins tie.
const FEWEST_SEEDS: usize = 50;
/// Share of the moves of a level below which its chains stick.
const FEWEST_ACCEPTED: f64 = 0.05;
#[derive(Clone)]
struct Particle<X> {
    x: X,
    margin: f64,
    /// To which of the two families it belongs.
    family: usize,
}

/// A swarm on its way.
pub(super) struct Run<'m, M: Margin> {
    problem: &'m mut M,
    plan: Subset,
    /// Sorted by margin, the smallest first.
    particles: Vec<Particle<M::X>>,
    step: f64,
    pub experiments: usize,
    /// What each family tried.
    tried: [Tried; 2],
    /// By which the moves of each family are proposed, if they are.
    surrogates: [Option<Surrogate>; 2],
}

impl<'m, M: Margin> Run<'m, M> {
    /// Draws the particles.
    pub fn new(problem: &'m mut M, plan: Subset, rng: &mut Rng) -> Run<'m, M> {
        let (particles, tried, surrogates) = (Vec::new(), [Tried::default(), Tried::default()], [None, None]);
        let mut run = Run { problem, plan, particles, step: FIRST_STEP, experiments: 0, tried, surrogates };
        for i in 0..plan.particles {
            let x = run.problem.draw(rng);
            let particle = run.experiment(x, i % 2);
            run.particles.push(particle);
        }
        run.sort();
        run
    }

    fn experiment(&mut self, x: M::X, family: usize) -> Particle<M::X> {
        let margin = self.problem.margin(&x);
        self.experiments += 1;
        self.tried[family].add(self.problem.covariates(&x), margin);
        Particle { x, margin, family }
    }

    fn sort(&mut self) {
        self.particles.sort_by(|a, b| a.margin.total_cmp(&b.margin));
    }

    /// Particles that have failed.
    pub fn failed(&self) -> usize {
        self.particles.iter().filter(|p| p.margin <= 0.0).count()
    }

    /// The smallest margin that is no seed's.
    pub fn limit(&self) -> f64 {
        self.particles[self.plan.particles / PER_SEED].margin
    }

    /// Replaces all but the seeds by chains that begin at them; how many seeds there were. Copies of a particle that did not
    /// move tie, so there can be less than a fifth.
    pub fn next_level(&mut self, rng: &mut Rng) -> Result<usize, Refusal> {
        let limit = self.limit();
        let seeds = self.particles.partition_point(|p| p.margin < limit);
        if FEWEST_SEEDS * seeds < self.plan.particles {
            return Err(Refusal::Ties { margin: limit });
        }
        self.particles.truncate(seeds);
        rng.shuffle(&mut self.particles);
        self.surrogates = [1, 0].map(|other| Surrogate::fit(&self.tried[other], limit));
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
    fn step_from(&mut self, at: &mut Particle<M::X>, limit: f64, rng: &mut Rng) -> bool {
        let Some((x, ln_odds)) = self.propose(at, rng) else { return false };
        let found = self.experiment(x, at.family);
        let taken = found.margin < limit && (ln_odds >= 0.0 || rng.uniform() < libm::exp(ln_odds));
        if taken {
            *at = found;
        }
        taken
    }

    /// Where to go from x, and ln S(x) / S(y) by the surrogate.
    fn propose(&mut self, from: &Particle<M::X>, rng: &mut Rng) -> Option<(M::X, f64)> {
        let x = &from.x;
        let Some(surrogate) = &self.surrogates[from.family] else {
            return Some((self.problem.vary(x, self.step, rng)?, 0.0));
        };
        let first = surrogate.ln_chance(self.problem.covariates(x));
        let (mut at, mut ln_chance) = (None, first);
        for _ in 0..PROPOSING {
            let step = rng.uniform();
            let Some(y) = self.problem.vary(at.as_ref().unwrap_or(x), step, rng) else { continue };
            let other = surrogate.ln_chance(self.problem.covariates(&y));
            if rng.uniform() < libm::exp(other - ln_chance) {
                (at, ln_chance) = (Some(y), other);
            }
        }
        Some((at?, first - ln_chance))
    }

    /// A surrogate that misleads is left. λ grows where more moves are accepted than it is to make acceptable, and shrinks where
    /// fewer are; later less.
    fn follow(&mut self, accepted: usize, moves: usize, part: usize) {
        let share = accepted as f64 / moves.max(1) as f64;
        if self.surrogates.iter().any(Option::is_some) {
            if moves > 0 && share < MISLED {
                self.surrogates = [None, None];
            }
        } else if moves > 0 {
            let off = share - ACCEPTED;
            self.step = (self.step * libm::exp(off / ((part + 1) as f64).sqrt())).min(1.0);
        }
    }
}

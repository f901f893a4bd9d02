//! Rare failures in environments that say how far they were from failing.
//!
//! Particles are drawn from P. Again and again the one with the largest margin is replaced by a copy of another that is
//! moved, by steps that keep P and stay below that margin, until all margins are at most zero, which is failure. If the
//! moves forget where they began, each round multiplies the probability by 1 − 1 / N on average, and the number of
//! rounds is Poisson with mean −N ln p: its exact interval is one of p, and (1 − 1 / N)^rounds is unbiased.
//!
//! Assumes: a continuous margin, and moves that forget. The latter cannot be verified, so the method is named in the
//! estimate; but it is seen to fail where swarms need numbers of rounds that differ by more than chance (index of
//! dispersion, Fisher 1950), and there is no estimate then. Blind to: failures in a region that no particle entered
//! at the start and no move reaches. Cost: (N + rounds × moves) experiments; −N ln p rounds. Reference: Guyader,
//! Hengartner and Matzner-Løber, "Simulation and estimation of extreme quantiles and extreme probabilities", Applied
//! Mathematics and Optimization 64(2), 2011; Cérou and Guyader, 2007.

use super::crossing::crossing;
use super::refusal::Refusal;
use crate::{Level, StatsError};
use offnominal_core::Rng;
use offnominal_core::estimate::Estimate;
use statrs::function::gamma::{gamma_lr, gamma_ur};

/// How the particles are moved.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Splitting {
    /// Number of particles N.
    pub particles: usize,
    /// Moves of a copy, accepted or not; enough to forget the original.
    pub moves: usize,
    /// Experiments after which it gives up.
    pub budget: usize,
}

/// A problem with a margin.
pub trait Margin {
    /// An initial condition, with all of the experiment's noise if it is noisy.
    type X: Clone;
    /// A draw from P.
    fn draw(&mut self, rng: &mut Rng) -> Self::X;
    /// A random neighbour of x; drawing x from P and then the neighbour must look the same backwards.
    fn vary(&mut self, x: &Self::X, rng: &mut Rng) -> Self::X;
    /// How far the experiment was from failing; zero or less is failure.
    fn margin(&mut self, x: &Self::X) -> f64;
}

impl Splitting {
    /// How far one swarm comes, to be pooled with others.
    ///
    /// # Errors
    /// If margins tie, or moves are hardly ever accepted.
    ///
    /// # Panics
    /// If there are fewer than two particles.
    pub fn rounds<M: Margin>(&self, problem: &mut M, rng: &mut Rng) -> Result<Rounds, Refusal> {
        assert!(self.particles >= 2, "expected at least 2 particles, found {}", self.particles);
        StatsError::require("splitting", self.particles, "experiments", self.budget)?;
        let mut swarm = Swarm::new(problem, self.particles, rng)?;
        let (mut rounds, mut recent) = (0_usize, Recent::default());
        while swarm.worst().1 > 0.0 && swarm.experiments + self.moves <= self.budget {
            recent.count(swarm.replace_worst(self.moves, rng)?, self.moves, swarm.worst().1)?;
            rounds += 1;
        }
        Ok(Rounds { rounds, experiments: swarm.experiments, has_failed: swarm.worst().1 <= 0.0 })
    }

    /// The failure probability from swarms that do not know one another: their rounds add up to those of one large swarm.
    /// If a budget ended first, an upper bound: the value is then that of the last level.
    ///
    /// # Errors
    /// If there are no swarms, or they disagree.
    pub fn pooled(&self, swarms: &[Rounds], level: Level) -> Result<Estimate, Refusal> {
        StatsError::require("splitting", 1, "swarms", swarms.len())?;
        let rounds: usize = swarms.iter().map(|s| s.rounds).sum();
        let experiments = swarms.iter().map(|s| s.experiments).sum();
        let (n, k) = ((self.particles * swarms.len()) as f64, rounds as f64);
        let (fewest, most) = poisson_mean(rounds, level.tail());
        let has_failed = swarms.iter().all(|s| s.has_failed);
        if has_failed {
            agree(swarms)?;
        }
        let low = if has_failed { (-most / n).exp() } else { 0.0 };
        let ends = (low, (-fewest / n).exp());
        Ok(level.estimate((k * (-1.0 / n).ln_1p()).exp(), ends, experiments, "splitting-poisson"))
    }
}

/// How far one swarm came.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rounds {
    /// Particles that were replaced.
    pub rounds: usize,
    /// Experiments that it took.
    pub experiments: usize,
    /// Whether all particles failed in the end, or else the budget was spent.
    pub has_failed: bool,
}

/// Probability with which swarms that differ by chance alone are taken to disagree.
const DISAGREEMENT: f64 = 1e-3;

/// Insists that numbers of rounds differ no more than those of a Poisson variable.
fn agree(swarms: &[Rounds]) -> Result<(), Refusal> {
    let rounds: Vec<f64> = swarms.iter().map(|s| s.rounds as f64).collect();
    let mean = rounds.iter().sum::<f64>() / rounds.len() as f64;
    if rounds.len() < 2 || mean == 0.0 {
        return Ok(());
    }
    let dispersion = rounds.iter().map(|k| (k - mean).powi(2)).sum::<f64>() / mean;
    let chance = gamma_ur(0.5 * (rounds.len() - 1) as f64, 0.5 * dispersion);
    if chance >= DISAGREEMENT {
        return Ok(());
    }
    let of = |pick: fn(f64, f64) -> f64| rounds.iter().copied().reduce(pick).unwrap_or(mean) as usize;
    Err(Refusal::Disagreement { fewest: of(f64::min), most: of(f64::max), chance })
}

/// The means of a Poisson variable that its value leaves possible, each end with the given probability to be wrong
/// (Garwood, 1936).
fn poisson_mean(k: usize, tail: f64) -> (f64, f64) {
    let far = 2.0 * k as f64 + 60.0;
    // P(K ≥ k) at mean m is the regularised incomplete gamma function of k at m.
    let at_least = |k: usize, mean: f64| if mean > 0.0 { gamma_lr(k as f64, mean) } else { 0.0 };
    let low = if k == 0 { 0.0 } else { crossing(0.0, far, |m| at_least(k, m) >= tail).0 };
    (low, crossing(0.0, far, |m| at_least(k + 1, m) >= 1.0 - tail).1)
}

/// Whether moves have been accepted lately.
#[derive(Debug, Default)]
struct Recent {
    moves: usize,
    accepted: usize,
}

impl Recent {
    /// Moves over which acceptance is judged.
    const SPAN: usize = 1000;

    fn count(&mut self, accepted: usize, moves: usize, margin: f64) -> Result<(), Refusal> {
        self.moves += moves;
        self.accepted += accepted;
        if self.moves < Recent::SPAN {
            return Ok(());
        }
        let (accepted, moves) = (self.accepted, self.moves);
        *self = Recent::default();
        if 100 * accepted < moves { Err(Refusal::Stuck { accepted, moves, margin }) } else { Ok(()) }
    }
}

struct Swarm<'m, M: Margin> {
    problem: &'m mut M,
    /// Sorted by margin, the largest last.
    particles: Vec<(M::X, f64)>,
    experiments: usize,
}

impl<'m, M: Margin> Swarm<'m, M> {
    fn new(problem: &'m mut M, n: usize, rng: &mut Rng) -> Result<Swarm<'m, M>, Refusal> {
        let mut particles = Vec::with_capacity(n);
        for _ in 0..n {
            let x = problem.draw(rng);
            let margin = problem.margin(&x);
            particles.push((x, margin));
        }
        particles.sort_by(|a, b| a.1.total_cmp(&b.1));
        match particles.windows(2).find(|pair| pair[0].1 == pair[1].1) {
            Some(pair) => Err(Refusal::Ties { margin: pair[0].1 }),
            None => Ok(Swarm { problem, particles, experiments: n }),
        }
    }

    fn worst(&self) -> &(M::X, f64) {
        self.particles.last().expect("at least two particles")
    }

    /// Replaces the worst particle by a moved copy of another; how many moves were accepted.
    fn replace_worst(&mut self, moves: usize, rng: &mut Rng) -> Result<usize, Refusal> {
        let (_, limit) = self.particles.pop().expect("at least two particles");
        // A copy that could not be moved has its original's margin: both leave before any other copies are made.
        let below = self.particles.partition_point(|p| p.1 < limit);
        if below == 0 {
            return Err(Refusal::Stuck { accepted: 0, moves, margin: limit });
        }
        let mut at = self.particles[rng.below(below)].clone();
        let mut accepted = 0;
        for _ in 0..moves {
            let x = self.problem.vary(&at.0, rng);
            let margin = self.problem.margin(&x);
            if margin < limit {
                at = (x, margin);
                accepted += 1;
            }
        }
        self.experiments += moves;
        let place = self.particles.partition_point(|p| p.1 < at.1);
        self.particles.insert(place, at);
        Ok(accepted)
    }
}

#[cfg(test)]
mod tests {
    use super::super::toy::{assert_covers, coverage, repetitions};
    use super::*;
    use crate::level::normal_cdf;

    /// Fails if a standard normal number exceeds a limit; neighbours correlate by the given amount.
    struct Gauss {
        limit: f64,
        correlation: f64,
        /// Margins are rounded down to multiples of this, if it is positive.
        grain: f64,
    }

    impl Margin for Gauss {
        type X = f64;

        fn draw(&mut self, rng: &mut Rng) -> f64 {
            rng.normal()
        }

        fn vary(&mut self, x: &f64, rng: &mut Rng) -> f64 {
            self.correlation * x + (1.0 - self.correlation.powi(2)).sqrt() * rng.normal()
        }

        fn margin(&mut self, x: &f64) -> f64 {
            let margin = self.limit - x;
            if self.grain > 0.0 { (margin / self.grain).floor() * self.grain } else { margin }
        }
    }

    fn gauss(limit: f64) -> Gauss {
        Gauss { limit, correlation: 0.8, grain: 0.0 }
    }

    fn run(plan: Splitting, mut problem: Gauss, rng: &mut Rng) -> Result<Estimate, Refusal> {
        plan.pooled(&[plan.rounds(&mut problem, rng)?], Level::P95)
    }

    const PLAN: Splitting = Splitting { particles: 40, moves: 20, budget: 1_000_000 };

    #[test]
    fn gaussian_tails_are_covered() {
        for limit in [2.3263, 3.719, 4.7534] {
            let p = 1.0 - normal_cdf(limit);
            assert_covers(p, |rng| run(PLAN, gauss(limit), rng).unwrap());
        }
    }

    /// Fails if what is made of standard normal numbers exceeds a limit.
    struct Many {
        dimensions: usize,
        of: fn(&[f64]) -> f64,
        limit: f64,
    }

    impl Margin for Many {
        type X = Vec<f64>;

        fn draw(&mut self, rng: &mut Rng) -> Vec<f64> {
            (0..self.dimensions).map(|_| rng.normal()).collect()
        }

        fn vary(&mut self, x: &Vec<f64>, rng: &mut Rng) -> Vec<f64> {
            x.iter().map(|v| 0.8 * v + 0.6 * rng.normal()).collect()
        }

        fn margin(&mut self, x: &Vec<f64>) -> f64 {
            self.limit - (self.of)(x)
        }
    }

    #[test]
    fn many_dimensions_and_two_ways_to_fail_are_covered() {
        let norm = |x: &[f64]| x.iter().map(|v| v * v).sum::<f64>().sqrt();
        let ball = gamma_ur(4.0, 0.5 * 6.0_f64.powi(2));
        let tails = 2.0 * (1.0 - normal_cdf(3.9));
        let cases = [
            (ball, Many { dimensions: 8, of: norm, limit: 6.0 }),
            (tails, Many { dimensions: 8, of: |x| x[0].abs(), limit: 3.9 }),
        ];
        for (p, Many { dimensions, of, limit }) in cases {
            let one = |rng: &mut Rng| PLAN.rounds(&mut Many { dimensions, of, limit }, rng).unwrap();
            assert_covers(p, |rng| PLAN.pooled(&[one(rng)], Level::P95).unwrap());
        }
    }

    #[test]
    fn swarms_beside_one_another_are_covered_and_sharper_than_one() {
        let p = 1.0 - normal_cdf(3.719);
        let mut refused = 0;
        let mut pooled = |rng: &mut Rng| loop {
            let swarms: Vec<Rounds> = (0..4).map(|_| PLAN.rounds(&mut gauss(3.719), rng).unwrap()).collect();
            match PLAN.pooled(&swarms, Level::P95) {
                // By chance, in one of a thousand.
                Err(Refusal::Disagreement { .. }) => refused += 1,
                found => break found.unwrap(),
            }
        };
        assert_covers(p, &mut pooled);
        let (four, one) = (pooled(&mut Rng::new(1)), run(PLAN, gauss(3.719), &mut Rng::new(1)).unwrap());
        assert!(four.high / four.low < 0.6 * one.high / one.low, "{four:.6} {one:.6}");
        assert!(refused <= 2 + repetitions() / 200, "{refused} of {} refused", repetitions());
    }

    #[test]
    fn moves_that_do_not_forget_lose_the_promise() {
        let lazy = Splitting { moves: 1, ..PLAN };
        let near = || Gauss { correlation: 0.999, ..gauss(3.719) };
        let p = 1.0 - normal_cdf(3.719);
        assert!(coverage(p, |rng| run(lazy, near(), rng).unwrap()) < 0.9);
    }

    #[test]
    fn a_budget_that_ends_too_early_leaves_an_upper_bound() {
        let short = Splitting { budget: 2000, ..PLAN };
        let found = run(short, gauss(5.0), &mut Rng::new(1)).unwrap();
        assert!(found.low == 0.0 && found.high > 0.01 && found.n <= 2000, "{found:?}");
    }

    #[test]
    fn ties_and_stuck_particles_are_refused() {
        let ties = run(PLAN, Gauss { grain: 0.5, ..gauss(4.0) }, &mut Rng::new(1));
        assert!(matches!(ties, Err(Refusal::Ties { .. })), "{ties:?}");
        let stuck = run(PLAN, Gauss { correlation: 0.0, ..gauss(5.0) }, &mut Rng::new(1));
        assert!(matches!(stuck, Err(Refusal::Stuck { .. })), "{stuck:?}");
    }

    #[test]
    fn poisson_intervals_are_those_of_the_tables() {
        // Garwood (1936), 95 %: 0 → (0, 3.689), 5 → (1.623, 11.668), 50 → (37.11, 65.92).
        for (k, low, high) in [(0, 0.0, 3.689), (5, 1.623, 11.668), (50, 37.11, 65.92)] {
            let found = poisson_mean(k, 0.025);
            assert!((found.0 - low).abs() < 0.005 && (found.1 - high).abs() < 0.005, "{k}: {found:?}");
        }
    }
    #[test]
    fn swarms_that_differ_by_more_than_chance_are_refused() {
        let plan = Splitting { particles: 100, moves: 10, budget: 10_000 };
        let of = |rounds: &[usize]| {
            let swarm = |&rounds: &usize| Rounds { rounds, experiments: 10 * rounds, has_failed: true };
            plan.pooled(&rounds.iter().map(swarm).collect::<Vec<_>>(), Level::P95)
        };
        assert!(of(&[681, 720, 690, 710]).is_ok() && of(&[868]).is_ok() && of(&[0, 0]).is_ok());
        let error = of(&[681, 762, 868, 762]).unwrap_err().to_string();
        assert!(error.starts_with("the swarms needed 681 to 868 rounds, which chance"), "{error}");
    }
}

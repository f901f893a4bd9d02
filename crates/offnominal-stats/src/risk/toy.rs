//! Analytic failures to test estimators on: the truth is known.
//!
//! X is uniform on [0, 1) and an experiment fails with probability h exp(−k X), so p = h (1 − exp(−k)) / k.

use super::sampler::{Outcome, Sampler};
use super::search::Search;
use offnominal_core::Rng;
use offnominal_core::estimate::Estimate;

/// A policy that fails near zero.
#[derive(Debug, Clone, Copy)]
pub struct Toy {
    /// Chance to fail at zero: large early in training, small later.
    pub height: f64,
    /// How quickly it decays.
    pub decay: f64,
}

impl Toy {
    /// The failure probability.
    pub fn p(self) -> f64 {
        self.height * (1.0 - (-self.decay).exp()) / self.decay
    }

    /// The chance to fail at x.
    pub fn chance(self, x: f64) -> f64 {
        self.height * (-self.decay * x).exp()
    }

    /// One experiment.
    pub fn fails(self, x: f64, rng: &mut Rng) -> bool {
        rng.uniform() < self.chance(x)
    }
}

/// Repetitions of a test of coverage.
pub fn repetitions() -> usize {
    if std::env::var_os("RUN_SLOW_TESTS").is_some() { 2000 } else { 200 }
}

/// Asserts that 95 % intervals contain the truth in so many repetitions that a method which keeps its promise has a thousandth to
/// fail: in 93.5 % of 2,000.
#[track_caller]
pub fn assert_covers(truth: f64, estimate: impl FnMut(&mut Rng) -> Estimate) {
    assert_covers_in(repetitions(), truth, estimate);
}

/// The same in another number of repetitions.
#[track_caller]
pub fn assert_covers_in(n: usize, truth: f64, mut estimate: impl FnMut(&mut Rng) -> Estimate) {
    let held = (0..n as u64).filter(|&i| estimate(&mut Rng::new(1000 + i)).covers(truth)).count();
    let least = 0.95 - 3.1 * (0.95 * 0.05 / n as f64).sqrt();
    assert!(held as f64 >= least * n as f64, "{held} of {n} intervals contain {truth}");
}

/// Runs experiments that a sampler proposes until one fails or the budget is spent.
pub fn search(
    sampler: &mut dyn Sampler,
    budget: usize,
    draw: &mut dyn FnMut(&mut Rng) -> Vec<f64>,
    experiment: &mut dyn FnMut(&[f64], &mut Rng) -> Outcome,
    rng: &mut Rng,
) -> Search {
    for n in 1..=budget {
        let x = sampler.propose(draw, rng);
        let outcome = experiment(&x, rng);
        sampler.learn(&x, outcome);
        if outcome.failed {
            return Search { experiments: n, has_failed: true };
        }
    }
    Search { experiments: budget, has_failed: false }
}

//! Where to look for a failure: strategies that propose initial conditions and learn from the outcomes.
//!
//! | strategy         | proposes                                                                              |
//! |------------------|---------------------------------------------------------------------------------------|
//! | [`Plain`]        | a draw from P                                                                         |
//! | [`Replay`]       | failures of earlier policies, those with the least noise first, then the most recent; then draws |
//! | [`ArgmaxOf`]     | the most dangerous of n draws, by a predictor (algorithm 2)                           |
//! | [`CrossEntropy`](cross_entropy::CrossEntropy) | draws of a normal distribution that follows the most dangerous ones |
//! | [`Elites`](elites::Elites) | variations of the most dangerous condition of each cell of an archive       |
//! | [`Climb`](climb::Climb) | the most dangerous one so far with a part of it drawn anew; for series of normal numbers |
//!
//! The last three search places that P hardly ever visits: what they find is a failure, but says nothing of how often.
//!
//! Reference: Uesato et al. (2018), sections 3.1 and 4.1, appendix C.

pub mod climb;
pub mod cross_entropy;
pub mod elites;
pub mod step_size;

use offnominal_core::Rng;
use std::num::NonZeroUsize;

/// The outcome of one experiment, as a sampler learns it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Outcome {
    /// Whether it ended in failure.
    pub failed: bool,
    /// How far it was from failing, where the environment says so.
    pub margin: Option<f64>,
    /// In which step it was nearest to failing, where that is known.
    pub nearest: Option<usize>,
}

/// A strategy.
pub trait Sampler {
    /// The next initial condition; `draw` draws from P.
    fn propose(&mut self, draw: &mut dyn FnMut(&mut Rng) -> Vec<f64>, rng: &mut Rng) -> Vec<f64>;

    /// What came of a proposal.
    fn learn(&mut self, _x: &[f64], _outcome: Outcome) {}
}

/// A predictor of failure: larger is more dangerous.
pub type Predictor<'p> = &'p dyn Fn(&[f64]) -> f64;

/// Draws from P.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Plain;

impl Sampler for Plain {
    fn propose(&mut self, draw: &mut dyn FnMut(&mut Rng) -> Vec<f64>, rng: &mut Rng) -> Vec<f64> {
        draw(rng)
    }
}

/// A failure of an earlier policy.
#[derive(Debug, Clone, PartialEq)]
pub struct Past {
    /// Where it began.
    pub x: Vec<f64>,
    /// Exploration noise of the policy.
    pub noise: f64,
    /// When it happened; larger is later.
    pub time: u64,
}

/// Failures of earlier policies, each once.
#[derive(Debug, Clone, PartialEq)]
pub struct Replay {
    /// The next one last.
    queue: Vec<Vec<f64>>,
}

impl Replay {
    /// The least noisy first, and of those the most recent.
    pub fn new(mut failures: Vec<Past>) -> Replay {
        failures.sort_by(|a, b| b.noise.total_cmp(&a.noise).then(a.time.cmp(&b.time)));
        Replay { queue: failures.into_iter().map(|f| f.x).collect() }
    }
}

impl Sampler for Replay {
    fn propose(&mut self, draw: &mut dyn FnMut(&mut Rng) -> Vec<f64>, rng: &mut Rng) -> Vec<f64> {
        self.queue.pop().unwrap_or_else(|| draw(rng))
    }
}

/// The most dangerous of so many draws.
pub struct ArgmaxOf<'p> {
    /// How many draws are compared.
    pub n: NonZeroUsize,
    /// By what.
    pub predict: Predictor<'p>,
}

impl Sampler for ArgmaxOf<'_> {
    fn propose(&mut self, draw: &mut dyn FnMut(&mut Rng) -> Vec<f64>, rng: &mut Rng) -> Vec<f64> {
        let mut best = draw(rng);
        let mut danger = (self.predict)(&best);
        for _ in 1..self.n.get() {
            let x = draw(rng);
            let found = (self.predict)(&x);
            if found > danger {
                (best, danger) = (x, found);
            }
        }
        best
    }
}

/// How dangerous a condition proved to be: by its margin or, where the environment has none, by what is predicted.
fn danger(x: &[f64], outcome: Outcome, predict: Predictor<'_>) -> f64 {
    match outcome {
        Outcome { failed: true, margin: None, .. } => f64::INFINITY,
        Outcome { margin: Some(margin), .. } => -margin,
        Outcome { .. } => predict(x),
    }
}

#[cfg(test)]
mod tests {
    use super::super::search::expected_cost;
    use super::super::toy::search;
    use super::cross_entropy::CrossEntropy;
    use super::elites::Elites;
    use super::*;
    use crate::Level;

    fn square(rng: &mut Rng) -> Vec<f64> {
        vec![rng.uniform(), rng.uniform()]
    }

    /// A small corner fails: one draw in ten thousand.
    fn corner(x: &[f64], _: &mut Rng) -> Outcome {
        let margin = x[0].max(x[1]) - 0.01;
        Outcome { failed: margin <= 0.0, margin: Some(margin), nearest: None }
    }

    /// A predictor that knows the direction only.
    fn predict(x: &[f64]) -> f64 {
        -x[0] - x[1]
    }

    fn cost(make: &dyn Fn() -> Box<dyn Sampler>, budget: usize) -> f64 {
        let found: Vec<_> = (0..20)
            .map(|i| search(make().as_mut(), budget, &mut square, &mut corner, &mut Rng::new(i)))
            .collect();
        expected_cost(&found, Level::P95).unwrap().value
    }

    #[test]
    fn every_strategy_beats_plain_draws() {
        let plain = cost(&|| Box::new(Plain), 3000);
        let thousand = NonZeroUsize::new(1000).unwrap();
        assert!(plain > 2000.0, "{plain}");
        assert!(cost(&|| Box::new(ArgmaxOf { n: thousand, predict: &predict }), 3000) < 40.0);
        let bounds = [(0.0, 1.0), (0.0, 1.0)];
        assert!(cost(&|| Box::new(CrossEntropy::new(&bounds, 50, 10, &predict)), 3000) < 800.0);
        assert!(cost(&|| Box::new(Elites::new(&bounds, &[0, 1], 10, &predict)), 3000) < 1500.0);
    }

    #[test]
    fn replay_takes_the_least_noisy_then_the_most_recent_then_draws() {
        let past = |x: f64, noise: f64, time: u64| Past { x: vec![x], noise, time };
        let mut replay = Replay::new(vec![past(1.0, 0.5, 9), past(2.0, 0.1, 3), past(3.0, 0.1, 7)]);
        let mut rng = Rng::new(1);
        let order: Vec<f64> = (0..4).map(|_| replay.propose(&mut |_| vec![0.0], &mut rng)[0]).collect();
        assert_eq!(order, [3.0, 2.0, 1.0, 0.0]);
    }
}

//! The mean of the log odds of several probabilities to fail, as a probability: what the detectors say together.
//!
//! score = σ(mean of logit p), with each p kept 1e-6 from 0 and 1.

use super::Fitted;
use crate::rollout::Rollouts;

/// The least distance of a probability from 0 and 1.
const LEAST: f64 = 1e-6;

/// Several of which each gives a probability.
pub(super) struct Odds(pub(super) Vec<Box<dyn Fitted>>);

impl Fitted for Odds {
    fn scores(&self, data: &Rollouts, rollout: usize) -> Vec<f64> {
        let all: Vec<Vec<f64>> = self.0.iter().map(|of| of.scores(data, rollout)).collect();
        let together = |k: usize| {
            let sum: f64 = all.iter().map(|scores| logit(scores[k])).sum();
            1.0 / (1.0 + (-sum / all.len() as f64).exp())
        };
        (0..data.rollouts[rollout].steps()).map(together).collect()
    }
}

fn logit(p: f64) -> f64 {
    let p = p.clamp(LEAST, 1.0 - LEAST);
    (p / (1.0 - p)).ln()
}

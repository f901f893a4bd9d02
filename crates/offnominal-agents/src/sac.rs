//! SAC: soft actor-critic (Haarnoja, Zhou, Abbeel & Levine, ICML 2018) with two critics and without a value network
//! ("Soft actor-critic algorithms and applications", arXiv 1812.05905).
//!
//! Each critic minimises the mean of (Q(s, a) − y)², with y = r + γ (min Q′(s′, a′) − α log π(a′|s′)), or r where
//! nothing follows, where a′ is drawn by the actor and Q′ are the target critics (equations 5 and 6 there); the actor
//! maximises min Q(s, a) − α log π(a|s) (equation 7).

use crate::config::TrainConfig;
use crate::critics::Critics;
use crate::replay::Batch;
use crate::soft::{SoftActorCritic, ValueRule};
use crate::squashed::Sample;
use offnominal_nets::loss::mse;

/// The learner.
pub type Sac = SoftActorCritic<LowestValue>;

/// Critics predict the value; the smallest counts.
pub struct LowestValue {
    /// y, `[n]`
    targets: Vec<f32>,
    /// The smallest value of each row, and whose it is.
    lowest: Vec<(f32, usize)>,
    /// Weight of each row in the mean value of one critic, `[n]`.
    weights: Vec<f32>,
}

impl LowestValue {
    /// Finds the smallest value of each row; returns their mean.
    fn find_lowest(&mut self, critics: &mut Critics) -> f64 {
        self.lowest.fill((f32::INFINITY, 0));
        for n in 0..critics.count() {
            for (lowest, &value) in self.lowest.iter_mut().zip(critics.forward(n)) {
                if value < lowest.0 {
                    *lowest = (value, n);
                }
            }
        }
        self.lowest.iter().map(|&(value, _)| f64::from(value)).sum::<f64>() / self.lowest.len() as f64
    }
}

impl ValueRule for LowestValue {
    fn new(config: &TrainConfig) -> Self {
        LowestValue {
            targets: vec![0.0; config.batch],
            lowest: vec![(0.0, 0); config.batch],
            weights: vec![0.0; config.batch],
        }
    }

    fn outputs(_: &TrainConfig) -> usize {
        1
    }

    fn set_targets(&mut self, critics: &mut Critics, batch: &Batch, next: &Sample, gamma: f32, alpha: f32) {
        critics.lowest_target(&mut self.targets);
        for (i, y) in self.targets.iter_mut().enumerate() {
            let discount = gamma * (1.0 - batch.terminal[i]);
            *y = batch.reward[i] + discount * (*y - alpha * next.log_prob[i]);
        }
    }

    fn loss(&self, outputs: &[f32], d_outputs: &mut [f32]) -> f64 {
        mse(outputs, &self.targets, d_outputs)
    }

    /// The value is the smallest of the critics, so each row has a derivative by one of them only.
    fn value_gradient(&mut self, critics: &mut Critics, d_action: &mut [f32]) -> f64 {
        let (value, share) = (self.find_lowest(critics), 1.0 / self.weights.len() as f32);
        for n in 0..critics.count() {
            for (weight, &(_, owner)) in self.weights.iter_mut().zip(&self.lowest) {
                *weight = if owner == n { share } else { 0.0 };
            }
            critics.add_d_action(n, &self.weights, d_action);
        }
        value
    }
}

#[cfg(test)]
mod tests;

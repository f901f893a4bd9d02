//! SAC: soft actor-critic (Haarnoja, Zhou, Abbeel & Levine, ICML 2018) with two critics and without a value network
//! ("Soft actor-critic algorithms and applications", arXiv 1812.05905).
//!
//! Each critic minimises the mean of (Q(s, a) − y)², with y = r + γ (min Q′(s′, a′) − α log π(a′|s′)), or r where
//! nothing follows, where a′ is drawn by the actor and Q′ are the target critics (equations 5 and 6 there); the actor
//! maximises min Q(s, a) − α log π(a|s) (equation 7).

use crate::config::TrainConfig;
use crate::critics::Critics;
use crate::replay::Batch;
use crate::soft::{SoftActorCritic, SoftCritics};
use crate::squashed::Sample;
use offnominal_core::Rng;
use offnominal_nets::Adam;
use offnominal_nets::loss::mse;

/// The learner.
pub type Sac = SoftActorCritic<ValueCritics>;

/// Critics that predict the value, of which the smallest counts.
pub struct ValueCritics {
    ensemble: Critics,
    /// y, `[n]`
    targets: Vec<f32>,
    /// The smallest value of each row, and whose it is.
    lowest: Vec<(f32, usize)>,
    /// Weight of each row in the mean value of one critic, `[n]`.
    weights: Vec<f32>,
}

impl ValueCritics {
    /// Finds the smallest value of each row; returns their mean.
    fn find_lowest(&mut self) -> f64 {
        self.lowest.fill((f32::INFINITY, 0));
        for n in 0..self.ensemble.count() {
            for (lowest, &value) in self.lowest.iter_mut().zip(self.ensemble.forward(n)) {
                if value < lowest.0 {
                    *lowest = (value, n);
                }
            }
        }
        self.lowest.iter().map(|&(value, _)| f64::from(value)).sum::<f64>() / self.lowest.len() as f64
    }
}

impl SoftCritics for ValueCritics {
    fn new(config: &TrainConfig, widths: (usize, usize), rng: &mut Rng) -> Self {
        ValueCritics {
            ensemble: Critics::new(config, widths, (config.critics, 1), rng),
            targets: vec![0.0; config.batch],
            lowest: vec![(0.0, 0); config.batch],
            weights: vec![0.0; config.batch],
        }
    }

    fn set_targets(&mut self, batch: &Batch, next: &Sample, gamma: f32, alpha: f32) {
        self.ensemble.read(&batch.next_obs, &next.action);
        self.ensemble.lowest_target(&mut self.targets);
        for (i, y) in self.targets.iter_mut().enumerate() {
            let discount = gamma * (1.0 - batch.terminal[i]);
            *y = batch.reward[i] + discount * (*y - alpha * next.log_prob[i]);
        }
    }

    fn improve(&mut self, batch: &Batch, adam: Adam) -> f64 {
        let targets = &self.targets;
        self.ensemble.read(&batch.obs, &batch.action);
        self.ensemble.descend(adam, |q, d| mse(q, targets, d))
    }

    /// The value is the smallest of the critics, so each row has a derivative by one of them only.
    fn value_gradient(&mut self, obs: &[f32], action: &[f32], d_action: &mut [f32]) -> f64 {
        self.ensemble.read(obs, action);
        let (value, share) = (self.find_lowest(), 1.0 / self.weights.len() as f32);
        d_action.fill(0.0);
        for n in 0..self.ensemble.count() {
            for (weight, &(_, owner)) in self.weights.iter_mut().zip(&self.lowest) {
                *weight = if owner == n { share } else { 0.0 };
            }
            self.ensemble.add_d_action(n, &self.weights, d_action);
        }
        value
    }

    fn ensemble(&mut self) -> &mut Critics {
        &mut self.ensemble
    }

    fn networks(&self) -> &Critics {
        &self.ensemble
    }
}

#[cfg(test)]
mod tests;

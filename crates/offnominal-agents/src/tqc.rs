//! TQC: truncated quantile critics (Kuznetsov, Shvechikov, Grishin & Vetrov, ICML 2020).
//!
//! Each of N critics predicts M quantiles of the return. The target pools the N·M atoms of the target critics at the
//! next state, drops the d·N largest, and shifts the k = N·M − d·N that remain:
//! yᵢ = r + γ (zᵢ − α log π(a′|s′)), or r where nothing follows (equation 11 with d per critic).
//! Critic n minimises the mean quantile Huber loss between its quantiles and all yᵢ (equations 8 to 10), and the actor
//! maximises the mean of all N·M quantiles (none dropped) minus α log π (equation 15).

use crate::config::TrainConfig;
use crate::critics::Critics;
use crate::replay::Batch;
use crate::soft::{SoftActorCritic, ValueRule};
use crate::squashed::Sample;
use offnominal_nets::loss::quantile_huber;

/// The learner.
pub type Tqc = SoftActorCritic<TruncatedQuantiles>;

/// Critics predict quantiles of the return; the largest are left out of the target.
pub struct TruncatedQuantiles {
    quantiles: usize,
    /// k
    remaining: usize,
    /// Atoms of all target critics, `[n, N·M]`.
    pooled: Vec<f32>,
    /// The atoms that remain, randomisation: `[n, k]`.
    targets: Vec<f32>,
    /// Weight of each quantile in the mean value, `[n, M]`.
    weights: Vec<f32>,
}

impl TruncatedQuantiles {
    /// Collects the atoms of all target critics, row by row.
    fn pool(&mut self, critics: &mut Critics) {
        let (quantiles, width) = (self.quantiles, critics.count() * self.quantiles);
        for n in 0..critics.count() {
            let atoms = critics.forward_target(n).chunks_exact(quantiles);
            for (row, atoms) in self.pooled.chunks_exact_mut(width).zip(atoms) {
                row[n * quantiles..][..quantiles].copy_from_slice(atoms);
            }
        }
    }
}

impl ValueRule for TruncatedQuantiles {
    fn new(config: &TrainConfig) -> Self {
        let (quantiles, zeros) = (config.quantiles, |width: usize| vec![0.0; config.batch * width]);
        let remaining = config.critics * (quantiles - config.top_quantiles_to_drop);
        TruncatedQuantiles {
            quantiles,
            remaining,
            pooled: zeros(config.critics * quantiles),
            targets: zeros(remaining),
            weights: vec![1.0 / (config.batch * quantiles * config.critics) as f32; config.batch * quantiles],
        }
    }

    fn outputs(config: &TrainConfig) -> usize {
        config.quantiles
    }

    /// Equation 11: pools the target critics' atoms at the next actions, drops the largest, adds reward and entropy.
    fn set_targets(&mut self, critics: &mut Critics, batch: &Batch, next: &Sample, gamma: f32, alpha: f32) {
        self.pool(critics);
        let pools = self.pooled.chunks_exact_mut(critics.count() * self.quantiles);
        for (i, (pool, out)) in pools.zip(self.targets.chunks_exact_mut(self.remaining)).enumerate() {
            smallest_first(pool, self.remaining);
            let (reward, discount) = (batch.reward[i], gamma * (1.0 - batch.terminal[i]));
            let entropy = alpha * next.log_prob[i];
            out.iter_mut().zip(&*pool).for_each(|(y, z)| *y = reward + discount * (z - entropy));
        }
    }

    fn loss(&self, outputs: &[f32], d_outputs: &mut [f32]) -> f64 {
        quantile_huber(outputs, self.quantiles, &self.targets, self.remaining, d_outputs)
    }

    /// The value is the mean of all quantiles.
    fn value_gradient(&mut self, critics: &mut Critics, d_action: &mut [f32]) -> f64 {
        let mut sum = 0.0;
        for n in 0..critics.count() {
            sum += critics.forward(n).iter().map(|&v| f64::from(v)).sum::<f64>();
            critics.add_d_action(n, &self.weights, d_action);
        }
        sum / (self.weights.len() * critics.count()) as f64
    }
}

/// Brings the `k` smallest numbers to the front, in any order.
fn smallest_first(values: &mut [f32], k: usize) {
    if k < values.len() {
        values.select_nth_unstable_by(k, f32::total_cmp);
    }
}

#[cfg(test)]
mod tests;

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
use crate::soft::{SoftActorCritic, SoftCritics};
use crate::squashed::Sample;
use offnominal_core::Rng;
use offnominal_nets::Adam;
use offnominal_nets::loss::quantile_huber;

/// The learner.
pub type Tqc = SoftActorCritic<QuantileCritics>;

/// Critics that predict quantiles of the return.
pub struct QuantileCritics {
    ensemble: Critics,
    quantiles: usize,
    kept: usize,
    /// Atoms of all target critics, `[n, N·M]`.
    pooled: Vec<f32>,
    /// The atoms that remain, shifted: `[n, k]`.
    targets: Vec<f32>,
    /// Weight of each quantile in the mean value, `[n, M]`.
    weights: Vec<f32>,
}

impl QuantileCritics {
    /// Collects the atoms of all target critics, row by row.
    fn pool(&mut self) {
        let (quantiles, width) = (self.quantiles, self.ensemble.count() * self.quantiles);
        for n in 0..self.ensemble.count() {
            let atoms = self.ensemble.forward_target(n).chunks_exact(quantiles);
            for (row, atoms) in self.pooled.chunks_exact_mut(width).zip(atoms) {
                row[n * quantiles..][..quantiles].copy_from_slice(atoms);
            }
        }
    }
}

impl SoftCritics for QuantileCritics {
    fn new(config: &TrainConfig, widths: (usize, usize), rng: &mut Rng) -> Self {
        let (quantiles, zeros) = (config.quantiles, |width: usize| vec![0.0; config.batch * width]);
        let kept = config.critics * (quantiles - config.drop);
        QuantileCritics {
            ensemble: Critics::new(config, widths, (config.critics, quantiles), rng),
            quantiles,
            kept,
            pooled: zeros(config.critics * quantiles),
            targets: zeros(kept),
            weights: vec![1.0 / (config.batch * quantiles * config.critics) as f32; config.batch * quantiles],
        }
    }

    /// Equation 11: pools the target critics' atoms at the next commands, drops the largest, adds reward and entropy.
    fn set_targets(&mut self, batch: &Batch, next: &Sample, gamma: f32, alpha: f32) {
        self.ensemble.read(&batch.next_obs, &next.action);
        self.pool();
        let pools = self.pooled.chunks_exact_mut(self.ensemble.count() * self.quantiles);
        for (i, (pool, out)) in pools.zip(self.targets.chunks_exact_mut(self.kept)).enumerate() {
            keep_smallest(pool, self.kept);
            let (reward, discount) = (batch.reward[i], gamma * (1.0 - batch.terminal[i]));
            let entropy = alpha * next.log_prob[i];
            out.iter_mut().zip(&*pool).for_each(|(y, z)| *y = reward + discount * (z - entropy));
        }
    }

    fn improve(&mut self, batch: &Batch, adam: Adam) -> f64 {
        let (targets, quantiles, kept) = (&self.targets, self.quantiles, self.kept);
        self.ensemble.read(&batch.obs, &batch.action);
        self.ensemble.descend(adam, |z, d| quantile_huber(z, quantiles, targets, kept, d))
    }

    /// The value is the mean of all quantiles.
    fn value_gradient(&mut self, obs: &[f32], action: &[f32], d_action: &mut [f32]) -> f64 {
        self.ensemble.read(obs, action);
        d_action.fill(0.0);
        let mut sum = 0.0;
        for n in 0..self.ensemble.count() {
            sum += self.ensemble.forward(n).iter().map(|&v| f64::from(v)).sum::<f64>();
            self.ensemble.add_d_action(n, &self.weights, d_action);
        }
        sum / (self.weights.len() * self.ensemble.count()) as f64
    }

    fn ensemble(&mut self) -> &mut Critics {
        &mut self.ensemble
    }

    fn networks(&self) -> &Critics {
        &self.ensemble
    }
}

/// Brings the `k` smallest numbers to the front, in any order.
fn keep_smallest(values: &mut [f32], k: usize) {
    if k < values.len() {
        values.select_nth_unstable_by(k, f32::total_cmp);
    }
}

#[cfg(test)]
mod tests;

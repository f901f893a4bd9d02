//! A network that says the log odds that an episode fails, from examples of which few failed.
//!
//! Fitted by cross-entropy on batches of as many failures as others. That shifts the log odds by a constant; who only
//! orders draws or states by them does not mind.

pub mod rows;

use anyhow::{Context as _, Result};
use offnominal_core::Rng;
use offnominal_nets::loss::logistic;
use offnominal_nets::{Activation, Adam, AdamState, Gradients, Init, Mlp, Standardiser, Workspace};
use rows::{Balanced, Rows};

/// A network with the map that its inputs go through.
#[derive(Debug, Clone, PartialEq)]
pub struct Network {
    net: Mlp,
    params: Vec<f32>,
    scaler: Standardiser,
    /// Log odds of a failure among the rows that it was fitted to, which batches do not have.
    prior: f64,
}

/// The buffers of one thread.
pub struct Buffers {
    scaled: Vec<f32>,
    work: Workspace,
}

/// Widths of the hidden layers.
const HIDDEN: [usize; 2] = [64, 64];
/// Rows of each outcome in a batch.
const HALF: usize = 128;
/// Gradient steps between validations.
const EVERY: usize = 200;
/// Rows of each outcome on which the network is validated.
const HELD: usize = 2000;
const ADAM: Adam = Adam { lr: 1e-3, beta1: 0.9, beta2: 0.999, eps: 1e-8, weight_decay: 1e-3 };

impl Network {
    /// Fits it to rows, with the parameters that predict the rows of other episodes best; also returns their
    /// cross-entropy there, of which ln 2 is that of knowing nothing.
    ///
    /// # Errors
    /// If one of both has no episode that failed, or none that did not.
    pub fn fit(train: &Rows, held: &Rows, steps: usize, rng: &mut Rng) -> Result<(Network, f64)> {
        let both = "expected episodes that failed and others to learn from, found one kind only; play more of them, or \
                    those of policies that fail more often";
        let (examples, held) = (Balanced::of(train).context(both)?, Balanced::of(held).context(both)?);
        let scaler = Standardiser::fit(train.numbers(), train.width());
        let net = Mlp::new(&[&[scaler.outputs()], &HIDDEN[..], &[1]].concat(), Activation::Relu);
        let mut params = vec![0.0; net.n_params()];
        net.init(&mut params, Init::Uniform, rng);
        let prior = (train.mean() / (1.0 - train.mean())).ln();
        let mut now = Network { net, params, scaler, prior };
        let held = now.scaled(&held.batch(HELD, rng));
        let mut best = (f64::INFINITY, now.params.clone());
        let (mut state, mut grad) = (AdamState::new(now.params.len()), vec![0.0; now.params.len()]);
        let (mut work, mut delta) = (now.net.workspace(2 * HALF), vec![0.0; 2 * HALF]);
        for step in 1..=steps {
            let rows = now.scaled(&examples.batch(HALF, rng));
            logistic(now.net.forward(&now.params, &rows, &mut work), &outcomes(HALF), &mut delta);
            now.net.backward(&now.params, &rows, &mut work, &delta, Gradients::params(&mut grad));
            ADAM.step(&mut now.params, &grad, &mut state);
            if step % EVERY == 0 || step == steps {
                let loss = now.loss(&held);
                if loss < best.0 {
                    best = (loss, now.params.clone());
                }
            }
        }
        now.params = best.1;
        Ok((now, best.0))
    }

    fn scaled(&self, rows: &[f32]) -> Vec<f32> {
        let mut scaled = vec![0.0; rows.len() / self.scaler.inputs() * self.scaler.outputs()];
        self.scaler.apply(rows, &mut scaled);
        scaled
    }

    /// Mean cross-entropy of scaled rows, of which the first half failed.
    fn loss(&self, rows: &[f32]) -> f64 {
        let n = rows.len() / self.scaler.outputs();
        let (mut work, mut delta) = (self.net.workspace(n), vec![0.0; n]);
        logistic(self.net.forward(&self.params, rows, &mut work), &outcomes(n / 2), &mut delta)
    }

    /// Buffers for one thread.
    pub fn buffers(&self) -> Buffers {
        Buffers { scaled: vec![0.0; self.scaler.outputs()], work: self.net.workspace(1) }
    }

    /// The log odds of a row, but for a constant.
    pub fn value(&self, row: &[f32], with: &mut Buffers) -> f64 {
        self.scaler.apply(row, &mut with.scaled);
        f64::from(self.net.forward(&self.params, &with.scaled, &mut with.work)[0])
    }
}

/// The outcomes of a batch.
fn outcomes(half: usize) -> Vec<f32> {
    [vec![1.0; half], vec![0.0; half]].concat()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn states_are_ordered_by_their_chance_to_fail() {
        let rows = |seed| {
            let (mut rng, mut rows) = (Rng::new(seed), Rows::new(2));
            for _ in 0..4000 {
                let x = [rng.uniform() as f32, rng.uniform() as f32];
                rows.push(&x, rng.uniform() < 0.2 * f64::from(x[0]).powi(4));
            }
            rows
        };
        let (network, loss) = Network::fit(&rows(1), &rows(2), 1000, &mut Rng::new(3)).unwrap();
        assert!(loss < 0.6, "{loss}");
        let mut buffers = network.buffers();
        let values = [0.2, 0.5, 0.7, 0.9].map(|x| network.value(&[x, 0.5], &mut buffers));
        assert!(values.is_sorted(), "{values:?}");
    }
}

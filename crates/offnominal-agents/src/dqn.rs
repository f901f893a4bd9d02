//! DQN: deep Q-network (Mnih et al., Nature 2015), for actions that are a choice; optionally double DQN (van Hasselt,
//! Guez & Silver, AAAI 2016).
//!
//! The network gives the value of each choice. That of the choice made moves towards y = r + γ max Q′(s′, ·), or r where
//! nothing follows, by the Huber loss; with `double`, y = r + γ Q′(s′, argmax Q(s′, ·)). Every `target_every` gradient
//! steps the target network moves by the share `tau` towards the network; 1 copies it. Exploring is random with
//! probability ε, which falls linearly from 1 to `epsilon_end` over `epsilon_steps` steps in the environment.
//!
//! With `imitation`, a large-margin loss pulls the values of other choices below that of the demonstrator's choice
//! (Hester et al., AAAI 2018, equation 2).
//!
//! A network with dropout or dropconnect learns in stochastic passes; targets and exploration use the whole network.
//! One with a prior has a part that does not learn. One that reads images has a convolutional encoder before its dense
//! layers; only the latter drop anything.

mod large_margin;

use crate::actor::largest;
use crate::config::TrainConfig;
use crate::learner::{Learner, Losses};
use crate::policy_net::PolicyNet;
use crate::replay::Batch;
use offnominal_core::Rng;
use offnominal_nets::loss::huber;
use offnominal_nets::{Adam, ConvNet, Net, TensorError, Tensors};

/// The learner.
pub struct Dqn {
    values: PolicyNet,
    config: TrainConfig,
    buffers: Buffers,
}

/// What a gradient step writes to.
struct Buffers {
    /// The choice whose value counts at each next observation, where the target network does not determine it.
    best: Vec<usize>,
    /// y, `[n]`
    targets: Vec<f32>,
    /// Values of the choices made, `[n]`, and the derivatives by them.
    chosen: Vec<f32>,
    d_chosen: Vec<f32>,
    /// `[n, choices]`
    d_values: Vec<f32>,
}

impl Dqn {
    /// A new network for observations of the given width and so many choices, which reads what the encoder, if there is
    /// one, makes of an observation.
    pub fn new(
        config: &TrainConfig,
        encoder: Option<ConvNet>,
        obs_width: usize,
        choices: usize,
        rng: &mut Rng,
    ) -> Dqn {
        let zeros = || vec![0.0; config.batch];
        Dqn {
            values: PolicyNet::new(config, encoder, (obs_width, choices), "values", rng),
            config: config.clone(),
            buffers: Buffers {
                best: vec![0; config.batch],
                targets: zeros(),
                chosen: zeros(),
                d_chosen: zeros(),
                d_values: vec![0.0; config.batch * choices],
            },
        }
    }

    /// ε after so many steps in the environment.
    fn epsilon(&self, step: u64) -> f64 {
        let done = (step as f64 / self.config.epsilon_steps as f64).min(1.0);
        1.0 + (self.config.epsilon_end - 1.0) * done
    }

    /// y for each transition.
    fn set_targets(&mut self, batch: &Batch) {
        let (b, n) = (&mut self.buffers, self.values.net.outputs());
        if self.config.double {
            let values = self.values.forward(&batch.next_obs);
            b.best.iter_mut().zip(values.chunks_exact(n)).for_each(|(best, row)| *best = largest(row));
        }
        let values = self.values.forward_target(&batch.next_obs);
        for (i, row) in values.chunks_exact(n).enumerate() {
            let best = if self.config.double { b.best[i] } else { largest(row) };
            b.targets[i] = batch.reward[i] + self.config.gamma as f32 * (1.0 - batch.terminal[i]) * row[best];
        }
    }

    /// Loss, whose derivatives by the parameters become the gradient; also the mean value of the best choices.
    fn gradient(&mut self, batch: &Batch, rng: &mut Rng) -> (f64, f64) {
        let (b, n) = (&mut self.buffers, self.values.net.outputs());
        let values = self.values.pass(&batch.obs, rng);
        let mut value = 0.0;
        for (i, row) in values.chunks_exact(n).enumerate() {
            b.chosen[i] = row[batch.action[i] as usize];
            value += f64::from(row[largest(row)]) / batch.len() as f64;
        }
        let loss = huber(&b.chosen, &b.targets, &mut b.d_chosen);
        b.d_values.fill(0.0);
        for (i, row) in b.d_values.chunks_exact_mut(n).enumerate() {
            row[batch.action[i] as usize] = b.d_chosen[i];
        }
        let weight = self.config.imitation as f32;
        let margin = large_margin::add(weight, batch, self.values.output(), &mut b.d_values);
        self.values.backward(&batch.obs, &b.d_values);
        (loss + margin, value)
    }
}

impl Learner for Dqn {
    fn explore(&mut self, obs: &[f32], action: &mut [f32], step: u64, rng: &mut Rng) {
        let choice = if rng.uniform() < self.epsilon(step) {
            rng.below(self.values.net.outputs())
        } else {
            largest(self.values.of(obs))
        };
        action[0] = choice as f32;
    }

    fn noise(&self, step: u64) -> f64 {
        self.epsilon(step)
    }

    fn update(&mut self, batch: &Batch, lr: f64, rng: &mut Rng) -> Losses {
        self.set_targets(batch);
        let (critic, value) = self.gradient(batch, rng);
        self.values.weights.step(Adam { lr, ..Adam::default() });
        if self.values.weights.steps().is_multiple_of(self.config.target_every) {
            self.values.follow(self.config.tau as f32);
        }
        Losses { critic, value, ..Losses::default() }
    }

    fn actor(&self) -> (Net, Vec<f32>) {
        self.values.policy()
    }

    fn save(&self, into: &mut Tensors) {
        self.values.save(into);
    }

    fn load(&mut self, from: &Tensors) -> Result<(), TensorError> {
        self.values.load(from)
    }
}

#[cfg(test)]
mod tests;

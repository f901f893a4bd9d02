//! TQC: truncated quantile critics (Kuznetsov, Shvechikov, Grishin & Vetrov, ICML 2020).
//!
//! Each of N critics predicts M quantiles of the return. The target pools the N·M atoms of the target critics at the
//! next state, drops the d·N largest, and shifts the k = N·M − d·N that remain:
//! yᵢ = r + γ (zᵢ − α log π(a′|s′)), or r where nothing follows (equation 11 with d per critic).
//! Critic n minimises the mean quantile Huber loss between its quantiles and all yᵢ (equations 8 to 10), the actor
//! maximises the mean of all N·M quantiles (none dropped) minus α log π (equation 15), and log α follows the gap
//! between the entropy and its target, −dim A (equation 14).
//!
//! Within one step, as in sb3-contrib: temperature, critics, actor, target critics; α is the value before the step.

mod critic;
mod state;

use crate::config::TrainConfig;
use crate::learner::{Learner, Losses};
use crate::replay::Batch;
use crate::squashed::Sample;
use critic::Critics;
use offnominal_core::Rng;
use offnominal_nets::{Activation, Adam, AdamState, Gradients, Init, Mlp, TensorError, Tensors, Workspace};

/// The learner.
pub struct Tqc {
    actor: Mlp,
    actor_params: Vec<f32>,
    actor_adam: AdamState,
    critics: Critics,
    /// log α, as the one parameter of an optimiser.
    temperature: [f32; 1],
    temperature_adam: AdamState,
    gamma: f32,
    target_entropy: f64,
    buffers: Buffers,
}

/// What a gradient step writes to.
struct Buffers {
    /// The actor's passes over the current and over the next observations, and over one observation.
    here: Workspace,
    next: Workspace,
    single: Workspace,
    sample: Sample,
    next_sample: Sample,
    single_sample: Sample,
    d_action: Vec<f32>,
    d_head: Vec<f32>,
    grad: Vec<f32>,
}

impl Tqc {
    /// New networks for the given widths.
    pub fn new(config: &TrainConfig, obs_width: usize, act_width: usize, rng: &mut Rng) -> Tqc {
        let sizes = [&[obs_width], config.hidden.as_slice(), &[2 * act_width]].concat();
        let actor = Mlp::new(&sizes, Activation::Relu);
        let mut actor_params = vec![0.0; actor.n_params()];
        actor.init(&mut actor_params, Init::Uniform, rng);
        Tqc {
            actor_adam: AdamState::new(actor_params.len()),
            critics: Critics::new(config, obs_width, act_width, rng),
            temperature: [0.0],
            temperature_adam: AdamState::new(1),
            gamma: config.gamma as f32,
            target_entropy: config.target_entropy.unwrap_or(-(act_width as f64)),
            buffers: Buffers::new(&actor, config.batch, act_width),
            actor,
            actor_params,
        }
    }

    /// α, the weight of the entropy.
    pub fn temperature(&self) -> f32 {
        self.temperature[0].exp()
    }

    /// Draws the actor's commands at the current observations, and the mean of their log π.
    fn draw(&mut self, batch: &Batch, rng: &mut Rng) -> f64 {
        let b = &mut self.buffers;
        let head = self.actor.forward(&self.actor_params, &batch.obs, &mut b.here);
        b.sample.draw(head, rng);
        b.sample.log_prob.iter().map(|&l| f64::from(l)).sum::<f64>() / batch.len() as f64
    }

    /// Moves log α: the derivative of −log α (mean log π + target) is that gap with its sign changed.
    fn tune_temperature(&mut self, mean_log_prob: f64, adam: Adam) {
        let grad = [-(mean_log_prob + self.target_entropy) as f32];
        adam.step(&mut self.temperature, &grad, &mut self.temperature_adam);
    }

    /// Moves the critics towards the truncated target.
    fn improve_critics(&mut self, batch: &Batch, alpha: f32, adam: Adam, rng: &mut Rng) -> f64 {
        let b = &mut self.buffers;
        let head = self.actor.forward(&self.actor_params, &batch.next_obs, &mut b.next);
        b.next_sample.draw(head, rng);
        self.critics.set_targets(batch, &b.next_sample, self.gamma, alpha);
        self.critics.improve(batch, adam)
    }

    /// Derivatives of mean(α log π − Q) by the actor's parameters, for the commands drawn before; returns loss and Q.
    fn actor_gradient(&mut self, batch: &Batch, alpha: f32, mean_log_prob: f64) -> (f64, f64) {
        let b = &mut self.buffers;
        let value = self.critics.value_gradient(&batch.obs, &b.sample.action, &mut b.d_action);
        b.d_action.iter_mut().for_each(|d| *d = -*d);
        let head = b.here.output();
        b.sample.gradient(head, alpha / batch.len() as f32, &b.d_action, &mut b.d_head);
        let wanted = Gradients::params(&mut b.grad);
        self.actor.backward(&self.actor_params, &batch.obs, &mut b.here, &b.d_head, wanted);
        (f64::from(alpha) * mean_log_prob - value, value)
    }
}

impl Buffers {
    fn new(actor: &Mlp, batch: usize, act_width: usize) -> Buffers {
        Buffers {
            here: actor.workspace(batch),
            next: actor.workspace(batch),
            single: actor.workspace(1),
            sample: Sample::new(batch, act_width),
            next_sample: Sample::new(batch, act_width),
            single_sample: Sample::new(1, act_width),
            d_action: vec![0.0; batch * act_width],
            d_head: vec![0.0; batch * 2 * act_width],
            grad: vec![0.0; actor.n_params()],
        }
    }
}

impl Learner for Tqc {
    fn explore(&mut self, obs: &[f32], action: &mut [f32], rng: &mut Rng) {
        let b = &mut self.buffers;
        b.single_sample.draw(self.actor.forward(&self.actor_params, obs, &mut b.single), rng);
        action.copy_from_slice(&b.single_sample.action);
    }

    fn update(&mut self, batch: &Batch, lr: f64, rng: &mut Rng) -> Losses {
        let (adam, alpha) = (Adam { lr, ..Adam::default() }, self.temperature());
        let mean_log_prob = self.draw(batch, rng);
        self.tune_temperature(mean_log_prob, adam);
        let critic = self.improve_critics(batch, alpha, adam, rng);
        let (actor, value) = self.actor_gradient(batch, alpha, mean_log_prob);
        adam.step(&mut self.actor_params, &self.buffers.grad, &mut self.actor_adam);
        self.critics.follow();
        Losses { critic, actor, temperature: f64::from(alpha), entropy: -mean_log_prob, value }
    }

    /// Only the means of the head: the first half of the last layer's columns.
    fn actor(&self) -> (Mlp, Vec<f32>) {
        let mut sizes = self.actor.sizes().to_vec();
        let last = self.actor.n_layers() - 1;
        let width = sizes[last + 1] / 2;
        sizes[last + 1] = width;
        let mut params = self.actor_params[..self.actor.weights(last).start].to_vec();
        for row in self.actor_params[self.actor.weights(last).start..].chunks_exact(2 * width) {
            params.extend_from_slice(&row[..width]);
        }
        (Mlp::new(&sizes, Activation::Relu), params)
    }

    fn save(&self, into: &mut Tensors) {
        state::save(self, into);
    }

    fn load(&mut self, from: &Tensors) -> Result<(), TensorError> {
        state::load(self, from)
    }
}

#[cfg(test)]
mod tests;

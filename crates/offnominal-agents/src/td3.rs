//! TD3: twin delayed deep deterministic policy gradient (Fujimoto, van Hoof & Meger, ICML 2018, algorithm 1).
//!
//! Each critic minimises the mean of (Q(s, a) − y)², with y = r + γ min Q′(s′, a′), or r where nothing follows. The
//! next action is that of the target actor, blurred: a′ = μ′(s′) + ε cut to [−1, 1], where ε ~ N(0, σ²) is cut to
//! [−c, c] (`policy_noise` σ, `noise_clip` c; equation 14). Every `policy_delay` steps the actor moves up the value
//! that the first critic gives to its actions, and the target networks follow. Actions are explored with
//! N(0, `exploration_noise`²) added.
//!
//! DDPG, deep deterministic policy gradient (Lillicrap et al., ICLR 2016), is the same with one critic, no blur, and an
//! actor that moves at every step.
//!
//! With a linear output (`output_activation`) actions are not cut before the critics see them, as in the example of
//! Keras-RL.
//!
//! An actor with dropout or dropconnect learns in stochastic passes; targets and exploration use the whole network. One
//! with a prior has a part that does not learn.

use crate::config::{OutputActivation, TrainConfig};
use crate::critics::Critics;
use crate::learner::{Learner, Losses};
use crate::policy_net::PolicyNet;
use crate::replay::Batch;
use offnominal_core::Rng;
use offnominal_nets::loss::mse;
use offnominal_nets::{Adam, Net, TensorError, Tensors};

/// The learner.
pub struct Td3 {
    actor: PolicyNet,
    critics: Critics,
    config: TrainConfig,
    buffers: Buffers,
    /// Loss of the actor and mean value when it was last improved.
    last: (f64, f64),
}

/// What a gradient step writes to.
struct Buffers {
    /// Actions, current or next, `[n, act]`.
    action: Vec<f32>,
    noise: Vec<f32>,
    /// y, `[n]`
    targets: Vec<f32>,
    /// Weight of each row in the mean value, `[n]`.
    weights: Vec<f32>,
    d_action: Vec<f32>,
}

impl Td3 {
    /// New networks for the given widths.
    pub fn new(config: &TrainConfig, obs_width: usize, act_width: usize, rng: &mut Rng) -> Td3 {
        let zeros = || vec![0.0; config.batch * act_width];
        Td3 {
            actor: PolicyNet::new(config, None, (obs_width, act_width), "actor", rng),
            critics: Critics::new(config, (obs_width, act_width), (config.critics, 1), rng),
            config: config.clone(),
            buffers: Buffers {
                action: zeros(),
                noise: zeros(),
                targets: vec![0.0; config.batch],
                weights: vec![1.0 / config.batch as f32; config.batch],
                d_action: zeros(),
            },
            last: (0.0, 0.0),
        }
    }

    /// DDPG: the same with one critic, no blur, and no delay.
    pub fn ddpg(config: &TrainConfig, obs_width: usize, act_width: usize, rng: &mut Rng) -> Td3 {
        let config = TrainConfig { critics: 1, policy_noise: 0.0, policy_delay: 1, ..config.clone() };
        Td3::new(&config, obs_width, act_width, rng)
    }

    /// y = r + γ min Q′(s′, a′) for the blurred actions of the target actor.
    fn set_targets(&mut self, batch: &Batch, rng: &mut Rng) {
        let (b, gamma) = (&mut self.buffers, self.config.gamma as f32);
        activate(self.config.output_activation, self.actor.forward_target(&batch.next_obs), &mut b.action);
        blur(&mut b.action, &mut b.noise, &self.config, rng);
        self.critics.read(&batch.next_obs, &b.action);
        self.critics.lowest_target(&mut b.targets);
        for (i, y) in b.targets.iter_mut().enumerate() {
            *y = batch.reward[i] + gamma * (1.0 - batch.terminal[i]) * *y;
        }
    }

    /// One step of each critic towards the targets; returns the mean loss.
    fn improve_critics(&mut self, batch: &Batch, adam: Adam) -> f64 {
        let targets = &self.buffers.targets;
        self.critics.read(&batch.obs, &batch.action);
        self.critics.descend(adam, |q, d| mse(q, targets, d))
    }

    /// Derivatives of −mean Q(s, μ(s)) by the actor's parameters, where Q is the first critic; returns that mean.
    fn actor_gradient(&mut self, batch: &Batch, rng: &mut Rng) -> f64 {
        let (b, activation) = (&mut self.buffers, self.config.output_activation);
        activate(activation, self.actor.pass(&batch.obs, rng), &mut b.action);
        self.critics.read(&batch.obs, &b.action);
        let value = self.critics.forward(0).iter().map(|&q| f64::from(q)).sum::<f64>() / batch.len() as f64;
        b.d_action.fill(0.0);
        self.critics.add_d_action(0, &b.weights, &mut b.d_action);
        b.d_action.iter_mut().zip(&b.action).for_each(|(d, &a)| *d *= -activation.slope(a));
        self.actor.backward(&batch.obs, &b.d_action);
        value
    }

    /// Moves the actor and the target networks.
    fn improve_actor(&mut self, batch: &Batch, adam: Adam, rng: &mut Rng) {
        let value = self.actor_gradient(batch, rng);
        self.actor.weights.step(adam);
        self.actor.follow(self.config.tau as f32);
        self.critics.follow();
        self.last = (-value, value);
    }
}

/// Takes outputs of an actor to actions.
fn activate(activation: OutputActivation, head: &[f32], action: &mut [f32]) {
    action.iter_mut().zip(head).for_each(|(a, &z)| *a = activation.of(z));
}

/// Target policy smoothing: adds noise that is cut, and cuts the actions.
fn blur(action: &mut [f32], noise: &mut [f32], config: &TrainConfig, rng: &mut Rng) {
    let (scale, clip) = (config.policy_noise as f32, config.noise_clip as f32);
    if scale == 0.0 {
        return;
    }
    rng.fill_normal(noise);
    for (a, e) in action.iter_mut().zip(noise) {
        *a = config.output_activation.within(*a + (scale * *e).clamp(-clip, clip));
    }
}

impl Learner for Td3 {
    fn explore(&mut self, obs: &[f32], action: &mut [f32], _: u64, rng: &mut Rng) {
        let (activation, noise) = (self.config.output_activation, self.config.exploration_noise as f32);
        activate(activation, self.actor.of(obs), action);
        action.iter_mut().for_each(|a| *a = activation.within(*a + noise * rng.normal() as f32));
    }

    fn noise(&self, _: u64) -> f64 {
        f64::from(self.config.exploration_noise as f32)
    }

    fn update(&mut self, batch: &Batch, lr: f64, rng: &mut Rng) -> Losses {
        let adam = Adam { lr, ..Adam::default() };
        self.set_targets(batch, rng);
        let critic = self.improve_critics(batch, adam);
        if self.critics.updates().is_multiple_of(self.config.policy_delay) {
            self.improve_actor(batch, adam, rng);
        }
        Losses { critic, actor: self.last.0, value: self.last.1, ..Losses::default() }
    }

    fn actor(&self) -> (Net, Vec<f32>) {
        self.actor.policy()
    }

    fn save(&self, into: &mut Tensors) {
        self.actor.save(into);
        self.critics.save(into);
    }

    fn load(&mut self, from: &Tensors) -> Result<(), TensorError> {
        self.actor.load(from)?;
        self.critics.load(from)
    }
}

#[cfg(test)]
mod tests;

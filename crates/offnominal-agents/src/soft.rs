//! The frame of the maximum-entropy actor-critics (Haarnoja et al. 2018); SAC and TQC differ only in their critics.
//!
//! Critics learn from the actions that the actor would draw at the next state; the actor maximises their value of its
//! actions minus α log π; α follows the entropy's gap to its target, or is fixed.
//!
//! Within one step, as in Stable-Baselines3: temperature, critics, actor, target critics; α is the value before the
//! step.

use crate::config::TrainConfig;
use crate::critics::Critics;
use crate::gaussian::GaussianActor;
use crate::learner::{Learner, Losses};
use crate::replay::Batch;
use crate::squashed::Sample;
use crate::temperature::Temperature;
use offnominal_core::Rng;
use offnominal_nets::{Adam, Net, TensorError, Tensors};

/// What the critics of an algorithm predict, and how the actor reads them.
pub trait ValueRule: Send {
    /// The rule of a recipe, with its buffers.
    fn new(config: &TrainConfig) -> Self;

    /// Outputs of a critic.
    fn outputs(config: &TrainConfig) -> usize;

    /// Sets the targets from the actions at the next observations, with the discount γ and the temperature α.
    fn set_targets(&mut self, critics: &mut Critics, batch: &Batch, next: &Sample, gamma: f32, alpha: f32);

    /// The mean loss of the outputs of a critic, whose derivatives are written.
    fn loss(&self, outputs: &[f32], d_outputs: &mut [f32]) -> f64;

    /// The mean value that the critics give to the actions that they have read, and its derivatives by these.
    fn value_gradient(&mut self, critics: &mut Critics, d_action: &mut [f32]) -> f64;
}

/// A learner of the maximum-entropy family.
pub struct SoftActorCritic<R> {
    pub(crate) actor: GaussianActor,
    pub(crate) critics: Critics,
    pub(crate) rule: R,
    pub(crate) temperature: Temperature,
    gamma: f32,
    pub(crate) imitation: f32,
    d_action: Vec<f32>,
}

impl<R: ValueRule> SoftActorCritic<R> {
    /// New networks for the given widths.
    pub fn new(config: &TrainConfig, obs_width: usize, act_width: usize, rng: &mut Rng) -> Self {
        SoftActorCritic {
            actor: GaussianActor::new(config, obs_width, act_width, rng),
            critics: Critics::new(config, (obs_width, act_width), (config.critics, R::outputs(config)), rng),
            rule: R::new(config),
            temperature: Temperature::new(config, act_width),
            gamma: config.gamma as f32,
            imitation: config.imitation as f32,
            d_action: vec![0.0; config.batch * act_width],
        }
    }

    /// α, the weight of the entropy.
    pub fn temperature(&self) -> f32 {
        self.temperature.value()
    }

    /// Draws the actor's actions at the current observations; returns the mean of their log π.
    pub(crate) fn draw(&mut self, batch: &Batch, rng: &mut Rng) -> f64 {
        let sample = self.actor.draw(&batch.obs, rng);
        sample.log_prob.iter().map(|&l| f64::from(l)).sum::<f64>() / batch.len() as f64
    }

    /// Moves the critics towards their target.
    pub(crate) fn improve_critics(&mut self, batch: &Batch, alpha: f32, adam: Adam, rng: &mut Rng) -> f64 {
        let next = self.actor.draw_next(&batch.next_obs, rng);
        self.critics.read(&batch.next_obs, &next.action);
        self.rule.set_targets(&mut self.critics, batch, next, self.gamma, alpha);
        self.critics.read(&batch.obs, &batch.action);
        self.critics.descend(adam, |outputs, d_outputs| self.rule.loss(outputs, d_outputs))
    }

    /// Derivatives of mean(α log π − Q), and of the pull towards advised actions, by the actor's parameters, for the
    /// actions drawn before; returns loss and Q.
    pub(crate) fn actor_gradient(&mut self, batch: &Batch, alpha: f32, mean_log_prob: f64) -> (f64, f64) {
        let action = &self.actor.sample().action;
        self.critics.read(&batch.obs, action);
        self.d_action.fill(0.0);
        let value = self.rule.value_gradient(&mut self.critics, &mut self.d_action);
        self.d_action.iter_mut().for_each(|d| *d = -*d);
        let distance = imitate(self.imitation, batch, action, &mut self.d_action);
        self.actor.gradient(&batch.obs, alpha / batch.len() as f32, &self.d_action);
        (f64::from(alpha) * mean_log_prob - value + distance, value)
    }
}

/// Adds the derivatives of weight · mean |a − a′|² by the actions a, where a′ are the demonstrator's and transitions
/// without one count 0 (the behaviour-cloning loss of Nair et al. 2018, without its filter); returns that sum.
fn imitate(weight: f32, batch: &Batch, action: &[f32], d_action: &mut [f32]) -> f64 {
    let (width, mut sum) = (action.len() / batch.len(), 0.0);
    for (i, (&a, d)) in action.iter().zip(d_action).enumerate() {
        let scale = weight * batch.advised[i / width] / batch.len() as f32;
        let gap = a - batch.advice[i];
        *d += 2.0 * scale * gap;
        sum += f64::from(scale * gap * gap);
    }
    sum
}

impl<R: ValueRule> Learner for SoftActorCritic<R> {
    fn explore(&mut self, obs: &[f32], action: &mut [f32], _: u64, rng: &mut Rng) {
        self.actor.explore(obs, action, rng);
    }

    fn noise(&self, _: u64) -> f64 {
        f64::from(self.temperature())
    }

    fn update(&mut self, batch: &Batch, lr: f64, rng: &mut Rng) -> Losses {
        let (adam, alpha) = (Adam { lr, ..Adam::default() }, self.temperature());
        let mean_log_prob = self.draw(batch, rng);
        self.temperature.tune(mean_log_prob, adam);
        let critic = self.improve_critics(batch, alpha, adam, rng);
        let (actor, value) = self.actor_gradient(batch, alpha, mean_log_prob);
        self.actor.weights.step(adam);
        self.critics.follow();
        Losses { critic, actor, temperature: f64::from(alpha), entropy: -mean_log_prob, value }
    }

    fn actor(&self) -> (Net, Vec<f32>) {
        let (net, params) = self.actor.means();
        (net.into(), params)
    }

    fn save(&self, into: &mut Tensors) {
        self.actor.weights.save(into);
        self.temperature.save(into);
        self.critics.save(into);
    }

    fn load(&mut self, from: &Tensors) -> Result<(), TensorError> {
        self.actor.weights.load(from)?;
        self.temperature.load(from)?;
        self.critics.load(from)
    }
}

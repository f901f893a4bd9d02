//! TD3: twin delayed deep deterministic policy gradient (Fujimoto, van Hoof & Meger, ICML 2018, algorithm 1).
//!
//! Each critic minimises the mean of (Q(s, a) − y)², with y = r + γ min Q′(s′, a′), or r where nothing follows. The
//! next command is that of the target actor, blurred: a′ = μ′(s′) + ε cut to [−1, 1], where ε ~ N(0, σ²) is cut to
//! [−c, c] (`policy_noise` σ, `noise_clip` c; equation 14). Every `policy_delay` steps the actor moves up the value
//! that the first critic gives to its commands, and the target networks follow. Commands are explored with
//! N(0, `exploration_noise`²) added.
//!
//! DDPG, deep deterministic policy gradient (Lillicrap et al., ICLR 2016), is the same with one critic, no blur, and an
//! actor that moves at every step.
//!
//! An actor with dropout or dropconnect learns in stochastic passes; targets and exploration use the whole network. One
//! with a prior has a part that does not learn.

use crate::config::TrainConfig;
use crate::critics::{Critics, follow};
use crate::learner::{Learner, Losses};
use crate::passes::Passes;
use crate::prior::Prior;
use crate::replay::Batch;
use crate::state::{put, put_adam, read, read_adam};
use offnominal_core::Rng;
use offnominal_nets::loss::mse;
use offnominal_nets::{
    Activation, Adam, AdamState, Init, Mlp, Net, NetWorkspace, TensorError, Tensors, tanh,
};

/// The learner.
pub struct Td3 {
    actor: Net,
    params: Vec<f32>,
    target: Vec<f32>,
    adam: AdamState,
    critics: Critics,
    recipe: Recipe,
    buffers: Buffers,
    prior: Option<Prior>,
    /// Loss of the actor and mean value when it was last improved.
    last: (f64, f64),
}

/// The numbers of the algorithm.
#[derive(Debug, Clone, Copy)]
struct Recipe {
    gamma: f32,
    tau: f32,
    exploration_noise: f32,
    policy_noise: f32,
    noise_clip: f32,
    policy_delay: u64,
}

/// What a gradient step writes to.
struct Buffers {
    passes: Passes,
    work: NetWorkspace,
    single: NetWorkspace,
    /// Commands, current or next, `[n, act]`.
    action: Vec<f32>,
    noise: Vec<f32>,
    /// y, `[n]`
    targets: Vec<f32>,
    /// Weight of each row in the mean value, `[n]`.
    weights: Vec<f32>,
    d_action: Vec<f32>,
    grad: Vec<f32>,
}

impl Td3 {
    /// New networks for the given widths.
    pub fn new(config: &TrainConfig, obs_width: usize, act_width: usize, rng: &mut Rng) -> Td3 {
        let head = Mlp::new(&config.widths(obs_width, act_width), Activation::Relu);
        let actor = Net::from(config.drop_from(head));
        let mut params = vec![0.0; actor.n_params()];
        actor.init(&mut params, Init::Uniform, rng);
        let prior = Prior::plant(config, actor.head(), &mut params, rng);
        Td3 {
            target: params.clone(),
            adam: AdamState::new(params.len()),
            critics: Critics::new(config, (obs_width, act_width), (config.critics, 1), rng),
            recipe: Recipe::of(config),
            buffers: Buffers::new(&actor, config.batch),
            prior,
            last: (0.0, 0.0),
            actor,
            params,
        }
    }

    /// DDPG: the same with one critic, no blur, and no delay.
    pub fn ddpg(config: &TrainConfig, obs_width: usize, act_width: usize, rng: &mut Rng) -> Td3 {
        let config = TrainConfig { critics: 1, policy_noise: 0.0, policy_delay: 1, ..config.clone() };
        Td3::new(&config, obs_width, act_width, rng)
    }

    /// y = r + γ min Q′(s′, a′) for the blurred commands of the target actor.
    fn set_targets(&mut self, batch: &Batch, rng: &mut Rng) {
        let (b, recipe) = (&mut self.buffers, self.recipe);
        squash(self.actor.forward(&self.target, &batch.next_obs, &mut b.work), &mut b.action);
        blur(&mut b.action, &mut b.noise, recipe, rng);
        self.critics.read(&batch.next_obs, &b.action);
        self.critics.lowest_target(&mut b.targets);
        for (i, y) in b.targets.iter_mut().enumerate() {
            *y = batch.reward[i] + recipe.gamma * (1.0 - batch.terminal[i]) * *y;
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
        let b = &mut self.buffers;
        squash(b.passes.forward(&self.actor, &self.params, &batch.obs, rng), &mut b.action);
        self.critics.read(&batch.obs, &b.action);
        let value = self.critics.forward(0).iter().map(|&q| f64::from(q)).sum::<f64>() / batch.len() as f64;
        b.d_action.fill(0.0);
        self.critics.add_d_action(0, &b.weights, &mut b.d_action);
        b.d_action.iter_mut().zip(&b.action).for_each(|(d, a)| *d *= -(1.0 - a * a));
        b.passes.backward(&self.actor, &self.params, &batch.obs, &b.d_action, &mut b.grad);
        if let Some(prior) = &self.prior {
            prior.hold(&mut b.grad);
        }
        value
    }

    /// Moves the actor and the target networks.
    fn improve_actor(&mut self, batch: &Batch, adam: Adam, rng: &mut Rng) {
        let value = self.actor_gradient(batch, rng);
        adam.step(&mut self.params, &self.buffers.grad, &mut self.adam);
        follow(&mut self.target, &self.params, self.recipe.tau);
        self.critics.follow();
        self.last = (-value, value);
    }
}

impl Recipe {
    fn of(config: &TrainConfig) -> Recipe {
        Recipe {
            gamma: config.gamma as f32,
            tau: config.tau as f32,
            exploration_noise: config.exploration_noise as f32,
            policy_noise: config.policy_noise as f32,
            noise_clip: config.noise_clip as f32,
            policy_delay: config.policy_delay,
        }
    }
}

impl Buffers {
    fn new(actor: &Net, batch: usize) -> Buffers {
        let zeros = || vec![0.0; batch * actor.outputs()];
        Buffers {
            passes: Passes::new(actor, batch),
            work: actor.workspace(batch),
            single: actor.workspace(1),
            action: zeros(),
            noise: zeros(),
            targets: vec![0.0; batch],
            weights: vec![1.0 / batch as f32; batch],
            d_action: zeros(),
            grad: vec![0.0; actor.n_params()],
        }
    }
}

/// Takes outputs of an actor to commands.
fn squash(head: &[f32], action: &mut [f32]) {
    action.iter_mut().zip(head).for_each(|(a, &z)| *a = tanh(z));
}

/// Target policy smoothing: adds noise that is cut, and cuts the commands.
fn blur(action: &mut [f32], noise: &mut [f32], recipe: Recipe, rng: &mut Rng) {
    if recipe.policy_noise == 0.0 {
        return;
    }
    rng.fill_normal(noise);
    let clip = recipe.noise_clip;
    for (a, e) in action.iter_mut().zip(noise) {
        *a = (*a + (recipe.policy_noise * *e).clamp(-clip, clip)).clamp(-1.0, 1.0);
    }
}

impl Learner for Td3 {
    fn explore(&mut self, obs: &[f32], action: &mut [f32], _: u64, rng: &mut Rng) {
        squash(self.actor.forward(&self.params, obs, &mut self.buffers.single), action);
        let noise = self.recipe.exploration_noise;
        action.iter_mut().for_each(|a| *a = (*a + noise * rng.normal() as f32).clamp(-1.0, 1.0));
    }

    fn noise(&self, _: u64) -> f64 {
        f64::from(self.recipe.exploration_noise)
    }

    fn update(&mut self, batch: &Batch, lr: f64, rng: &mut Rng) -> Losses {
        let adam = Adam { lr, ..Adam::default() };
        self.set_targets(batch, rng);
        let critic = self.improve_critics(batch, adam);
        if self.critics.updates().is_multiple_of(self.recipe.policy_delay) {
            self.improve_actor(batch, adam, rng);
        }
        Losses { critic, actor: self.last.0, value: self.last.1, ..Losses::default() }
    }

    fn actor(&self) -> (Net, Vec<f32>) {
        (self.actor.clone(), self.params.clone())
    }

    fn save(&self, into: &mut Tensors) {
        put(&self.params, "actor", into);
        put(&self.target, "actor.target", into);
        put_adam(&self.adam, "actor", into);
        self.critics.save(into);
    }

    fn load(&mut self, from: &Tensors) -> Result<(), TensorError> {
        read(&mut self.params, "actor", from)?;
        read(&mut self.target, "actor.target", from)?;
        read_adam(&mut self.adam, "actor", from)?;
        self.critics.load(from)
    }
}

#[cfg(test)]
mod tests;

//! DQN: deep Q-network (Mnih et al., Nature 2015), for commands that are a choice; optionally double DQN (van Hasselt,
//! Guez & Silver, AAAI 2016).
//!
//! The network gives the value of each choice. That of the choice made moves towards y = r + γ max Q′(s′, ·), or r where
//! nothing follows, by the Huber loss; with `double`, y = r + γ Q′(s′, argmax Q(s′, ·)). Every `target_every` gradient
//! steps the target network moves by the share `tau` towards the network; 1 copies it. Exploring is random with
//! probability ε, which falls linearly from 1 to `epsilon_end` over `epsilon_steps` steps in the world.
//!
//! With `imitation`, choices that a demonstrator made, or would have made, shall lead all others
//! (the large-margin loss of Hester et al., AAAI 2018, equation 2).
//!
//! A network with dropout or dropconnect learns in stochastic passes; targets and exploration use the whole network.
//! One with a prior has a part that does not learn. One that reads pictures has convolutions before its dense layers, which alone drop anything.

mod lead;

use crate::actor::largest;
use crate::config::TrainConfig;
use crate::critics::follow;
use crate::learner::{Learner, Losses};
use crate::passes::Passes;
use crate::prior::Prior;
use crate::replay::Batch;
use crate::state::{put, put_adam, read, read_adam};
use offnominal_core::Rng;
use offnominal_nets::loss::huber;
use offnominal_nets::{
    Activation, Adam, AdamState, ConvNet, Init, Mlp, Net, NetWorkspace, TensorError, Tensors,
};

/// The learner.
pub struct Dqn {
    net: Net,
    params: Vec<f32>,
    target: Vec<f32>,
    adam: AdamState,
    recipe: Recipe,
    buffers: Buffers,
    prior: Option<Prior>,
}

/// The numbers of the algorithm.
#[derive(Debug, Clone, Copy)]
struct Recipe {
    gamma: f32,
    tau: f32,
    target_every: u64,
    double: bool,
    imitation: f32,
    epsilon_end: f64,
    epsilon_steps: u64,
}

/// What a gradient step writes to.
struct Buffers {
    passes: Passes,
    work: NetWorkspace,
    single: NetWorkspace,
    /// The choice whose value counts at each next observation, where the target network does not say it itself.
    best: Vec<usize>,
    /// y, `[n]`
    targets: Vec<f32>,
    /// Values of the choices made, `[n]`, and the derivatives by them.
    chosen: Vec<f32>,
    d_chosen: Vec<f32>,
    /// `[n, choices]`
    d_values: Vec<f32>,
    grad: Vec<f32>,
}

impl Dqn {
    /// A new network for observations of the given width and so many choices.
    pub fn new(config: &TrainConfig, obs_width: usize, choices: usize, rng: &mut Rng) -> Dqn {
        Dqn::with_eye(config, None, obs_width, choices, rng)
    }

    /// A new network whose dense layers read what an eye, if there is one, makes of the observation.
    pub fn with_eye(
        config: &TrainConfig,
        eye: Option<ConvNet>,
        obs_width: usize,
        choices: usize,
        rng: &mut Rng,
    ) -> Dqn {
        let seen = eye.as_ref().map_or(obs_width, ConvNet::outputs);
        let head = Mlp::new(&config.widths(seen, choices), Activation::Relu);
        let net = Net::new(eye, config.drop_from(head));
        let mut params = vec![0.0; net.n_params()];
        net.init(&mut params, Init::Uniform, rng);
        let prior = Prior::plant(config, net.head(), &mut params, rng);
        let (target, adam) = (params.clone(), AdamState::new(params.len()));
        let (recipe, buffers) = (Recipe::of(config), Buffers::new(&net, config.batch));
        Dqn { net, params, target, adam, recipe, buffers, prior }
    }

    /// ε after so many steps in the world.
    fn epsilon(&self, step: u64) -> f64 {
        let done = (step as f64 / self.recipe.epsilon_steps as f64).min(1.0);
        1.0 + (self.recipe.epsilon_end - 1.0) * done
    }

    /// y for each transition.
    fn set_targets(&mut self, batch: &Batch) {
        let (b, n) = (&mut self.buffers, self.net.outputs());
        if self.recipe.double {
            let values = self.net.forward(&self.params, &batch.next_obs, &mut b.work);
            b.best.iter_mut().zip(values.chunks_exact(n)).for_each(|(best, row)| *best = largest(row));
        }
        let values = self.net.forward(&self.target, &batch.next_obs, &mut b.work);
        for (i, row) in values.chunks_exact(n).enumerate() {
            let best = if self.recipe.double { b.best[i] } else { largest(row) };
            b.targets[i] = batch.reward[i] + self.recipe.gamma * (1.0 - batch.terminal[i]) * row[best];
        }
    }

    /// Loss and, in the buffers, its derivatives by the parameters; also the mean value of the best choices.
    fn gradient(&mut self, batch: &Batch, rng: &mut Rng) -> (f64, f64) {
        let (b, n) = (&mut self.buffers, self.net.outputs());
        let values = b.passes.forward(&self.net, &self.params, &batch.obs, rng);
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
        let short = lead::add(self.recipe.imitation, batch, b.passes.output(), &mut b.d_values);
        b.passes.backward(&self.net, &self.params, &batch.obs, &b.d_values, &mut b.grad);
        if let Some(prior) = &self.prior {
            prior.hold(&mut b.grad);
        }
        (loss + short, value)
    }
}

impl Recipe {
    fn of(config: &TrainConfig) -> Recipe {
        Recipe {
            gamma: config.gamma as f32,
            tau: config.tau as f32,
            target_every: config.target_every,
            double: config.double,
            imitation: config.imitation as f32,
            epsilon_end: config.epsilon_end,
            epsilon_steps: config.epsilon_steps,
        }
    }
}

impl Buffers {
    fn new(net: &Net, batch: usize) -> Buffers {
        let zeros = || vec![0.0; batch];
        Buffers {
            passes: Passes::new(net, batch),
            work: net.workspace(batch),
            single: net.workspace(1),
            best: vec![0; batch],
            targets: zeros(),
            chosen: zeros(),
            d_chosen: zeros(),
            d_values: vec![0.0; batch * net.outputs()],
            grad: vec![0.0; net.n_params()],
        }
    }
}

impl Learner for Dqn {
    fn explore(&mut self, obs: &[f32], action: &mut [f32], step: u64, rng: &mut Rng) {
        let choice = if rng.uniform() < self.epsilon(step) {
            rng.below(self.net.outputs())
        } else {
            largest(self.net.forward(&self.params, obs, &mut self.buffers.single))
        };
        action[0] = choice as f32;
    }

    fn noise(&self, step: u64) -> f64 {
        self.epsilon(step)
    }

    fn update(&mut self, batch: &Batch, lr: f64, rng: &mut Rng) -> Losses {
        self.set_targets(batch);
        let (critic, value) = self.gradient(batch, rng);
        Adam { lr, ..Adam::default() }.step(&mut self.params, &self.buffers.grad, &mut self.adam);
        if self.adam.steps.is_multiple_of(self.recipe.target_every) {
            follow(&mut self.target, &self.params, self.recipe.tau);
        }
        Losses { critic, value, ..Losses::default() }
    }

    fn actor(&self) -> (Net, Vec<f32>) {
        (self.net.clone(), self.params.clone())
    }

    fn save(&self, into: &mut Tensors) {
        put(&self.params, "values", into);
        put(&self.target, "values.target", into);
        put_adam(&self.adam, "values", into);
    }

    fn load(&mut self, from: &Tensors) -> Result<(), TensorError> {
        read(&mut self.params, "values", from)?;
        read(&mut self.target, "values.target", from)?;
        read_adam(&mut self.adam, "values", from)
    }
}

#[cfg(test)]
mod tests;

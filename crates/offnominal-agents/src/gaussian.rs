//! The actor of the maximum-entropy algorithms: a network whose head is a squashed Gaussian.

use crate::config::TrainConfig;
use crate::squashed::Sample;
use crate::state::{put, put_adam, read, read_adam};
use offnominal_core::Rng;
use offnominal_nets::{Activation, Adam, AdamState, Gradients, Init, Mlp, TensorError, Tensors, Workspace};

/// A stochastic actor with its optimiser and buffers.
pub(crate) struct GaussianActor {
    pub(crate) net: Mlp,
    pub(crate) params: Vec<f32>,
    adam: AdamState,
    here: Pass,
    next: Pass,
    single: Pass,
    d_head: Vec<f32>,
    grad: Vec<f32>,
}

/// One pass: over the current observations, over the next ones, or over one.
struct Pass {
    work: Workspace,
    sample: Sample,
}

impl Pass {
    fn new(net: &Mlp, rows: usize) -> Pass {
        Pass { work: net.workspace(rows), sample: Sample::new(rows, net.outputs() / 2) }
    }

    fn draw(&mut self, net: &Mlp, params: &[f32], obs: &[f32], rng: &mut Rng) -> &Sample {
        self.sample.draw(net.forward(params, obs, &mut self.work), rng);
        &self.sample
    }
}

impl GaussianActor {
    /// A new actor for the given widths.
    pub(crate) fn new(
        config: &TrainConfig,
        obs_width: usize,
        act_width: usize,
        rng: &mut Rng,
    ) -> GaussianActor {
        let sizes = [&[obs_width], config.hidden.as_slice(), &[2 * act_width]].concat();
        let net = Mlp::new(&sizes, Activation::Relu);
        let mut params = vec![0.0; net.n_params()];
        net.init(&mut params, Init::Uniform, rng);
        GaussianActor {
            adam: AdamState::new(params.len()),
            here: Pass::new(&net, config.batch),
            next: Pass::new(&net, config.batch),
            single: Pass::new(&net, 1),
            d_head: vec![0.0; config.batch * 2 * act_width],
            grad: vec![0.0; params.len()],
            net,
            params,
        }
    }

    /// Draws commands at the current observations, which [`GaussianActor::gradient`] then differentiates.
    pub(crate) fn draw(&mut self, obs: &[f32], rng: &mut Rng) -> &Sample {
        self.here.draw(&self.net, &self.params, obs, rng)
    }

    /// Draws commands at the next observations.
    pub(crate) fn draw_next(&mut self, obs: &[f32], rng: &mut Rng) -> &Sample {
        self.next.draw(&self.net, &self.params, obs, rng)
    }

    /// Draws one command.
    pub(crate) fn explore(&mut self, obs: &[f32], action: &mut [f32], rng: &mut Rng) {
        action.copy_from_slice(&self.single.draw(&self.net, &self.params, obs, rng).action);
    }

    /// The commands drawn at the current observations.
    pub(crate) fn sample(&self) -> &Sample {
        &self.here.sample
    }

    /// Derivatives by the parameters of Σ weight·log π + L for the commands drawn at `obs`, given those of L by the
    /// commands.
    pub(crate) fn gradient(&mut self, obs: &[f32], weight: f32, d_action: &[f32]) {
        let Pass { work, sample } = &mut self.here;
        sample.gradient(work.output(), weight, d_action, &mut self.d_head);
        self.net.backward(&self.params, obs, work, &self.d_head, Gradients::params(&mut self.grad));
    }

    /// One step down the last gradient.
    pub(crate) fn descend(&mut self, adam: Adam) {
        adam.step(&mut self.params, &self.grad, &mut self.adam);
    }

    /// Only the means of the head: the first half of the last layer's columns.
    pub(crate) fn means(&self) -> (Mlp, Vec<f32>) {
        let mut sizes = self.net.sizes().to_vec();
        let last = self.net.n_layers() - 1;
        let width = sizes[last + 1] / 2;
        sizes[last + 1] = width;
        let (inner, head) = self.params.split_at(self.net.weights(last).start);
        let mut params = inner.to_vec();
        head.chunks_exact(2 * width).for_each(|row| params.extend_from_slice(&row[..width]));
        (Mlp::new(&sizes, Activation::Relu), params)
    }

    /// Adds everything that a continuation needs.
    pub(crate) fn save(&self, into: &mut Tensors) {
        put(&self.params, "actor", into);
        put_adam(&self.adam, "actor", into);
    }

    /// Continues from what was saved.
    pub(crate) fn load(&mut self, from: &Tensors) -> Result<(), TensorError> {
        read(&mut self.params, "actor", from)?;
        read_adam(&mut self.adam, "actor", from)
    }
}

#[cfg(test)]
impl GaussianActor {
    /// What [`GaussianActor::gradient`] found.
    pub(crate) fn last_gradient(&self) -> &[f32] {
        &self.grad
    }
}

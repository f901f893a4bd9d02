//! The actor of the maximum-entropy algorithms: a network whose head is a squashed Gaussian.

use crate::config::TrainConfig;
use crate::squashed::Sample;
use crate::weights::Weights;
use offnominal_core::Rng;
use offnominal_nets::{Activation, Gradients, Init, Mlp, Workspace};

/// A stochastic actor with its optimiser and buffers.
pub(crate) struct GaussianActor {
    pub(crate) net: Mlp,
    pub(crate) weights: Weights,
    here: Pass,
    next: Pass,
    single: Pass,
    d_head: Vec<f32>,
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
            here: Pass::new(&net, config.batch),
            next: Pass::new(&net, config.batch),
            single: Pass::new(&net, 1),
            d_head: vec![0.0; config.batch * 2 * act_width],
            weights: Weights::new(params, "actor"),
            net,
        }
    }

    /// Draws actions at the current observations, which [`GaussianActor::gradient`] then differentiates.
    pub(crate) fn draw(&mut self, obs: &[f32], rng: &mut Rng) -> &Sample {
        self.here.draw(&self.net, &self.weights.params, obs, rng)
    }

    /// Draws actions at the next observations.
    pub(crate) fn draw_next(&mut self, obs: &[f32], rng: &mut Rng) -> &Sample {
        self.next.draw(&self.net, &self.weights.params, obs, rng)
    }

    /// Draws one action.
    pub(crate) fn explore(&mut self, obs: &[f32], action: &mut [f32], rng: &mut Rng) {
        action.copy_from_slice(&self.single.draw(&self.net, &self.weights.params, obs, rng).action);
    }

    /// The actions drawn at the current observations.
    pub(crate) fn sample(&self) -> &Sample {
        &self.here.sample
    }

    /// Derivatives by the parameters of Σ weight·log π + L for the actions drawn at `obs`, given those of L by the
    /// actions.
    pub(crate) fn gradient(&mut self, obs: &[f32], weight: f32, d_action: &[f32]) {
        let (Pass { work, sample }, Weights { params, grad, .. }) = (&mut self.here, &mut self.weights);
        sample.gradient(work.output(), weight, d_action, &mut self.d_head);
        self.net.backward(params, obs, work, &self.d_head, Gradients::params(grad));
    }

    /// Only the means of the head: the first half of the last layer's columns.
    pub(crate) fn means(&self) -> (Mlp, Vec<f32>) {
        let mut sizes = self.net.sizes().to_vec();
        let last = self.net.n_layers() - 1;
        let width = sizes[last + 1] / 2;
        sizes[last + 1] = width;
        let (inner, head) = self.weights.params.split_at(self.net.weights(last).start);
        let mut params = inner.to_vec();
        head.chunks_exact(2 * width).for_each(|row| params.extend_from_slice(&row[..width]));
        (Mlp::new(&sizes, Activation::Relu), params)
    }
}

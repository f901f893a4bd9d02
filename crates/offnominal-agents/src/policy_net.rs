//! The network of a policy that learns in stochastic passes, with the target network that follows it.
//!
//! Targets and exploration use the whole network; nothing is dropped there.

use crate::config::TrainConfig;
use crate::passes::Passes;
use crate::prior::Prior;
use crate::weights::Weights;
use offnominal_core::Rng;
use offnominal_nets::{Activation, ConvNet, Init, Mlp, Net, NetWorkspace, TensorError, Tensors, simd};

/// A network with its target, its optimiser and its buffers.
pub(crate) struct PolicyNet {
    pub(crate) net: Net,
    pub(crate) weights: Weights,
    pub(crate) target: Vec<f32>,
    target_name: String,
    pub(crate) prior: Option<Prior>,
    passes: Passes,
    work: NetWorkspace,
    single: NetWorkspace,
}

impl PolicyNet {
    /// A new network, which reads what the encoder, if there is one, makes of an observation; `name` is that of its
    /// tensors in checkpoints.
    pub(crate) fn new(
        config: &TrainConfig,
        encoder: Option<ConvNet>,
        (inputs, outputs): (usize, usize),
        name: &str,
        rng: &mut Rng,
    ) -> PolicyNet {
        let features = encoder.as_ref().map_or(inputs, ConvNet::outputs);
        let head = Mlp::new(&config.widths(features, outputs), Activation::Relu);
        let dropping = head.with_dropout(config.dropout as f32).with_dropconnect(config.dropconnect as f32);
        let net = Net::new(encoder, dropping);
        let mut params = vec![0.0; net.n_params()];
        net.init(&mut params, Init::Uniform, rng);
        let prior = Prior::plant(config, net.head(), &mut params, rng);
        PolicyNet {
            target: params.clone(),
            target_name: format!("{name}.target"),
            weights: Weights::new(params, name),
            prior,
            passes: Passes::new(&net, config.batch),
            work: net.workspace(config.batch),
            single: net.workspace(1),
            net,
        }
    }

    /// The outputs for one observation.
    pub(crate) fn of(&mut self, obs: &[f32]) -> &[f32] {
        self.net.forward(&self.weights.params, obs, &mut self.single)
    }

    /// The outputs for a batch, `[n, outputs]`.
    pub(crate) fn forward(&mut self, obs: &[f32]) -> &[f32] {
        self.net.forward(&self.weights.params, obs, &mut self.work)
    }

    /// The outputs of the target network for a batch, `[n, outputs]`.
    pub(crate) fn forward_target(&mut self, obs: &[f32]) -> &[f32] {
        self.net.forward(&self.target, obs, &mut self.work)
    }

    /// The outputs of a stochastic pass of a batch, `[n, outputs]`, which [`PolicyNet::backward`] then differentiates.
    pub(crate) fn pass(&mut self, obs: &[f32], rng: &mut Rng) -> &[f32] {
        self.passes.forward(&self.net, &self.weights.params, obs, rng)
    }

    /// The outputs of the last stochastic pass.
    pub(crate) fn output(&self) -> &[f32] {
        self.passes.output()
    }

    /// Derivatives by the parameters, given those by the outputs of the last stochastic pass; zero by those of a prior.
    pub(crate) fn backward(&mut self, obs: &[f32], d_out: &[f32]) {
        let Weights { params, grad, .. } = &mut self.weights;
        self.passes.backward(&self.net, params, obs, d_out, grad);
        if let Some(prior) = &self.prior {
            prior.hold(grad);
        }
    }

    /// Moves the target network by the share τ towards the network.
    pub(crate) fn follow(&mut self, tau: f32) {
        follow(&mut self.target, &self.weights.params, tau);
    }

    /// The network with its parameters.
    pub(crate) fn policy(&self) -> (Net, Vec<f32>) {
        (self.net.clone(), self.weights.params.clone())
    }

    /// Adds everything that a continuation needs.
    pub(crate) fn save(&self, into: &mut Tensors) {
        self.weights.save(into);
        into.put(&self.target_name, &self.target);
    }

    /// Continues from what was saved.
    pub(crate) fn load(&mut self, from: &Tensors) -> Result<(), TensorError> {
        self.weights.load(from)?;
        from.read(&self.target_name, &mut self.target)
    }
}

/// Moves a target network a little towards its network: θ′ ← θ′ + τ (θ − θ′).
pub(crate) fn follow(target: &mut [f32], params: &[f32], tau: f32) {
    simd(
        #[inline(always)]
        || target.iter_mut().zip(params).for_each(|(t, p)| *t += tau * (p - *t)),
    );
}

//! Critics of one shape with their target networks: what every actor-critic here learns from.
//!
//! A critic reads an observation and an action side by side. What its outputs mean (one value, or quantiles of the
//! return) and what it should predict is the algorithm's business; here are the passes, the optimisers, and the
//! target networks, which follow by θ′ ← θ′ + τ (θ − θ′).

use crate::config::TrainConfig;
use crate::policy_net::follow;
use crate::weights::Weights;
use offnominal_core::Rng;
use offnominal_nets::{Activation, Adam, Gradients, Init, Mlp, TensorError, Tensors, Workspace};

/// An ensemble of critics with their buffers.
pub struct Critics {
    net: Mlp,
    pub(crate) members: Vec<Member>,
    tau: f32,
    act_width: usize,
    /// Observations and actions side by side, `[n, obs + act]`.
    input: Vec<f32>,
    d_output: Vec<f32>,
    d_action: Vec<f32>,
}

/// One critic.
pub struct Member {
    pub(crate) weights: Weights,
    pub(crate) target: Vec<f32>,
    work: Workspace,
}

impl Critics {
    /// `count` new critics with the given number of outputs.
    pub(crate) fn new(
        config: &TrainConfig,
        (obs_width, act_width): (usize, usize),
        (count, outputs): (usize, usize),
        rng: &mut Rng,
    ) -> Critics {
        let net = Mlp::new(
            &[&[obs_width + act_width], config.hidden.as_slice(), &[outputs]].concat(),
            Activation::Relu,
        );
        let zeros = |width: usize| vec![0.0; config.batch * width];
        Critics {
            members: (0..count).map(|n| Member::new(&net, config.batch, n, rng)).collect(),
            tau: config.tau as f32,
            act_width,
            input: zeros(net.inputs()),
            d_output: zeros(outputs),
            d_action: zeros(act_width),
            net,
        }
    }

    /// Number of critics.
    pub(crate) fn count(&self) -> usize {
        self.members.len()
    }

    /// Gradient steps taken.
    pub(crate) fn updates(&self) -> u64 {
        self.members[0].weights.steps()
    }

    /// Sets what the following passes read.
    pub(crate) fn read(&mut self, obs: &[f32], action: &[f32]) {
        join(obs, action, self.act_width, &mut self.input);
    }

    /// Outputs of a critic, `[n, outputs]`.
    pub(crate) fn forward(&mut self, n: usize) -> &[f32] {
        let Member { weights, work, .. } = &mut self.members[n];
        self.net.forward(&weights.params, &self.input, work)
    }

    /// Outputs of a target critic, `[n, outputs]`.
    pub(crate) fn forward_target(&mut self, n: usize) -> &[f32] {
        let Member { target, work, .. } = &mut self.members[n];
        self.net.forward(target, &self.input, work)
    }

    /// The smallest value that a target critic gives to each row, for critics with one output.
    pub(crate) fn lowest_target(&mut self, into: &mut [f32]) {
        into.fill(f32::INFINITY);
        for n in 0..self.count() {
            into.iter_mut().zip(self.forward_target(n)).for_each(|(low, &q)| *low = low.min(q));
        }
    }

    /// One step of each critic down its loss, a function of the outputs that also writes its derivatives; returns the
    /// mean loss.
    pub(crate) fn descend(&mut self, adam: Adam, loss: impl Fn(&[f32], &mut [f32]) -> f64) -> f64 {
        let mut total = 0.0;
        for n in 0..self.count() {
            total += self.gradient(n, &loss);
            self.members[n].weights.step(adam);
        }
        total / self.count() as f64
    }

    /// Loss of one critic, whose derivatives by the parameters become its gradient.
    fn gradient(&mut self, n: usize, loss: impl Fn(&[f32], &mut [f32]) -> f64) -> f64 {
        let Member { weights: Weights { params, grad, .. }, work, .. } = &mut self.members[n];
        let loss = loss(self.net.forward(params, &self.input, work), &mut self.d_output);
        self.net.backward(params, &self.input, work, &self.d_output, Gradients::params(grad));
        loss
    }

    /// Adds the derivatives by the actions of Σ weight·output, for the last forward pass of a critic.
    pub(crate) fn add_d_action(&mut self, n: usize, weights: &[f32], into: &mut [f32]) {
        let member = &mut self.members[n];
        let channels = self.net.inputs() - self.act_width..self.net.inputs();
        let wanted = Gradients::input(channels, &mut self.d_action);
        self.net.backward(&member.weights.params, &self.input, &mut member.work, weights, wanted);
        into.iter_mut().zip(&self.d_action).for_each(|(sum, d)| *sum += d);
    }

    /// Moves the target critics a little towards the critics.
    pub(crate) fn follow(&mut self) {
        for Member { weights, target, .. } in &mut self.members {
            follow(target, &weights.params, self.tau);
        }
    }

    /// Adds everything that a continuation needs.
    pub(crate) fn save(&self, into: &mut Tensors) {
        for (n, member) in self.members.iter().enumerate() {
            member.weights.save(into);
            into.put(&format!("target.{n}"), &member.target);
        }
    }

    /// Continues from what was saved.
    pub(crate) fn load(&mut self, from: &Tensors) -> Result<(), TensorError> {
        for (n, member) in self.members.iter_mut().enumerate() {
            member.weights.load(from)?;
            from.read(&format!("target.{n}"), &mut member.target)?;
        }
        Ok(())
    }
}

impl Member {
    fn new(net: &Mlp, batch: usize, n: usize, rng: &mut Rng) -> Member {
        let mut params = vec![0.0; net.n_params()];
        net.init(&mut params, Init::Uniform, rng);
        let target = params.clone();
        Member { weights: Weights::new(params, format!("critic.{n}")), target, work: net.workspace(batch) }
    }
}

/// Writes observations and actions side by side.
fn join(obs: &[f32], action: &[f32], act_width: usize, out: &mut [f32]) {
    let rows = action.len() / act_width;
    let (obs_width, width) = (obs.len() / rows, out.len() / rows);
    for (i, row) in out.chunks_exact_mut(width).enumerate() {
        row[..obs_width].copy_from_slice(&obs[i * obs_width..][..obs_width]);
        row[obs_width..].copy_from_slice(&action[i * act_width..][..act_width]);
    }
}

#[cfg(test)]
impl Critics {
    /// Outputs for one row and any parameters.
    pub(crate) fn outputs(&self, params: &[f32], obs: &[f32], action: &[f32]) -> Vec<f32> {
        self.net.forward(params, &[obs, action].concat(), &mut self.net.workspace(1)).to_vec()
    }

    /// Loss of one critic and its derivatives.
    pub(crate) fn checked_gradient(
        &mut self,
        n: usize,
        loss: impl Fn(&[f32], &mut [f32]) -> f64,
    ) -> (f64, Vec<f32>) {
        (self.gradient(n, loss), self.members[n].weights.grad.clone())
    }
}

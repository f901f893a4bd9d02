//! The critics of TQC: quantiles of the return, their truncated target, and their gradients.

use crate::config::TrainConfig;
use crate::replay::Batch;
use crate::squashed::Sample;
use offnominal_core::Rng;
use offnominal_nets::loss::quantile_huber;
use offnominal_nets::{Activation, Adam, AdamState, Gradients, Init, Mlp, Workspace, simd};

/// N critics of one shape, their targets, optimisers and buffers.
pub(super) struct Critics {
    net: Mlp,
    pub(super) members: Vec<Member>,
    quantiles: usize,
    kept: usize,
    tau: f32,
    act_width: usize,
    buffers: Buffers,
}

/// One critic.
pub(super) struct Member {
    pub(super) params: Vec<f32>,
    pub(super) target: Vec<f32>,
    pub(super) adam: AdamState,
}

struct Buffers {
    work: Workspace,
    /// Observations and commands side by side, `[n, obs + act]`.
    input: Vec<f32>,
    /// Atoms of all target critics, `[n, N·M]`.
    pooled: Vec<f32>,
    /// The atoms that remain, shifted: `[n, k]`.
    targets: Vec<f32>,
    d_quantiles: Vec<f32>,
    d_action: Vec<f32>,
    grad: Vec<f32>,
}

impl Critics {
    pub(super) fn new(config: &TrainConfig, obs_width: usize, act_width: usize, rng: &mut Rng) -> Critics {
        let sizes = [&[obs_width + act_width], config.hidden.as_slice(), &[config.quantiles]].concat();
        let net = Mlp::new(&sizes, Activation::Relu);
        let members: Vec<Member> = (0..config.critics).map(|_| Member::new(&net, rng)).collect();
        let kept = config.critics * (config.quantiles - config.drop);
        let buffers = Buffers::new(&net, config.batch, members.len(), kept, act_width);
        let tau = config.tau as f32;
        Critics { net, members, quantiles: config.quantiles, kept, tau, act_width, buffers }
    }

    /// Equation 11: pools the target critics' atoms at the next commands, drops the largest, adds reward and entropy.
    pub(super) fn set_targets(&mut self, batch: &Batch, next: &Sample, gamma: f32, alpha: f32) {
        let (b, pool) = (&mut self.buffers, self.members.len() * self.quantiles);
        join(&batch.next_obs, &next.action, self.act_width, &mut b.input);
        for (n, member) in self.members.iter().enumerate() {
            let atoms = self.net.forward(&member.target, &b.input, &mut b.work);
            for (row, atoms) in b.pooled.chunks_exact_mut(pool).zip(atoms.chunks_exact(self.quantiles)) {
                row[n * self.quantiles..][..self.quantiles].copy_from_slice(atoms);
            }
        }
        for (i, (pool, out)) in
            b.pooled.chunks_exact_mut(pool).zip(b.targets.chunks_exact_mut(self.kept)).enumerate()
        {
            keep_smallest(pool, self.kept);
            let (reward, discount) = (batch.reward[i], gamma * (1.0 - batch.terminal[i]));
            let entropy = alpha * next.log_prob[i];
            out.iter_mut().zip(&*pool).for_each(|(y, z)| *y = reward + discount * (z - entropy));
        }
    }

    /// One step of each critic towards the targets; returns the mean loss.
    pub(super) fn improve(&mut self, batch: &Batch, adam: Adam) -> f64 {
        join(&batch.obs, &batch.action, self.act_width, &mut self.buffers.input);
        let total: f64 = (0..self.members.len()).map(|n| self.descend(n, adam)).sum();
        total / self.members.len() as f64
    }

    fn descend(&mut self, n: usize, adam: Adam) -> f64 {
        let loss = self.gradient(n);
        let member = &mut self.members[n];
        adam.step(&mut member.params, &self.buffers.grad, &mut member.adam);
        loss
    }

    /// Loss of one critic and its derivatives by the parameters.
    fn gradient(&mut self, n: usize) -> f64 {
        let (b, params) = (&mut self.buffers, &self.members[n].params);
        let quantiles = self.net.forward(params, &b.input, &mut b.work);
        let loss = quantile_huber(quantiles, self.quantiles, &b.targets, self.kept, &mut b.d_quantiles);
        self.net.backward(params, &b.input, &mut b.work, &b.d_quantiles, Gradients::params(&mut b.grad));
        loss
    }

    /// The mean of all quantiles over a batch, and its derivatives by the commands.
    pub(super) fn value_gradient(&mut self, obs: &[f32], action: &[f32], d_action: &mut [f32]) -> f64 {
        let (b, act) = (&mut self.buffers, self.act_width);
        let channels = self.net.inputs() - act..self.net.inputs();
        join(obs, action, act, &mut b.input);
        let n = b.d_quantiles.len() * self.members.len();
        b.d_quantiles.fill(1.0 / n as f32);
        d_action.fill(0.0);
        let mut sum = 0.0;
        for Member { params, .. } in &self.members {
            let values = self.net.forward(params, &b.input, &mut b.work);
            sum += values.iter().map(|&v| f64::from(v)).sum::<f64>();
            let wanted = Gradients::input(channels.clone(), &mut b.d_action);
            self.net.backward(params, &b.input, &mut b.work, &b.d_quantiles, wanted);
            d_action.iter_mut().zip(&b.d_action).for_each(|(sum, d)| *sum += d);
        }
        sum / n as f64
    }

    /// Moves the target critics a little towards the critics.
    pub(super) fn follow(&mut self) {
        let tau = self.tau;
        for Member { params, target, .. } in &mut self.members {
            simd(
                #[inline(always)]
                || target.iter_mut().zip(&*params).for_each(|(t, p)| *t += tau * (p - *t)),
            );
        }
    }
}

impl Member {
    fn new(net: &Mlp, rng: &mut Rng) -> Member {
        let mut params = vec![0.0; net.n_params()];
        net.init(&mut params, Init::Uniform, rng);
        Member { target: params.clone(), adam: AdamState::new(params.len()), params }
    }
}

impl Buffers {
    fn new(net: &Mlp, batch: usize, members: usize, kept: usize, act_width: usize) -> Buffers {
        let zeros = |width: usize| vec![0.0; batch * width];
        Buffers {
            work: net.workspace(batch),
            input: zeros(net.inputs()),
            pooled: zeros(members * net.outputs()),
            targets: zeros(kept),
            d_quantiles: zeros(net.outputs()),
            d_action: zeros(act_width),
            grad: vec![0.0; net.n_params()],
        }
    }
}

/// Writes observations and commands side by side.
fn join(obs: &[f32], action: &[f32], act_width: usize, out: &mut [f32]) {
    let rows = action.len() / act_width;
    let (obs_width, width) = (obs.len() / rows, out.len() / rows);
    for (i, row) in out.chunks_exact_mut(width).enumerate() {
        row[..obs_width].copy_from_slice(&obs[i * obs_width..][..obs_width]);
        row[obs_width..].copy_from_slice(&action[i * act_width..][..act_width]);
    }
}

/// Brings the `k` smallest numbers to the front, in any order.
fn keep_smallest(values: &mut [f32], k: usize) {
    if k < values.len() {
        values.select_nth_unstable_by(k, f32::total_cmp);
    }
}

#[cfg(test)]
impl Critics {
    /// The shape that all critics share.
    pub(super) fn net(&self) -> &Mlp {
        &self.net
    }

    /// The shifted atoms, for tests.
    pub(super) fn targets(&self) -> &[f32] {
        &self.buffers.targets
    }

    /// Loss and derivatives of one critic, for tests.
    pub(super) fn checked_gradient(&mut self, batch: &Batch, n: usize) -> (f64, Vec<f32>) {
        join(&batch.obs, &batch.action, self.act_width, &mut self.buffers.input);
        (self.gradient(n), self.buffers.grad.clone())
    }
}

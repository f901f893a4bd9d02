//! Stochastic passes of a batch for learning: every few rows have dropped weights of their own.
//!
//! With DropConnect, a pass drops weights once for all its rows, so that their noise does not cancel in the gradient.
//! Wan et al. (ICML 2013) draw a mask for each row; one for [`ROWS`] rows comes close, and keeps the matrix products.
//! Dropout drops units row by row anyway, and takes the batch whole.

use offnominal_core::Rng;
use offnominal_nets::{Gradients, Mlp, Workspace};

/// Rows that share a mask of weights.
const ROWS: usize = 4;

/// The passes of batches of one size through one network.
pub(crate) struct Passes {
    rows: usize,
    work: Workspace,
    /// Results, `[n, outputs]`.
    out: Vec<f32>,
    /// Derivatives of one group of rows.
    part: Vec<f32>,
    /// The generator as it was before the last pass, from which the masks can be drawn again.
    start: Rng,
}

impl Passes {
    pub(crate) fn new(net: &Mlp, batch: usize) -> Passes {
        let rows = if net.dropconnect() > 0.0 { ROWS.min(batch) } else { batch };
        let part = if rows < batch { net.n_params() } else { 0 };
        Passes {
            rows,
            work: net.workspace(rows),
            out: vec![0.0; batch * net.outputs()],
            part: vec![0.0; part],
            start: Rng::new(0),
        }
    }

    /// Passes a batch through the network, `[n, outputs]`.
    pub(crate) fn forward(&mut self, net: &Mlp, params: &[f32], x: &[f32], rng: &mut Rng) -> &[f32] {
        self.start = rng.clone();
        let groups = x.chunks(self.rows * net.inputs()).zip(self.out.chunks_mut(self.rows * net.outputs()));
        for (x, out) in groups {
            out.copy_from_slice(net.forward_train(params, x, &mut self.work, rng));
        }
        &self.out
    }

    /// Derivatives by the parameters, given those by the results of the last pass, which must have read `x`.
    pub(crate) fn backward(&mut self, net: &Mlp, params: &[f32], x: &[f32], d_out: &[f32], grad: &mut [f32]) {
        if self.part.is_empty() {
            return net.backward(params, x, &mut self.work, d_out, Gradients::params(grad));
        }
        grad.fill(0.0);
        let groups = x.chunks(self.rows * net.inputs()).zip(d_out.chunks(self.rows * net.outputs()));
        for (x, d_out) in groups {
            net.forward_train(params, x, &mut self.work, &mut self.start);
            net.backward(params, x, &mut self.work, d_out, Gradients::params(&mut self.part));
            grad.iter_mut().zip(&self.part).for_each(|(sum, g)| *sum += g);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use offnominal_nets::{Activation, Init};

    /// A network, its parameters and a batch of equal rows.
    fn case(net: Mlp, batch: usize) -> (Mlp, Vec<f32>, Vec<f32>) {
        let mut params = vec![0.0; net.n_params()];
        net.init(&mut params, Init::Uniform, &mut Rng::new(1));
        (net, params, [0.7, -0.4].repeat(batch))
    }

    fn net() -> Mlp {
        Mlp::new(&[2, 24, 24, 1], Activation::Relu)
    }

    #[test]
    fn equal_rows_differ_from_group_to_group_and_the_last_may_be_short() {
        let (net, params, x) = case(net().with_dropconnect(0.3), 10);
        let out = Passes::new(&net, 10).forward(&net, &params, &x, &mut Rng::new(2)).to_vec();
        for (i, group) in out.chunks(ROWS).enumerate() {
            assert!(group.iter().all(|v| *v == group[0]), "group {i}: {group:?}");
            assert!(i == 0 || group[0] != out[0], "{out:?}");
        }
    }

    #[test]
    fn derivatives_are_those_of_the_masks_that_were_drawn() {
        let (net, params, x) = case(net().with_dropconnect(0.3), 10);
        let (mut passes, mut grad) = (Passes::new(&net, 10), vec![0.0; params.len()]);
        passes.forward(&net, &params, &x, &mut Rng::new(2));
        passes.backward(&net, &params, &x, &[1.0; 10], &mut grad);
        let last = net.biases(2).start;
        assert_eq!(grad[last], 10.0, "the output's bias reaches every row");
        let mut sum = |shift: f32, at: usize| {
            let mut moved = params.clone();
            moved[at] += shift;
            passes.forward(&net, &moved, &x, &mut Rng::new(2)).iter().map(|&v| f64::from(v)).sum::<f64>()
        };
        for at in (0..params.len()).step_by(7) {
            let slope = (sum(1e-3, at) - sum(-1e-3, at)) / 2e-3;
            let found = f64::from(grad[at]);
            assert!(
                (found - slope).abs() < 0.02 * (1.0 + slope.abs()),
                "{at}: expected {slope}, found {found}"
            );
        }
    }

    #[test]
    fn without_dropconnect_a_batch_is_one_pass() {
        let (net, params, x) = case(net().with_dropout(0.3), 10);
        let found = Passes::new(&net, 10).forward(&net, &params, &x, &mut Rng::new(2)).to_vec();
        assert_eq!(found, net.forward_train(&params, &x, &mut net.workspace(10), &mut Rng::new(2)));
    }
}

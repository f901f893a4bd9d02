//! Stochastic passes of a batch for learning: every few rows have dropped weights of their own.
//!
//! With DropConnect, a pass drops weights once for all its rows, so that their noise does not cancel in the gradient.
//! Wan et al. (ICML 2013) draw a mask for each row; one for [`ROWS`] rows comes close, and keeps the matrix products.
//! Dropout drops units row by row anyway, and takes the batch whole. An encoder drops nothing and reads the batch as one.

use offnominal_core::Rng;
use offnominal_nets::{ConvWorkspace, Gradients, Mlp, Net, Workspace};

/// Rows that share a mask of weights.
const ROWS: usize = 4;

/// The passes of batches of one size through one network.
pub(crate) struct Passes {
    rows: usize,
    encoder: Option<EncoderPass>,
    work: Workspace,
    /// Results, `[n, outputs]`.
    out: Vec<f32>,
    /// Derivatives of one group of rows.
    part: Vec<f32>,
    /// The generator as it was before the last pass, from which the masks can be drawn again.
    start: Rng,
}

/// What the encoder of a network writes to.
struct EncoderPass {
    work: ConvWorkspace,
    /// Derivatives by its features, `[n, features]`.
    d_features: Vec<f32>,
}

impl Passes {
    pub(crate) fn new(net: &Net, batch: usize) -> Passes {
        let head = net.head();
        let rows = if head.dropconnect() > 0.0 { ROWS.min(batch) } else { batch };
        let part = if rows < batch { head.n_params() } else { 0 };
        let encoder = net.encoder().map(|net| EncoderPass {
            work: net.workspace(batch),
            d_features: vec![0.0; batch * net.outputs()],
        });
        Passes {
            rows,
            encoder,
            work: head.workspace(rows),
            out: vec![0.0; batch * head.outputs()],
            part: vec![0.0; part],
            start: Rng::new(0),
        }
    }

    /// Passes a batch through the network, `[n, outputs]`.
    pub(crate) fn forward(&mut self, net: &Net, params: &[f32], x: &[f32], rng: &mut Rng) -> &[f32] {
        self.start = rng.clone();
        let ((encoder, params), head) = (net.split(params), net.head());
        let features = match (net.encoder(), &mut self.encoder) {
            (Some(net), Some(own)) => net.forward(encoder, x, &mut own.work),
            _ => x,
        };
        let groups =
            features.chunks(self.rows * head.inputs()).zip(self.out.chunks_mut(self.rows * head.outputs()));
        for (x, out) in groups {
            out.copy_from_slice(head.forward_train(params, x, &mut self.work, rng));
        }
        &self.out
    }

    /// The results of the last pass, `[n, outputs]`.
    pub(crate) fn output(&self) -> &[f32] {
        &self.out
    }

    /// Derivatives by the parameters, given those by the results of the last pass, which must have read `x`.
    pub(crate) fn backward(&mut self, net: &Net, params: &[f32], x: &[f32], d_out: &[f32], grad: &mut [f32]) {
        let ((encoder, params), (encoder_grad, grad)) = (net.split(params), net.split_mut(grad));
        // The encoder is put aside, so that its features can be read while the rest is written to.
        let mut own = self.encoder.take();
        match &mut own {
            None => self.dense(net.head(), params, x, d_out, (grad, None)),
            Some(EncoderPass { work, d_features }) => {
                self.dense(net.head(), params, work.output(), d_out, (grad, Some(d_features)));
                let encoder_net = net.encoder().expect("an encoder has its workspace");
                encoder_net.backward(encoder, work, d_features, encoder_grad);
            }
        }
        self.encoder = own;
    }

    /// Derivatives by the parameters of the dense layers and, if asked for, by what they read.
    fn dense(
        &mut self,
        net: &Mlp,
        params: &[f32],
        x: &[f32],
        d_out: &[f32],
        (grad, mut d_in): (&mut [f32], Option<&mut Vec<f32>>),
    ) {
        if self.part.is_empty() {
            let input = d_in.map(|d| (0..net.inputs(), d.as_mut_slice()));
            return net.backward(params, x, &mut self.work, d_out, Gradients { params: Some(grad), input });
        }
        grad.fill(0.0);
        let width = self.rows * net.inputs();
        for (i, (x, d_out)) in x.chunks(width).zip(d_out.chunks(self.rows * net.outputs())).enumerate() {
            net.forward_train(params, x, &mut self.work, &mut self.start);
            let input = d_in.as_mut().map(|d| (0..net.inputs(), &mut d[i * width..][..x.len()]));
            let wanted = Gradients { params: Some(&mut self.part), input };
            net.backward(params, x, &mut self.work, d_out, wanted);
            grad.iter_mut().zip(&self.part).for_each(|(sum, g)| *sum += g);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use offnominal_nets::{Activation, ConvNet, Filters, Init};

    /// A network, its parameters and a batch of equal rows.
    fn case(net: Mlp, batch: usize) -> (Net, Vec<f32>, Vec<f32>) {
        let net = Net::from(net);
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
        let last = net.head().biases(2).start;
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

    /// An encoder with dense layers that drop weights, on images that differ.
    #[test]
    fn an_encoder_learns_through_dropped_weights() {
        let encoder = ConvNet::new(1, 5, 5, &[Filters { kernel: 3, stride: 1, count: 3 }]).with_scale(1.0);
        let net = Net::new(Some(encoder), Mlp::new(&[27, 12, 2], Activation::Tanh).with_dropconnect(0.3));
        let (mut params, mut x) = (vec![0.0; net.n_params()], vec![0.0; 6 * 25]);
        net.init(&mut params, Init::Uniform, &mut Rng::new(1));
        Rng::new(3).fill_normal(&mut x);
        let (mut passes, mut grad) = (Passes::new(&net, 6), vec![f32::NAN; params.len()]);
        passes.forward(&net, &params, &x, &mut Rng::new(2));
        passes.backward(&net, &params, &x, &[1.0; 12], &mut grad);
        crate::testing::check_along(&params, &grad, |params| {
            passes.forward(&net, params, &x, &mut Rng::new(2)).iter().map(|&v| f64::from(v)).sum()
        });
    }
}

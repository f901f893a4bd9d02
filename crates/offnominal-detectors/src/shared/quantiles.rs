//! A recurrent implicit quantile network: its shapes and its training.

use super::sequences::{Piece, SequenceModel};
use offnominal_core::Rng;
use offnominal_nets::{Activation, CellKind, Gradients, Init, Mlp, Recurrent, RecurrentWork, Workspace};

/// The probability of an own prediction as input at the end of training.
const OWN: f64 = 0.5;
/// The level whose prediction is used as input.
const MEDIAN: f32 = 0.5;

/// The shapes. Parameters are those of the GRU, of the embedding and of the head, in this order.
#[derive(Debug, Clone)]
pub(crate) struct Net {
    pub gru: Recurrent,
    pub embed: Mlp,
    pub head: Mlp,
}

impl Net {
    pub fn new(width: usize, hidden: usize, cosines: usize) -> Net {
        Net {
            gru: Recurrent::new(CellKind::Gru, width, hidden),
            embed: Mlp::new(&[cosines, hidden], Activation::Relu).with_output(Activation::Relu),
            head: Mlp::new(&[hidden, hidden, width], Activation::Relu),
        }
    }

    pub fn n_params(&self) -> usize {
        self.gru.n_params() + self.embed.n_params() + self.head.n_params()
    }

    pub fn first_params(&self, rng: &mut Rng) -> Vec<f32> {
        let mut params = vec![0.0; self.n_params()];
        let (gru, rest) = params.split_at_mut(self.gru.n_params());
        let (embed, head) = rest.split_at_mut(self.embed.n_params());
        self.gru.init(gru, rng);
        self.embed.init(embed, Init::Uniform, rng);
        self.head.init(head, Init::Uniform, rng);
        params
    }

    /// The parameters of the three parts.
    pub fn parts<'a>(&self, params: &'a [f32]) -> (&'a [f32], &'a [f32], &'a [f32]) {
        let (gru, rest) = params.split_at(self.gru.n_params());
        let (embed, head) = rest.split_at(self.embed.n_params());
        (gru, embed, head)
    }
}

/// e(τ) of each level, `[levels, hidden]`.
pub(crate) fn embedding(net: &Net, params: &[f32], levels: &[f32]) -> Vec<f32> {
    let mut features = vec![0.0; levels.len() * net.embed.inputs()];
    cosines(levels, &mut features);
    let mut work = net.embed.workspace(levels.len());
    net.embed.forward(net.parts(params).1, &features, &mut work).to_vec()
}

/// cos(π i τ), i from 0, of each level.
fn cosines(levels: &[f32], features: &mut [f32]) {
    let n = features.len() / levels.len();
    for (row, level) in features.chunks_exact_mut(n).zip(levels) {
        row.iter_mut().enumerate().for_each(|(i, x)| *x = (std::f32::consts::PI * i as f32 * level).cos());
    }
}

/// The network in training, with its buffers for all rows of a piece.
pub(crate) struct InTraining {
    net: Net,
    state: RecurrentWork,
    embed: Workspace,
    head: Workspace,
    levels: Vec<f32>,
    features: Vec<f32>,
    products: Vec<f32>,
    d_output: Vec<f32>,
    /// Derivatives by the products, then by the embedding; and by the state.
    d_product: Vec<f32>,
    d_hidden: Vec<f32>,
}

impl InTraining {
    pub fn new(net: Net, piece: usize, batch: usize) -> InTraining {
        let rows = piece * batch;
        let [products, d_product, d_hidden] = [(); 3].map(|()| vec![0.0; rows * net.gru.hidden()]);
        InTraining {
            state: net.gru.workspace(piece, batch),
            embed: net.embed.workspace(rows),
            head: net.head.workspace(rows),
            levels: vec![MEDIAN; rows],
            features: vec![0.0; rows * net.embed.inputs()],
            products,
            d_output: vec![0.0; rows * net.head.outputs()],
            d_product,
            d_hidden,
            net,
        }
    }

    /// Passes a piece through the network; the quantiles are left in the head's workspace.
    fn forward(&mut self, params: &[f32], inputs: &[f32], rows: usize) {
        let (of_gru, of_embed, of_head) = self.net.parts(params);
        let features = &mut self.features[..rows * self.net.embed.inputs()];
        cosines(&self.levels[..rows], features);
        let hidden = self.net.gru.forward(of_gru, inputs, &mut self.state);
        let embedded = self.net.embed.forward(of_embed, features, &mut self.embed);
        let products = &mut self.products[..hidden.len()];
        products.iter_mut().zip(hidden.iter().zip(embedded)).for_each(|(p, (h, e))| *p = h * e);
        self.net.head.forward(of_head, products, &mut self.head);
    }

    /// Replaces inputs by the median predictions of the step before, each row with the probability given.
    fn own_inputs(&mut self, params: &[f32], piece: &mut Piece, probability: f64, rng: &mut Rng) {
        let (rows, d) = (piece.present.len(), self.net.head.outputs());
        self.levels[..rows].fill(MEDIAN);
        self.forward(params, &piece.inputs, rows);
        self.state.rewind();
        let batch = self.state.batch();
        for row in batch..rows {
            if rng.uniform() < probability {
                let predicted = &self.head.output()[(row - batch) * d..][..d];
                piece.inputs[row * d..(row + 1) * d].copy_from_slice(predicted);
            }
        }
    }

    /// Quantile Huber loss at one level per row, over the rows that are present, and its derivatives.
    fn loss(&mut self, piece: &Piece) -> f64 {
        let (output, d) = (self.head.output(), self.net.head.outputs());
        let (factor, mut sum) = (1.0 / (piece.n_present().max(1) * d) as f32, 0.0);
        let rows = output.chunks_exact(d).zip(piece.targets.chunks_exact(d));
        let rows = rows.zip(self.d_output.chunks_exact_mut(d)).zip(piece.present.iter().zip(&self.levels));
        for (((output, target), d_output), (&present, &level)) in rows {
            for ((output, target), d_output) in output.iter().zip(target).zip(d_output) {
                let error = if present { target - output } else { 0.0 };
                let clipped = error.clamp(-1.0, 1.0);
                let weight = if error < 0.0 { 1.0 - level } else { level };
                sum += f64::from(weight * clipped * (error - 0.5 * clipped));
                *d_output = -factor * weight * clipped;
            }
        }
        sum * f64::from(factor)
    }

    fn backward(&mut self, params: &[f32], inputs: &[f32], rows: usize, grad: &mut [f32]) {
        let Net { gru, embed, head } = &self.net;
        let (of_gru, of_embed, of_head) = self.net.parts(params);
        let (d_gru, rest) = grad.split_at_mut(gru.n_params());
        let (d_embed, d_head) = rest.split_at_mut(embed.n_params());
        let n = rows * gru.hidden();
        let (products, d_product) = (&self.products[..n], &mut self.d_product[..n]);
        let wanted = Gradients { params: Some(d_head), input: Some((0..gru.hidden(), &mut *d_product)) };
        head.backward(of_head, products, &mut self.head, &self.d_output[..rows * head.outputs()], wanted);
        let factors = self.state.output().iter().zip(self.embed.output());
        for ((d_product, d_hidden), (h, e)) in d_product.iter_mut().zip(&mut self.d_hidden).zip(factors) {
            *d_hidden = *d_product * e;
            *d_product *= h;
        }
        let features = &self.features[..rows * embed.inputs()];
        embed.backward(of_embed, features, &mut self.embed, d_product, Gradients::params(d_embed));
        gru.backward(of_gru, inputs, &mut self.state, &self.d_hidden[..n], d_gru);
    }
}

impl SequenceModel for InTraining {
    fn begin(&mut self) {
        self.state.reset();
    }

    fn gradient(
        &mut self,
        params: &[f32],
        piece: &mut Piece,
        done: f64,
        grad: &mut [f32],
        rng: &mut Rng,
    ) -> f64 {
        let rows = piece.present.len();
        if done > 0.0 {
            self.own_inputs(params, piece, OWN * done, rng);
        }
        self.levels[..rows].iter_mut().for_each(|level| *level = rng.uniform() as f32);
        self.forward(params, &piece.inputs, rows);
        let loss = self.loss(piece);
        self.backward(params, &piece.inputs, rows, grad);
        loss
    }

    fn widths(&self) -> (usize, usize) {
        (self.net.head.outputs(), self.net.head.outputs())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gradients_are_those_of_finite_differences_at_the_same_levels() {
        let (steps, batch, d) = (3, 2, 2);
        let net = Net::new(d, 4, 5);
        let mut rng = Rng::new(3);
        let params = net.first_params(&mut rng);
        let (mut inputs, mut targets) = (vec![0.0; steps * batch * d], vec![0.0; steps * batch * d]);
        rng.fill_normal(&mut inputs);
        rng.fill_normal(&mut targets);
        let mut piece = Piece { inputs, targets, present: vec![true, true, true, true, false, true] };
        let mut model = InTraining::new(net, steps, batch);
        let mut at = |params: &[f32], grad: &mut [f32]| {
            model.begin();
            model.gradient(params, &mut piece, 0.0, grad, &mut Rng::new(9))
        };
        let (mut grad, mut unused) = (vec![f32::NAN; params.len()], vec![0.0; params.len()]);
        at(&params, &mut grad);
        for i in 0..params.len() {
            let mut moved = params.clone();
            let mut side = |shift: f32| {
                moved[i] = params[i] + shift;
                at(&moved, &mut unused)
            };
            let slope = (side(1e-3) - side(-1e-3)) / 2e-3;
            assert!((f64::from(grad[i]) - slope).abs() < 2e-3, "{i}: expected {slope}, found {}", grad[i]);
        }
    }
}

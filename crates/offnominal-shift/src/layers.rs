//! Encoders, aggregator and predictions.
//!
//! f_s and f_a: kernels (4, 4), strides (2, 2), channels (64, 128); the dilations are (1, 2), because only in this order the
//! receptive field is the stated 16 (in the printed order (2, 1) it is 13). g: kernels (3, 3), channels (256, 128).
//! h_k: one linear map for each k = 1 … 16. A token stands for 16 steps and begins 4 steps after the one before, so that
//! k = 16 looks 64 steps ahead, where the text can be read as 16.

use crate::contrast::{self, Hardness, Shape, Task};
use crate::model::ModelInput;
use crate::temporal::{Kernel, Layer};
use offnominal_core::Rng;
use offnominal_nets::{Activation, Gradients, Init, Mlp, Workspace, simd};
use std::ops::Range;

/// How many tokens ahead are predicted.
pub const AHEAD: usize = 16;
/// The kernels of the encoders.
pub const ENCODER: [Kernel; 2] =
    [Kernel { size: 4, stride: 2, dilation: 1 }, Kernel { size: 4, stride: 2, dilation: 2 }];
const AGGREGATOR: Kernel = Kernel { size: 3, stride: 1, dilation: 1 };
const INNER: usize = 64;
/// Numbers of a token.
const TOKEN: usize = 128;
const MIXED: usize = 256;
/// Tokens that a context has seen before its last one.
const BEHIND: usize = 4;
/// Sequences whose predictions are made together. All at once they would fill 20 MB, which is more than fast memory.
const TOGETHER: usize = 4;

/// The layers with their buffers, for batches of one size.
pub(crate) struct Layers {
    states: [Layer; 2],
    actions: Option<[Layer; 2]>,
    mix: [Layer; 2],
    heads: Heads,
    joined: Vec<f32>,
    /// Derivatives by tokens and by contexts.
    d_tokens: Vec<f32>,
    d_contexts: Vec<f32>,
    shape: Shape,
    pub n_params: usize,
}

impl Layers {
    /// Layers for at most so many rows in all sequences together.
    pub(crate) fn new(input: ModelInput, (states, actions): (usize, usize), rows: usize) -> Layers {
        let mut from = 0;
        let mut layer = |kernel, widths, output| {
            let layer = Layer::new(kernel, widths, output, from, rows);
            from = layer.params().end;
            layer
        };
        let mut encoder = |width: usize| {
            [
                layer(ENCODER[0], (width, INNER), Activation::Relu),
                layer(ENCODER[1], (INNER, TOKEN), Activation::Identity),
            ]
        };
        let states = encoder(states.max(1));
        let actions = (input == ModelInput::StatesAndActions).then(|| encoder(actions.max(1)));
        let joined = if actions.is_some() { 2 * TOKEN } else { TOKEN };
        let mix = [
            layer(AGGREGATOR, (joined, MIXED), Activation::Relu),
            layer(AGGREGATOR, (MIXED, TOKEN), Activation::Relu),
        ];
        let heads = Heads::new(from);
        let n_params = heads.params.end;
        let shape = Shape { sequences: 0, tokens: 0, contexts: 0, behind: BEHIND, ahead: AHEAD };
        let empty = Vec::new;
        Layers {
            states,
            actions,
            mix,
            heads,
            joined: empty(),
            d_tokens: empty(),
            d_contexts: empty(),
            shape,
            n_params,
        }
    }

    pub(crate) fn init(&self, rng: &mut Rng) -> Vec<f32> {
        let mut params = vec![0.0; self.n_params];
        let layers = self.states.iter().chain(self.actions.iter().flatten()).chain(&self.mix);
        layers.for_each(|l| l.net().init(&mut params[l.params()], Init::Uniform, rng));
        self.heads.net.init(&mut params[self.heads.params.clone()], Init::Uniform, rng);
        params
    }

    /// Encodes sequences into tokens and contexts.
    pub(crate) fn forward(&mut self, params: &[f32], states: &[f32], actions: &[f32], sequences: usize) {
        chain(&mut self.states, params, states, sequences);
        match &mut self.actions {
            Some(layers) => {
                chain(layers, params, actions, sequences);
                join(self.states[1].out(), layers[1].out(), &mut self.joined);
            }
            None => {
                self.joined.clear();
                self.joined.extend_from_slice(self.states[1].out());
            }
        }
        chain(&mut self.mix, params, &self.joined, sequences);
        let (tokens, contexts) = (self.states[1].n_outputs(), self.mix[1].n_outputs());
        self.shape = Shape { sequences, tokens, contexts, ..self.shape };
        self.heads.reserve(contexts * sequences.min(TOGETHER));
    }

    /// The loss of what was encoded last; its derivatives by the parameters of the predictions are written to `grad`, and
    /// those by tokens and contexts stay here for [`Layers::backward`].
    pub(crate) fn contrast(
        &mut self,
        params: &[f32],
        hardness: Hardness,
        grad: &mut [f32],
        rng: &mut Rng,
    ) -> f64 {
        let (shape, tokens, contexts) = (self.shape, self.states[1].out(), self.mix[1].out());
        let task = Task::draw(shape, hardness, rng);
        let scale = 1.0 / shape.n_pairs().max(1) as f32;
        restart(&mut self.d_tokens, tokens.len());
        restart(&mut self.d_contexts, contexts.len());
        let heads = &mut self.heads;
        grad[heads.params.clone()].fill(0.0);
        let rows = (shape.contexts * TOKEN * TOGETHER).max(1);
        let parts = contexts.chunks(rows).zip(self.d_contexts.chunks_mut(rows));
        let mut sum = 0.0;
        for (i, (contexts, d_contexts)) in parts.enumerate() {
            let predictions = heads.net.forward(&params[heads.params.clone()], contexts, &mut heads.work);
            let slopes = &mut heads.slopes[..predictions.len()];
            let first = (i * TOGETHER, scale);
            sum += contrast::loss::<TOKEN>(
                shape,
                first,
                tokens,
                predictions,
                &task,
                (&mut self.d_tokens, slopes),
            );
            heads.backward(params, contexts, d_contexts, grad);
        }
        sum
    }

    /// Calls `visit` with k and the score of every token that was predicted, of what was encoded last.
    pub(crate) fn judge(&mut self, params: &[f32], mut visit: impl FnMut(usize, f32)) {
        let (shape, heads) = (self.shape, &mut self.heads);
        let tokens = self.states[1].out().as_chunks::<TOKEN>().0;
        let rows = (shape.contexts * TOKEN * TOGETHER).max(1);
        for (i, contexts) in self.mix[1].out().chunks(rows).enumerate() {
            let predictions = heads.net.forward(&params[heads.params.clone()], contexts, &mut heads.work);
            let sequences = predictions.as_chunks::<TOKEN>().0.chunks_exact(shape.contexts * AHEAD);
            for (h, z) in sequences.zip(tokens.chunks_exact(shape.tokens).skip(i * TOGETHER)) {
                simd(
                    #[inline(always)]
                    || {
                        for (token, z) in z.iter().enumerate() {
                            for k in shape.reaching(token) {
                                visit(k, contrast::dot(z, &h[shape.prediction(token, k)]));
                            }
                        }
                    },
                );
            }
        }
    }

    /// Derivatives by all other parameters, after [`Layers::contrast`].
    pub(crate) fn backward(&mut self, params: &[f32], grad: &mut [f32]) {
        let mut d_joined = vec![0.0; self.joined.len()];
        back(&mut self.mix, params, &self.d_contexts, grad, Some(&mut d_joined));
        match &mut self.actions {
            Some(layers) => {
                let mut d_actions = vec![0.0; layers[1].out().len()];
                split(&d_joined, &mut self.d_tokens, &mut d_actions);
                back(layers, params, &d_actions, grad, None);
            }
            None => self.d_tokens.iter_mut().zip(&d_joined).for_each(|(a, b)| *a += b),
        }
        back(&mut self.states, params, &self.d_tokens, grad, None);
    }
}

/// The maps h_k side by side.
struct Heads {
    net: Mlp,
    params: Range<usize>,
    work: Workspace,
    /// Derivatives by the predictions, and by the parameters, of the sequences that are together.
    slopes: Vec<f32>,
    grad: Vec<f32>,
}

impl Heads {
    fn new(from: usize) -> Heads {
        let net = Mlp::new(&[TOKEN, AHEAD * TOKEN], Activation::Identity);
        let params = from..from + net.n_params();
        Heads { work: net.workspace(1), slopes: vec![], grad: vec![0.0; net.n_params()], net, params }
    }

    /// Makes room for batches of so many contexts.
    fn reserve(&mut self, contexts: usize) {
        let n = contexts * AHEAD * TOKEN;
        if self.slopes.len() < n {
            self.slopes.resize(n, 0.0);
            self.work = self.net.workspace(contexts);
        }
    }

    /// Adds the derivatives by the parameters, and writes those by the contexts, from the slopes of the last pass.
    fn backward(&mut self, params: &[f32], contexts: &[f32], d_contexts: &mut [f32], grad: &mut [f32]) {
        let slopes = &self.slopes[..contexts.len() * AHEAD];
        let wanted = Gradients { params: Some(&mut self.grad), input: Some((0..TOKEN, d_contexts)) };
        self.net.backward(&params[self.params.clone()], contexts, &mut self.work, slopes, wanted);
        grad[self.params.clone()].iter_mut().zip(&self.grad).for_each(|(sum, part)| *sum += part);
    }
}

fn restart(values: &mut Vec<f32>, n: usize) {
    values.clear();
    values.resize(n, 0.0);
}

fn chain(layers: &mut [Layer; 2], params: &[f32], input: &[f32], sequences: usize) {
    let [first, second] = layers;
    first.forward(params, input, sequences);
    second.forward(params, first.out(), sequences);
}

fn back(
    layers: &mut [Layer; 2],
    params: &[f32],
    d_out: &[f32],
    grad: &mut [f32],
    d_input: Option<&mut [f32]>,
) {
    let [first, second] = layers;
    let mut d_inner = vec![0.0; first.out().len()];
    second.backward(params, d_out, grad, Some(&mut d_inner));
    first.backward(params, &d_inner, grad, d_input);
}

/// Rows of both, side by side.
fn join(a: &[f32], b: &[f32], out: &mut Vec<f32>) {
    out.clear();
    for (a, b) in a.chunks_exact(TOKEN).zip(b.chunks_exact(TOKEN)) {
        out.extend_from_slice(a);
        out.extend_from_slice(b);
    }
}

/// Adds the left half of each row to `a`, and writes the right half to `b`.
fn split(rows: &[f32], a: &mut [f32], b: &mut [f32]) {
    for ((row, a), b) in
        rows.chunks_exact(2 * TOKEN).zip(a.chunks_exact_mut(TOKEN)).zip(b.chunks_exact_mut(TOKEN))
    {
        a.iter_mut().zip(row).for_each(|(a, r)| *a += r);
        b.copy_from_slice(&row[TOKEN..]);
    }
}

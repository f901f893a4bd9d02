//! Encoders, aggregator and predictions.
//!
//! f_s and f_a: kernels (4, 4), strides (2, 2), channels (64, 128); the dilations are (1, 2), because only in this
//! order the receptive field is the stated 16 (in the printed order (2, 1) it is 13). g: kernels (3, 3), channels
//! (256, 128). h_k: one linear map for each k = 1 … 16. A token stands for 16 steps and begins 4 steps after the one
//! before, so that k = 16 predicts 64 steps ahead, where the text can be read as 16.

use crate::Inputs;
use crate::contrast::{self, Hardness, Shape, Task};
use offnominal_core::Rng;
use offnominal_nets::{
    Activation, Gradients, Init, Mlp, SequenceLayer, SequenceNet, SequenceWorkspace, Workspace, simd,
};
use std::ops::Range;

/// How many tokens ahead are predicted.
pub const AHEAD: usize = 16;
/// Numbers of a token.
const TOKEN: usize = 128;
const ENCODER: [SequenceLayer; 2] = [unpadded(4, 2, 1, 64), unpadded(4, 2, 2, TOKEN)];
const AGGREGATOR: [SequenceLayer; 2] = [unpadded(3, 1, 1, 256), unpadded(3, 1, 1, TOKEN)];
/// Tokens that a context has seen before its last one.
const BEHIND: usize = 4;
/// Sequences whose predictions are made together. All at once they would fill 20 MB, which is more than fast memory.
const TOGETHER: usize = 4;

const fn unpadded(width: usize, stride: usize, dilation: usize, count: usize) -> SequenceLayer {
    SequenceLayer { width, dilation, stride, count, padded: false }
}

/// The layers with their buffers, for batches of one size.
pub(crate) struct Layers {
    states: Chain,
    actions: Option<Chain>,
    mix: Chain,
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
    pub(crate) fn new(inputs: Inputs, (states, actions): (usize, usize), rows: usize) -> Layers {
        let encoder = |width: usize| SequenceNet::new(width.max(1), &ENCODER);
        let states = Chain::new(encoder(states), 0, rows);
        let actions = (inputs == Inputs::StatesAndActions)
            .then(|| Chain::new(encoder(actions), states.params.end, rows));
        let last = actions.as_ref().unwrap_or(&states).params.end;
        let joined = if actions.is_some() { 2 * TOKEN } else { TOKEN };
        // A token stands for four rows that the one before it does not.
        let mix = Chain::new(SequenceNet::new(joined, &AGGREGATOR).rectified(), last, rows.div_ceil(4));
        let heads = Heads::new(mix.params.end);
        let n_params = heads.params.end;
        let shape = Shape { sequences: 0, tokens: 0, contexts: 0, behind: BEHIND, ahead: AHEAD };
        let (joined, d_tokens, d_contexts) = (vec![], vec![], vec![]);
        Layers { states, actions, mix, heads, joined, d_tokens, d_contexts, shape, n_params }
    }

    pub(crate) fn init(&self, rng: &mut Rng) -> Vec<f32> {
        let mut params = vec![0.0; self.n_params];
        for chain in [&self.states].into_iter().chain(&self.actions).chain([&self.mix]) {
            chain.net.init(&mut params[chain.params.clone()], Init::Uniform, rng);
        }
        self.heads.net.init(&mut params[self.heads.params.clone()], Init::Uniform, rng);
        params
    }

    /// Encodes sequences into tokens and contexts.
    pub(crate) fn forward(&mut self, params: &[f32], states: &[f32], actions: &[f32], sequences: usize) {
        self.states.forward(params, states, sequences);
        match &mut self.actions {
            Some(chain) => {
                chain.forward(params, actions, sequences);
                join(self.states.out(), chain.out(), &mut self.joined);
            }
            None => {
                self.joined.clear();
                self.joined.extend_from_slice(self.states.out());
            }
        }
        self.mix.forward(params, &self.joined, sequences);
        let [tokens, contexts] = [&self.states, &self.mix].map(|chain| chain.out().len() / TOKEN / sequences);
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
        let (shape, tokens, contexts) = (self.shape, self.states.out(), self.mix.out());
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
        let tokens = self.states.out().as_chunks::<TOKEN>().0;
        let rows = (shape.contexts * TOKEN * TOGETHER).max(1);
        for (i, contexts) in self.mix.out().chunks(rows).enumerate() {
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
        self.mix.backward(params, &self.d_contexts, grad, Some(&mut d_joined));
        match &mut self.actions {
            Some(chain) => {
                let mut d_actions = vec![0.0; chain.out().len()];
                split(&d_joined, &mut self.d_tokens, &mut d_actions);
                chain.backward(params, &d_actions, grad, None);
            }
            None => self.d_tokens.iter_mut().zip(&d_joined).for_each(|(a, b)| *a += b),
        }
        self.states.backward(params, &self.d_tokens, grad, None);
    }
}

/// Convolutions along sequences with their buffers and their place among the parameters of a model.
struct Chain {
    net: SequenceNet,
    params: Range<usize>,
    work: SequenceWorkspace,
}

impl Chain {
    /// Layers whose parameters begin at `from`, for at most so many rows.
    fn new(net: SequenceNet, from: usize, rows: usize) -> Chain {
        Chain { params: from..from + net.n_params(), work: net.workspace(rows), net }
    }

    /// Convolves sequences of equal length, one after the other in `input`.
    fn forward(&mut self, params: &[f32], input: &[f32], sequences: usize) {
        let rows = input.len() / self.net.channels() / sequences;
        let ends: Vec<usize> = (1..=sequences).map(|i| i * rows).collect();
        self.net.forward(&params[self.params.clone()], input, &ends, &mut self.work);
    }

    /// The result of the last pass, one row for each place of each sequence.
    fn out(&self) -> &[f32] {
        self.work.output()
    }

    fn backward(&mut self, params: &[f32], d_out: &[f32], grad: &mut [f32], d_input: Option<&mut [f32]>) {
        let part = self.params.clone();
        self.net.backward(&params[part.clone()], &mut self.work, d_out, &mut grad[part], d_input);
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

#[cfg(test)]
mod tests {
    use super::*;

    /// Rows that one output of the last layer reads, and rows from one such output to the next.
    fn receptive_field(layers: &[SequenceLayer]) -> (usize, usize) {
        let wider = |(field, step): (usize, usize), l: &SequenceLayer| {
            (field + (l.width - 1) * l.dilation * step, step * l.stride)
        };
        layers.iter().fold((1, 1), wider)
    }

    #[test]
    fn a_token_stands_for_sixteen_rows_only_in_this_order_of_the_dilations() {
        assert_eq!(receptive_field(&ENCODER), (16, 4));
        assert_eq!(receptive_field(&[unpadded(4, 2, 2, 1), unpadded(4, 2, 1, 1)]), (13, 4));
    }
}

//! One pass of an observation through the layers.

use super::design::{Kind, Layer};
use offnominal_nets::{sigmoid, simd, tanh};

/// Room for the numbers between the layers, and the state of those that have one.
#[derive(Debug, Clone)]
pub(super) struct Pass {
    before: Vec<f32>,
    after: Vec<f32>,
    /// What a place of a filter computes, or the gates of a memory.
    inner: Vec<f32>,
    /// Hidden and cell state of each memory; nothing for other layers.
    states: Vec<Vec<f32>>,
}

impl Pass {
    /// Room for these layers.
    pub(super) fn new(layers: &[Layer]) -> Pass {
        let most = |of: fn(&Kind) -> usize| layers.iter().map(|layer| of(&layer.kind)).max().unwrap_or(0);
        let widest = most(|kind| kind.outputs().unwrap_or(0).max(kind.inputs().unwrap_or(0)));
        let inner = most(|kind| kind.shapes()[1].1[0]);
        let state = |layer: &Layer| match layer.kind {
            Kind::Lstm { units, .. } => vec![0.0; 2 * units],
            Kind::Dense { .. } | Kind::Convolution { .. } => vec![],
        };
        Pass {
            before: vec![0.0; widest],
            after: vec![0.0; widest],
            inner: vec![0.0; inner],
            states: layers.iter().map(state).collect(),
        }
    }

    /// Forgets the episode before.
    pub(super) fn reset(&mut self) {
        self.states.iter_mut().for_each(|state| state.fill(0.0));
    }

    /// The outputs of the last layer.
    pub(super) fn run(&mut self, layers: &[Layer], params: &[Vec<f32>], seen: &[f32]) -> &[f32] {
        let mut n = seen.len();
        self.before[..n].copy_from_slice(seen);
        for ((layer, params), state) in layers.iter().zip(params).zip(&mut self.states) {
            let outputs = layer.kind.outputs().unwrap_or(0);
            let (from, to) = (&self.before[..n], &mut self.after[..outputs]);
            match layer.kind {
                Kind::Dense { .. } => dense(params, from, to),
                Kind::Convolution { .. } => convolution(&layer.kind, params, from, &mut self.inner, to),
                Kind::Lstm { .. } => memory(params, from, state, &mut self.inner, to),
            }
            layer.activation.apply(to);
            std::mem::swap(&mut self.before, &mut self.after);
            n = outputs;
        }
        &self.before[..n]
    }
}

/// x W + b; the bias stands after the weights.
fn dense(params: &[f32], from: &[f32], to: &mut [f32]) {
    let (weights, bias) = params.split_at(params.len() - to.len());
    to.copy_from_slice(bias);
    simd(
        #[inline(always)]
        || add_rows(weights, from, to),
    );
}

/// Adds to the sums each row of the weights times its number.
#[inline(always)]
fn add_rows(weights: &[f32], from: &[f32], sums: &mut [f32]) {
    for (&x, row) in from.iter().zip(weights.chunks_exact(sums.len())) {
        for (sum, weight) in sums.iter_mut().zip(row) {
            *sum = x.mul_add(*weight, *sum);
        }
    }
}

/// Filters at every place of an image; the rows of the weights are planes, rows and columns of a filter.
fn convolution(kind: &Kind, params: &[f32], from: &[f32], inner: &mut [f32], to: &mut [f32]) {
    let &Kind::Convolution { planes, height, columns, filters, kernel, stride } = kind else { return };
    let Some((down, across)) = kind.places() else { return };
    let (weights, bias) = params.split_at(params.len() - filters);
    let sums = &mut inner[..filters];
    for place in 0..down * across {
        let (top, left) = (place / across * stride, place % across * stride);
        sums.copy_from_slice(bias);
        for (line, weights) in weights.chunks_exact(kernel * filters).enumerate().take(planes * kernel) {
            let begin = (line / kernel * height + top + line % kernel) * columns + left;
            let pixels = &from[begin..begin + kernel];
            simd(
                #[inline(always)]
                || add_rows(weights, pixels, sums),
            );
        }
        for (filter, &sum) in sums.iter().enumerate() {
            to[filter * down * across + place] = sum;
        }
    }
}

/// A step of a memory: i, f, o = σ(·), g = tanh(·) of x and the hidden state; c ← f c + i g; h ← o tanh c.
fn memory(params: &[f32], from: &[f32], state: &mut [f32], inner: &mut [f32], to: &mut [f32]) {
    let units = to.len();
    let (hidden, cell) = state.split_at_mut(units);
    let (weights, bias) = params.split_at(params.len() - 4 * units);
    let (of_input, of_hidden) = weights.split_at(from.len() * 4 * units);
    let gates = &mut inner[..4 * units];
    gates.copy_from_slice(bias);
    simd(
        #[inline(always)]
        || {
            add_rows(of_input, from, gates);
            add_rows(of_hidden, hidden, gates);
        },
    );
    for u in 0..units {
        let [i, f, g, o] = [0, 1, 2, 3].map(|gate| gates[gate * units + u]);
        cell[u] = sigmoid(f) * cell[u] + sigmoid(i) * tanh(g);
        hidden[u] = sigmoid(o) * tanh(cell[u]);
    }
    to.copy_from_slice(hidden);
}

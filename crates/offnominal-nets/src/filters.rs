//! What convolutions over images and along sequences share: layers whose results are patches times filters.
//!
//! A layer collects what its filters read at each place into rows, `[places, patch]`, and multiplies them. Parameters are
//! stored layer by layer: the weights `[patch, count]`, then the biases. How patches are collected is not known here.

use crate::matmul::{self, Pack};
use crate::{Activation, Init};
use offnominal_core::Rng;
use std::ops::Range;

/// The shape `[patch, count]` of each layer's weights; of a dense layer, `[inputs, outputs]`.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Layers(pub Vec<[usize; 2]>);

impl Layers {
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Where the weights of a layer lie in the parameters.
    pub fn weights(&self, layer: usize) -> Range<usize> {
        let start = self.0[..layer].iter().map(|[patch, count]| (patch + 1) * count).sum();
        let [patch, count] = self.0[layer];
        start..start + patch * count
    }

    /// Where the biases of a layer lie in the parameters.
    pub fn biases(&self, layer: usize) -> Range<usize> {
        let start = self.weights(layer).end;
        start..start + self.0[layer][1]
    }

    pub fn n_params(&self) -> usize {
        self.biases(self.len() - 1).end
    }

    /// Draws the first parameters.
    pub fn init(&self, params: &mut [f32], init: Init, rng: &mut Rng) {
        for (layer, &[patch, count]) in self.0.iter().enumerate() {
            let weights = self.weights(layer);
            let (weights, rest) = params[weights.start..].split_at_mut(weights.len());
            init.fill(patch, weights, &mut rest[..count], rng);
        }
    }
}

/// Gives a network with `layers` the methods about its parameters.
macro_rules! has_layers {
    ($net:ty) => {
        impl $net {
            /// Number of parameters.
            pub fn n_params(&self) -> usize {
                self.layers.n_params()
            }

            /// Where the weights of a layer, `[inputs of a filter, filters]`, lie in the parameters.
            pub fn weights(&self, layer: usize) -> std::ops::Range<usize> {
                self.layers.weights(layer)
            }

            /// Where the biases of a layer lie in the parameters.
            pub fn biases(&self, layer: usize) -> std::ops::Range<usize> {
                self.layers.biases(layer)
            }

            /// Draws the first parameters.
            pub fn init(&self, params: &mut [f32], init: Init, rng: &mut Rng) {
                self.layers.init(params, init, rng);
            }

            /// First parameters, drawn.
            pub fn first_params(&self, init: Init, rng: &mut Rng) -> Vec<f32> {
                let mut params = vec![0.0; self.n_params()];
                self.init(&mut params, init, rng);
                params
            }
        }
    };
}
pub(crate) use has_layers;

/// A layer of a chain in one pass.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Pass {
    /// Places of its filters in the whole batch.
    pub places: usize,
    pub activation: Activation,
}

/// What passing a batch through the layers writes to.
#[derive(Debug, Clone)]
pub(crate) struct Buffers {
    /// What each layer's filters read, `[places, patch]`.
    patches: Vec<Vec<f32>>,
    /// Results of each layer, `[places, count]`.
    outputs: Vec<Vec<f32>>,
    /// The passes of the last batch.
    passes: Vec<Pass>,
    /// Length of its result.
    n_output: usize,
    /// Derivatives of the current layer's result and of the one before it.
    delta: [Vec<f32>; 2],
    d_patches: Vec<f32>,
    pack: Pack,
}

impl Buffers {
    /// For at most so many places in each layer.
    pub fn new(layers: &Layers, places: &[usize]) -> Buffers {
        let sized = |width: fn(&[usize; 2]) -> usize| {
            let lengths = layers.0.iter().zip(places).map(|(shape, n)| n * width(shape));
            lengths.map(|n| vec![0.0; n]).collect::<Vec<Vec<f32>>>()
        };
        let (patches, outputs) = (sized(|s| s[0]), sized(|s| s[1]));
        let longest = |of: &[Vec<f32>]| vec![0.0; of.iter().map(Vec::len).max().unwrap_or(0)];
        Buffers {
            delta: [longest(&outputs), longest(&outputs)],
            d_patches: longest(&patches[1..]),
            passes: Vec::with_capacity(layers.len()),
            n_output: 0,
            patches,
            outputs,
            pack: Pack::default(),
        }
    }

    /// The result of the last layer in the last pass, row by row.
    pub fn output(&self) -> &[f32] {
        self.outputs.last().map_or(&[], |last| &last[..self.n_output])
    }

    /// Passes a batch through the layers; `gather` writes the patches of a layer, given the result of the one before it,
    /// which the first layer does not have.
    pub fn forward(
        &mut self,
        layers: &Layers,
        params: &[f32],
        passes: impl Iterator<Item = Pass>,
        mut gather: impl FnMut(usize, Option<&[f32]>, &mut [f32]),
    ) {
        self.passes.clear();
        self.passes.extend(passes);
        for (layer, &[patch, count]) in layers.0.iter().enumerate() {
            let Pass { places, activation } = self.passes[layer];
            let (before, from) = self.outputs.split_at_mut(layer);
            let x = &mut self.patches[layer][..places * patch];
            gather(layer, before.last().map(Vec::as_slice), x);
            let (w, b) = (&params[layers.weights(layer)], &params[layers.biases(layer)]);
            self.n_output = places * count;
            matmul::forward(x, w, b, activation.slope(), &mut from[0][..self.n_output], &mut self.pack);
        }
    }

    /// Derivatives by the parameters, overwritten, given those by the result of the last pass; `scatter` makes
    /// derivatives by what a layer read of those by its patches. Those of the first layer are formed only if
    /// `d_input` is given.
    pub fn backward(
        &mut self,
        layers: &Layers,
        params: &[f32],
        d_out: &[f32],
        grad: &mut [f32],
        mut d_input: Option<&mut [f32]>,
        mut scatter: impl FnMut(usize, &[f32], &mut [f32]),
    ) {
        self.delta[0][..d_out.len()].copy_from_slice(d_out);
        for (layer, &[patch, count]) in layers.0.iter().enumerate().rev() {
            let Pass { places, activation } = self.passes[layer];
            let [delta, before] = &mut self.delta;
            let delta = &mut delta[..places * count];
            activation.chain(delta, &self.outputs[layer]);
            let x = &self.patches[layer][..places * patch];
            matmul::to_weights(x, delta, count, &mut grad[layers.weights(layer)], &mut self.pack);
            column_sums(delta, &mut grad[layers.biases(layer)]);
            let into = match &mut d_input {
                _ if layer > 0 => &mut before[..],
                Some(d_input) => d_input,
                None => return,
            };
            self.d_patches.resize(self.d_patches.len().max(places * patch), 0.0);
            let d_patches = &mut self.d_patches[..places * patch];
            matmul::to_input(delta, &params[layers.weights(layer)], count, d_patches, &mut self.pack);
            scatter(layer, d_patches, into);
            self.delta.swap(0, 1);
        }
    }
}

/// The sum of each column of a row-major matrix.
pub(crate) fn column_sums(rows: &[f32], sums: &mut [f32]) {
    sums.fill(0.0);
    crate::simd(
        #[inline(always)]
        || {
            for row in rows.chunks_exact(sums.len()) {
                sums.iter_mut().zip(row).for_each(|(s, v)| *s += v);
            }
        },
    );
}

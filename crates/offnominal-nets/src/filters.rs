//! What convolutions over pictures and along sequences share: layers whose results are patches times filters.
//!
//! A layer collects what its filters read at each place into rows, `[places, patch]`, and multiplies them. Parameters are
//! stored layer by layer: the weights `[patch, count]`, then the biases. How patches are collected is not known here.

use crate::matmul::{self, Pack};
use crate::{Activation, Init};
use offnominal_core::Rng;
use std::ops::Range;

/// The shape `[patch, count]` of each layer's weights.
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

/// What passing a batch through the layers writes to.
#[derive(Debug, Clone)]
pub(crate) struct Buffers {
    /// What each layer's filters read, `[places, patch]`.
    pub patches: Vec<Vec<f32>>,
    /// Results of each layer, `[places, count]`.
    pub outputs: Vec<Vec<f32>>,
    /// Derivatives of the current layer's result and of the one before it.
    pub delta: [Vec<f32>; 2],
    d_patches: Vec<f32>,
    pack: Pack,
}

impl Buffers {
    /// For at most so many places in each layer.
    pub fn new(layers: &Layers, places: &[usize]) -> Buffers {
        let sized = |width: fn(&[usize; 2]) -> usize| {
            layers
                .0
                .iter()
                .zip(places)
                .map(|(shape, n)| vec![0.0; n * width(shape)])
                .collect::<Vec<Vec<f32>>>()
        };
        let (patches, outputs) = (sized(|s| s[0]), sized(|s| s[1]));
        let longest = |of: &[Vec<f32>]| vec![0.0; of.iter().map(Vec::len).max().unwrap_or(0)];
        Buffers {
            delta: [longest(&outputs), longest(&outputs)],
            d_patches: longest(&patches[1..]),
            patches,
            outputs,
            pack: Pack::default(),
        }
    }

    /// The result of a layer at `n` places, from its patches.
    pub fn product(
        &mut self,
        layers: &Layers,
        layer: usize,
        n: usize,
        params: &[f32],
        activation: Activation,
    ) {
        let [patch, count] = layers.0[layer];
        let (x, y) = (&self.patches[layer][..n * patch], &mut self.outputs[layer][..n * count]);
        let (w, b) = (&params[layers.weights(layer)], &params[layers.biases(layer)]);
        matmul::forward(x, w, b, activation.slope(), y, &mut self.pack);
    }

    /// Derivatives by a layer's parameters, given those by its result at `n` places in `delta[0]`.
    pub fn params_gradient(
        &mut self,
        layers: &Layers,
        layer: usize,
        n: usize,
        activation: Activation,
        grad: &mut [f32],
    ) {
        let [patch, count] = layers.0[layer];
        let delta = &mut self.delta[0][..n * count];
        activation.chain(delta, &self.outputs[layer]);
        let x = &self.patches[layer][..n * patch];
        matmul::to_weights(x, delta, count, &mut grad[layers.weights(layer)], &mut self.pack);
        crate::mlp::column_sums(delta, &mut grad[layers.biases(layer)]);
    }

    /// Derivatives by a layer's patches, given those by its result at `n` places in `delta[0]`; and where those by its input
    /// go, `delta[1]`.
    pub fn patches_gradient(
        &mut self,
        layers: &Layers,
        layer: usize,
        n: usize,
        params: &[f32],
    ) -> (&[f32], &mut [f32]) {
        let [patch, count] = layers.0[layer];
        let [delta, next] = &mut self.delta;
        let d_patches = &mut self.d_patches[..n * patch];
        matmul::to_input(
            &delta[..n * count],
            &params[layers.weights(layer)],
            count,
            d_patches,
            &mut self.pack,
        );
        (d_patches, next)
    }
}

//! A chain of convolutions along sequences, whose output has as many places as its input.
//!
//! A batch is the places of all its sequences, one below the other, `[places, channels]`, and where each sequence ends;
//! lengths may differ. A tap pattern of width w and spacing s reads the places t − s (w − 1)/2 … t + s (w − 1)/2; beyond
//! the ends of its own sequence it reads zeros. Hidden layers are rectified, the last one is not. Parameters are stored
//! layer by layer: the weights `[w · channels, count]`, place after place, then the biases.
//!
//! ```
//! use offnominal_core::Rng;
//! use offnominal_nets::{Init, SequenceNet, Taps};
//!
//! let wide = Taps { width: 5, spacing: 2, count: 8 };
//! let net = SequenceNet::new(3, &[wide, Taps { width: 1, spacing: 1, count: 1 }]);
//! let mut params = vec![0.0; net.n_params()];
//! net.init(&mut params, Init::Uniform, &mut Rng::new(1));
//! let mut work = net.workspace(20);
//! // Two sequences, of 13 and of 7 places.
//! assert_eq!(net.forward(&params, &[0.1; 3 * 20], &[13, 20], &mut work).len(), 20);
//! assert_eq!(net.reach(), 4);
//! ```

use crate::Init;
use crate::matmul::{self, Pack};
use offnominal_core::Rng;
use std::ops::Range;

/// A layer: how many places a filter reads, how far they are from one another, and how many filters there are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Taps {
    /// Places that a filter reads; odd, so that one is in the middle.
    pub width: usize,
    /// Places from one that is read to the next.
    pub spacing: usize,
    /// Number of filters.
    pub count: usize,
}

/// The shape of a chain of convolutions along sequences. Parameters are passed to each call.
#[derive(Debug, Clone, PartialEq)]
pub struct SequenceNet {
    channels: usize,
    layers: Vec<Taps>,
}

/// Everything that passing batches of up to a given number of places through the chain writes to.
#[derive(Debug, Clone)]
pub struct SequenceWorkspace {
    max_places: usize,
    places: usize,
    /// Where the sequences of the last forward pass ended.
    ends: Vec<usize>,
    /// What each layer's filters read, `[places, patch]`.
    patches: Vec<Vec<f32>>,
    /// Results of each layer, `[places, count]`.
    outputs: Vec<Vec<f32>>,
    delta: [Vec<f32>; 2],
    d_patches: Vec<f32>,
    pack: Pack,
}

impl SequenceNet {
    /// Layers on sequences with so many channels.
    ///
    /// # Panics
    /// If there is no layer or no channel, or a layer has no filters, no spacing or an even width.
    pub fn new(channels: usize, layers: &[Taps]) -> SequenceNet {
        let is_sound = |l: &Taps| l.width % 2 == 1 && l.spacing > 0 && l.count > 0;
        assert!(channels > 0 && !layers.is_empty() && layers.iter().all(is_sound), "{channels}: {layers:?}");
        SequenceNet { channels, layers: layers.to_vec() }
    }

    /// Numbers at a place of the input.
    pub fn channels(&self) -> usize {
        self.channels
    }

    /// The layers.
    pub fn layers(&self) -> &[Taps] {
        &self.layers
    }

    /// Numbers at a place of the output.
    pub fn outputs(&self) -> usize {
        self.layers[self.layers.len() - 1].count
    }

    /// How many places to either side a place of the output depends on.
    pub fn reach(&self) -> usize {
        self.layers.iter().map(|l| l.spacing * (l.width / 2)).sum()
    }

    /// Number of parameters.
    pub fn n_params(&self) -> usize {
        self.biases(self.layers.len() - 1).end
    }

    /// Shape `[patch, count]` of the weights of a layer.
    pub fn weight_shape(&self, layer: usize) -> [usize; 2] {
        [self.layers[layer].width * self.inputs(layer), self.layers[layer].count]
    }

    /// Where the weights of a layer lie in the parameters.
    pub fn weights(&self, layer: usize) -> Range<usize> {
        let len = |l: usize| self.weight_shape(l)[0] * self.weight_shape(l)[1];
        let start = (0..layer).map(|l| len(l) + self.layers[l].count).sum();
        start..start + len(layer)
    }

    /// Where the biases of a layer lie in the parameters.
    pub fn biases(&self, layer: usize) -> Range<usize> {
        let start = self.weights(layer).end;
        start..start + self.layers[layer].count
    }

    /// Numbers at a place of a layer's input.
    fn inputs(&self, layer: usize) -> usize {
        if layer == 0 { self.channels } else { self.layers[layer - 1].count }
    }

    /// Draws the first parameters.
    pub fn init(&self, params: &mut [f32], init: Init, rng: &mut Rng) {
        for layer in 0..self.layers.len() {
            let ([fan_in, count], weights) = (self.weight_shape(layer), self.weights(layer));
            let (weights, rest) = params[weights.start..].split_at_mut(weights.len());
            init.fill(fan_in, weights, &mut rest[..count], rng);
        }
    }

    /// Buffers for batches of up to so many places.
    pub fn workspace(&self, max_places: usize) -> SequenceWorkspace {
        let zeros = |width: usize| vec![0.0; max_places * width];
        let layers = 0..self.layers.len();
        let patches: Vec<Vec<f32>> = layers.clone().map(|l| zeros(self.weight_shape(l)[0])).collect();
        let outputs: Vec<Vec<f32>> = layers.map(|l| zeros(self.layers[l].count)).collect();
        let longest = |of: &[Vec<f32>]| vec![0.0; of.iter().map(Vec::len).max().unwrap_or(0)];
        SequenceWorkspace {
            max_places,
            places: 0,
            ends: vec![],
            delta: [longest(&outputs), longest(&outputs)],
            d_patches: longest(&patches[1..]),
            patches,
            outputs,
            pack: Pack::default(),
        }
    }

    /// Passes sequences through the layers; returns what comes out at each place, `[places, outputs]`.
    ///
    /// # Panics
    /// If the shapes do not fit, the ends are in no order, or there are more places than the workspace is for.
    pub fn forward<'w>(
        &self,
        params: &[f32],
        x: &[f32],
        ends: &[usize],
        work: &'w mut SequenceWorkspace,
    ) -> &'w [f32] {
        let places = x.len() / self.channels;
        assert_eq!((params.len(), x.len()), (self.n_params(), places * self.channels), "shapes");
        assert!(ends.last() == Some(&places) && ends.is_sorted(), "{places} places end at {ends:?}");
        assert!(places <= work.max_places, "{places} places, workspace for {}", work.max_places);
        work.places = places;
        work.ends.clear();
        work.ends.extend_from_slice(ends);
        for layer in 0..self.layers.len() {
            let width = self.inputs(layer);
            let before = if layer == 0 { x } else { &work.outputs[layer - 1][..places * width] };
            let patch = self.weight_shape(layer)[0];
            let patches = &mut work.patches[layer][..places * patch];
            self.layers[layer].gather(before, width, &work.ends, patches);
            let slope = if layer + 1 == self.layers.len() { 1.0 } else { 0.0 };
            let y = &mut work.outputs[layer][..places * self.layers[layer].count];
            let (w, b) = (&params[self.weights(layer)], &params[self.biases(layer)]);
            matmul::forward(patches, w, b, slope, y, &mut work.pack);
        }
        work.output()
    }

    /// Derivatives of a loss by the parameters, overwritten, given those by the output of the last forward pass.
    ///
    /// # Panics
    /// If the shapes do not fit the last forward pass.
    pub fn backward(&self, params: &[f32], work: &mut SequenceWorkspace, d_out: &[f32], grad: &mut [f32]) {
        assert_eq!((d_out.len(), grad.len()), (work.places * self.outputs(), self.n_params()), "shapes");
        work.delta[0][..d_out.len()].copy_from_slice(d_out);
        for layer in (0..self.layers.len()).rev() {
            let (places, [patch, count]) = (work.places, self.weight_shape(layer));
            let delta = &mut work.delta[0][..places * count];
            if layer + 1 < self.layers.len() {
                crate::Activation::Relu.chain(delta, &work.outputs[layer]);
            }
            let read = &work.patches[layer][..places * patch];
            matmul::to_weights(read, delta, count, &mut grad[self.weights(layer)], &mut work.pack);
            crate::mlp::column_sums(delta, &mut grad[self.biases(layer)]);
            if layer > 0 {
                self.to_input(layer, &params[self.weights(layer)], work);
                work.delta.swap(0, 1);
            }
        }
    }

    /// Derivatives by the input of a layer, from those by its result.
    fn to_input(&self, layer: usize, weights: &[f32], work: &mut SequenceWorkspace) {
        let (places, [patch, count], width) = (work.places, self.weight_shape(layer), self.inputs(layer));
        let [delta, next] = &mut work.delta;
        let d_patches = &mut work.d_patches[..places * patch];
        matmul::to_input(&delta[..places * count], weights, count, d_patches, &mut work.pack);
        next[..places * width].fill(0.0);
        self.layers[layer].scatter(d_patches, width, &work.ends, next);
    }
}

impl Taps {
    /// The place that a tap reads, if it is within the sequence.
    fn read(self, place: usize, tap: usize, sequence: &Range<usize>) -> Option<usize> {
        let at = (place + self.spacing * tap).checked_sub(self.spacing * (self.width / 2))?;
        sequence.contains(&at).then_some(at)
    }

    /// Collects what the filters read at each place.
    fn gather(self, x: &[f32], width: usize, ends: &[usize], patches: &mut [f32]) {
        let patch = self.width * width;
        for sequence in sequences(ends) {
            for place in sequence.clone() {
                let pieces = patches[place * patch..][..patch].chunks_exact_mut(width);
                for (tap, piece) in pieces.enumerate() {
                    match self.read(place, tap, &sequence) {
                        Some(at) => piece.copy_from_slice(&x[at * width..][..width]),
                        None => piece.fill(0.0),
                    }
                }
            }
        }
    }

    /// Adds what was collected to where it came from.
    fn scatter(self, patches: &[f32], width: usize, ends: &[usize], x: &mut [f32]) {
        let patch = self.width * width;
        for sequence in sequences(ends) {
            for place in sequence.clone() {
                let pieces = patches[place * patch..][..patch].chunks_exact(width);
                for (tap, piece) in pieces.enumerate() {
                    let Some(at) = self.read(place, tap, &sequence) else { continue };
                    x[at * width..][..width].iter_mut().zip(piece).for_each(|(sum, p)| *sum += p);
                }
            }
        }
    }
}

/// The places of each sequence.
fn sequences(ends: &[usize]) -> impl Iterator<Item = Range<usize>> {
    let starts = std::iter::once(0).chain(ends.iter().copied());
    starts.zip(ends).map(|(start, &end)| start..end)
}

impl SequenceWorkspace {
    /// How many places it is for.
    pub fn max_places(&self) -> usize {
        self.max_places
    }

    /// The output of the last forward pass.
    pub fn output(&self) -> &[f32] {
        let last = self.outputs.last().expect("a chain has a layer");
        let count = last.len().checked_div(self.max_places).unwrap_or(0);
        &last[..self.places * count]
    }
}

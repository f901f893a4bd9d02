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

use crate::filters::{Buffers, Layers};
use crate::{Activation, Init};
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
    taps: Vec<Taps>,
    layers: Layers,
}

/// Everything that passing batches of up to a given number of places through the chain writes to.
#[derive(Debug, Clone)]
pub struct SequenceWorkspace {
    max_places: usize,
    places: usize,
    /// Where the sequences of the last forward pass ended.
    ends: Vec<usize>,
    buffers: Buffers,
}

impl SequenceNet {
    /// Layers on sequences with so many channels.
    ///
    /// # Panics
    /// If there is no layer or no channel, or a layer has no filters, no spacing or an even width.
    pub fn new(channels: usize, layers: &[Taps]) -> SequenceNet {
        let is_sound = |l: &Taps| l.width % 2 == 1 && l.spacing > 0 && l.count > 0;
        assert!(channels > 0 && !layers.is_empty() && layers.iter().all(is_sound), "{channels}: {layers:?}");
        let inputs = std::iter::once(channels).chain(layers.iter().map(|l| l.count));
        let shapes = layers.iter().zip(inputs).map(|(l, input)| [l.width * input, l.count]).collect();
        SequenceNet { channels, taps: layers.to_vec(), layers: Layers(shapes) }
    }

    /// Numbers at a place of the input.
    pub fn channels(&self) -> usize {
        self.channels
    }

    /// The layers.
    pub fn layers(&self) -> &[Taps] {
        &self.taps
    }

    /// Numbers at a place of the output.
    pub fn outputs(&self) -> usize {
        self.taps[self.taps.len() - 1].count
    }

    /// How many places to either side a place of the output depends on.
    pub fn reach(&self) -> usize {
        self.taps.iter().map(|l| l.spacing * (l.width / 2)).sum()
    }

    /// Number of parameters.
    pub fn n_params(&self) -> usize {
        self.layers.n_params()
    }

    /// Where the weights of a layer, `[patch, count]`, lie in the parameters.
    pub fn weights(&self, layer: usize) -> Range<usize> {
        self.layers.weights(layer)
    }

    /// Where the biases of a layer lie in the parameters.
    pub fn biases(&self, layer: usize) -> Range<usize> {
        self.layers.biases(layer)
    }

    /// Numbers at a place of a layer's input.
    fn inputs(&self, layer: usize) -> usize {
        if layer == 0 { self.channels } else { self.taps[layer - 1].count }
    }

    /// The last layer's result is taken as it is.
    fn activation(&self, layer: usize) -> Activation {
        if layer + 1 == self.taps.len() { Activation::Identity } else { Activation::Relu }
    }

    /// Draws the first parameters.
    pub fn init(&self, params: &mut [f32], init: Init, rng: &mut Rng) {
        self.layers.init(params, init, rng);
    }

    /// Buffers for batches of up to so many places.
    pub fn workspace(&self, max_places: usize) -> SequenceWorkspace {
        let buffers = Buffers::new(&self.layers, &vec![max_places; self.taps.len()]);
        SequenceWorkspace { max_places, places: 0, ends: vec![], buffers }
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
        for (layer, taps) in self.taps.iter().enumerate() {
            let (width, Buffers { patches, outputs, .. }) = (self.inputs(layer), &mut work.buffers);
            let before = if layer == 0 { x } else { &outputs[layer - 1][..places * width] };
            taps.gather(before, width, &work.ends, &mut patches[layer][..places * taps.width * width]);
            work.buffers.product(&self.layers, layer, places, params, self.activation(layer));
        }
        work.output()
    }

    /// Derivatives of a loss by the parameters, overwritten, given those by the output of the last forward pass.
    ///
    /// # Panics
    /// If the shapes do not fit the last forward pass.
    pub fn backward(&self, params: &[f32], work: &mut SequenceWorkspace, d_out: &[f32], grad: &mut [f32]) {
        assert_eq!((d_out.len(), grad.len()), (work.places * self.outputs(), self.n_params()), "shapes");
        let places = work.places;
        work.buffers.delta[0][..d_out.len()].copy_from_slice(d_out);
        for (layer, taps) in self.taps.iter().enumerate().rev() {
            work.buffers.params_gradient(&self.layers, layer, places, self.activation(layer), grad);
            if layer > 0 {
                let width = self.inputs(layer);
                let (d_patches, next) = work.buffers.patches_gradient(&self.layers, layer, places, params);
                next[..places * width].fill(0.0);
                taps.scatter(d_patches, width, &work.ends, next);
                work.buffers.delta.swap(0, 1);
            }
        }
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
        let last = self.buffers.outputs.last().expect("a chain has a layer");
        let count = last.len().checked_div(self.max_places).unwrap_or(0);
        &last[..self.places * count]
    }
}

//! A chain of convolutions along sequences.
//!
//! A batch is the places of all its sequences, one below the other, `[places, channels]`, and where each sequence
//! ends; lengths may differ. With width w and dilation d, the filters of a padded layer read the places t − d (w −
//! 1)/2 … t + d (w − 1)/2 for place t of the output; beyond the ends of its own sequence they read zeros, so that the
//! output has as many places as the input. Those of another layer, with stride s, read the places s t, s t + d, …, s
//! t + d (w − 1), all of them within the sequence. Hidden layers are rectified, the last one is not unless it is told
//! to be. Parameters are stored layer by layer: the weights `[w · channels, count]`, place after place, then the
//! biases.
//!
//! ```
//! use offnominal_core::Rng;
//! use offnominal_nets::{Init, SequenceLayer, SequenceNet};
//!
//! let wide = SequenceLayer::padded(5, 2, 8);
//! let net = SequenceNet::new(3, &[wide, SequenceLayer::padded(1, 1, 1)]);
//! let mut params = vec![0.0; net.n_params()];
//! net.init(&mut params, Init::Uniform, &mut Rng::new(1));
//! let mut work = net.workspace(20);
//! // Two sequences, of 13 and of 7 places.
//! assert_eq!(net.forward(&params, &[0.1; 3 * 20], &[13, 20], &mut work).len(), 20);
//! ```

use crate::filters::{Buffers, Layers, Pass, has_layers};
use crate::{Activation, Init};
use offnominal_core::Rng;
use std::ops::Range;

/// A layer of filters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SequenceLayer {
    /// Places that a filter reads; odd in a padded layer, so that one is in the middle.
    pub width: usize,
    /// Places from one that is read to the next.
    pub dilation: usize,
    /// Places of the input from one place of the output to the next; 1 in a padded layer.
    pub stride: usize,
    /// Number of filters.
    pub count: usize,
    /// Whether zeros beyond the ends of a sequence are read, so that the number of places stays.
    pub padded: bool,
}

/// The shape of a chain of convolutions along sequences. Parameters are passed to each call.
#[derive(Debug, Clone, PartialEq)]
pub struct SequenceNet {
    channels: usize,
    filters: Vec<SequenceLayer>,
    layers: Layers,
    output: Activation,
}

has_layers!(SequenceNet);

/// Everything that passing batches of up to a given number of places through the chain writes to.
#[derive(Debug, Clone)]
pub struct SequenceWorkspace {
    max_places: usize,
    /// Where the sequences ended in the last forward pass: in the input, and in the output of each layer.
    ends: Vec<Vec<usize>>,
    buffers: Buffers,
}

impl SequenceNet {
    /// Layers on sequences with so many channels.
    ///
    /// # Panics
    /// If there is no layer or no channel, or a layer has no filters, no dilation, no stride, or is padded with an
    /// even width or a stride.
    pub fn new(channels: usize, layers: &[SequenceLayer]) -> SequenceNet {
        assert!(
            channels > 0 && !layers.is_empty() && layers.iter().all(SequenceLayer::is_sound),
            "{channels}: {layers:?}"
        );
        let inputs = std::iter::once(channels).chain(layers.iter().map(|l| l.count));
        let shapes = layers.iter().zip(inputs).map(|(l, input)| [l.width * input, l.count]).collect();
        let (filters, output) = (layers.to_vec(), Activation::Identity);
        SequenceNet { channels, filters, layers: Layers(shapes), output }
    }

    /// The same layers, the last of them rectified too.
    #[must_use]
    pub fn rectified(self) -> SequenceNet {
        SequenceNet { output: Activation::Relu, ..self }
    }

    /// Numbers at a place of the input.
    pub fn channels(&self) -> usize {
        self.channels
    }

    /// The layers.
    pub fn layers(&self) -> &[SequenceLayer] {
        &self.filters
    }

    /// Numbers at a place of the output.
    pub fn outputs(&self) -> usize {
        self.filters[self.filters.len() - 1].count
    }

    /// Numbers at a place of a layer's input.
    fn inputs(&self, layer: usize) -> usize {
        self.layers.0[layer][0] / self.filters[layer].width
    }

    /// Buffers for batches of up to so many places.
    pub fn workspace(&self, max_places: usize) -> SequenceWorkspace {
        let buffers = Buffers::new(&self.layers, &vec![max_places; self.layers.len()]);
        SequenceWorkspace { max_places, ends: vec![vec![]; self.layers.len() + 1], buffers }
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
        work.place(&self.filters, ends);
        let SequenceWorkspace { ends, buffers, .. } = work;
        let pass = |layer: usize| Pass {
            places: ends[layer + 1].last().copied().unwrap_or(0),
            activation: if layer + 1 == self.layers.len() { self.output } else { Activation::Relu },
        };
        let passes = (0..self.layers.len()).map(pass);
        buffers.forward(&self.layers, params, passes, |layer, before, patches| {
            let (x, width) = (before.unwrap_or(x), self.inputs(layer));
            self.filters[layer].each_piece(&ends[layer..], width, |at, piece| {
                let piece = &mut patches[piece..][..width];
                match at {
                    Some(at) => copy(&x[at..][..width], piece),
                    None => piece.fill(0.0),
                }
            });
        });
        buffers.output()
    }

    /// Derivatives of a loss by the parameters, overwritten, given those by the output of the last forward pass; and
    /// those by its input, if they are asked for.
    ///
    /// # Panics
    /// If the shapes do not fit the last forward pass.
    pub fn backward(
        &self,
        params: &[f32],
        work: &mut SequenceWorkspace,
        d_out: &[f32],
        grad: &mut [f32],
        d_input: Option<&mut [f32]>,
    ) {
        let SequenceWorkspace { ends, buffers, .. } = work;
        assert_eq!((d_out.len(), grad.len()), (buffers.output().len(), self.n_params()), "shapes");
        buffers.backward(&self.layers, params, d_out, grad, d_input, |layer, patches, x| {
            let width = self.inputs(layer);
            x[..ends[layer].last().map_or(0, |places| places * width)].fill(0.0);
            self.filters[layer].each_piece(&ends[layer..], width, |at, piece| {
                let Some(at) = at else { return };
                x[at..][..width].iter_mut().zip(&patches[piece..]).for_each(|(sum, p)| *sum += p);
            });
        });
    }
}

impl SequenceLayer {
    /// Filters whose output has as many places as their input.
    pub const fn padded(width: usize, dilation: usize, count: usize) -> SequenceLayer {
        SequenceLayer { width, dilation, stride: 1, count, padded: true }
    }

    fn is_sound(&self) -> bool {
        let is_padding = self.width % 2 == 1 && self.stride == 1;
        self.width > 0
            && self.dilation > 0
            && self.stride > 0
            && self.count > 0
            && (is_padding || !self.padded)
    }

    /// Places of the output for so many of the input.
    pub fn places(&self, inputs: usize) -> usize {
        let reach = (self.width - 1) * self.dilation;
        match inputs.checked_sub(reach + 1) {
            _ if self.padded => inputs,
            Some(rest) => rest / self.stride + 1,
            None => 0,
        }
    }

    /// Calls `visit` for each piece of each patch: where the place that it holds begins in the input, unless it lies
    /// beyond an end, and where the piece begins in the patches. The first two of `ends` are those of the input and
    /// of the output.
    fn each_piece(&self, ends: &[Vec<usize>], width: usize, mut visit: impl FnMut(Option<usize>, usize)) {
        let before = if self.padded { self.dilation * (self.width / 2) } else { 0 };
        let mut piece = 0;
        for (input, output) in sequences(&ends[0]).zip(sequences(&ends[1])) {
            for place in 0..output.len() {
                for tap in 0..self.width {
                    let at = (place * self.stride + tap * self.dilation).checked_sub(before);
                    let at = at.filter(|&at| at < input.len()).map(|at| (input.start + at) * width);
                    visit(at, piece);
                    piece += width;
                }
            }
        }
    }
}

/// Copies a piece; at the usual widths, as a copy of known length is two instructions and any other a call.
#[inline(always)]
fn copy(from: &[f32], to: &mut [f32]) {
    fn fixed<const W: usize>(from: &[f32], to: &mut [f32]) {
        to.as_chunks_mut::<W>().0[0] = from.as_chunks::<W>().0[0];
    }
    match to.len() {
        4 => fixed::<4>(from, to),
        8 => fixed::<8>(from, to),
        16 => fixed::<16>(from, to),
        _ => to.copy_from_slice(from),
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
        self.buffers.output()
    }

    /// Sets where the sequences end in the input and in the output of each layer.
    fn place(&mut self, filters: &[SequenceLayer], ends: &[usize]) {
        self.ends[0].clear();
        self.ends[0].extend_from_slice(ends);
        for (layer, filter) in filters.iter().enumerate() {
            let (before, after) = self.ends.split_at_mut(layer + 1);
            let mut end = 0;
            after[0].clear();
            after[0].extend(sequences(&before[layer]).map(|input| {
                end += filter.places(input.len());
                end
            }));
        }
    }
}

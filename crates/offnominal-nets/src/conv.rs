//! A chain of rectified convolutions, as matrix products over patches (im2col), whose output a dense network reads.
//!
//! The input is planar, `[planes, rows, columns]` for each picture, as cameras and frame stacks give it, in bytes or in
//! floats; it is multiplied by a factor on the way in. Every result is interleaved, `[rows, columns, filters]`, because
//! that is what the matrix product leaves; the last one is the row of features. Parameters are stored layer by layer:
//! the weights `[patch, filters]`, then the biases. A patch has the order of its input:
//! (plane, row, column) at the first layer, (row, column, plane) at the others. There is no padding.
//!
//! ```
//! use offnominal_core::Rng;
//! use offnominal_nets::{Activation, ConvNet, Init, Mlp};
//!
//! let (eye, head) = (ConvNet::nature(4, 84, 84), Mlp::new(&[3136, 512, 6], Activation::Relu));
//! let mut params = vec![0.0; eye.n_params()];
//! eye.init(&mut params, Init::Uniform, &mut Rng::new(1));
//! let mut work = eye.workspace(1);
//! let features = eye.forward(&params, &[128_u8; 4 * 84 * 84], &mut work);
//! assert_eq!(features.len(), head.inputs());
//! ```

use crate::filters::{Buffers, Layers};
use crate::{Activation, Init};
use offnominal_core::Rng;
use std::ops::Range;

/// A layer of square filters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Filters {
    /// Rows and columns that a filter covers.
    pub kernel: usize,
    /// Pixels between neighbouring places of a filter.
    pub stride: usize,
    /// Number of filters.
    pub count: usize,
}

/// The shape of a chain of convolutions. Parameters are passed to each call.
#[derive(Debug, Clone, PartialEq)]
pub struct ConvNet {
    stages: Vec<Stage>,
    layers: Layers,
    scale: f32,
}

/// A layer with the pictures before and after it.
#[derive(Debug, Clone, PartialEq)]
struct Stage {
    filters: Filters,
    input: Shape,
    output: Shape,
}

/// A picture.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Shape {
    planes: usize,
    rows: usize,
    columns: usize,
    /// Whether the planes of a pixel lie side by side.
    interleaved: bool,
}

/// A number of a picture.
pub trait Pixel: Copy {
    /// As a float.
    fn value(self) -> f32;
}

impl Pixel for f32 {
    fn value(self) -> f32 {
        self
    }
}

impl Pixel for u8 {
    fn value(self) -> f32 {
        f32::from(self)
    }
}

impl Shape {
    fn width(self) -> usize {
        self.planes * self.rows * self.columns
    }
}

impl Stage {
    /// The layer on a picture, if it fits.
    fn new(input: Shape, filters: Filters) -> Option<Stage> {
        let Filters { kernel, stride, count } = filters;
        let fits = kernel > 0 && stride > 0 && count > 0 && kernel <= input.rows.min(input.columns);
        let places = |side: usize| (side - kernel) / stride + 1;
        fits.then(|| {
            let (rows, columns) = (places(input.rows), places(input.columns));
            Stage { filters, input, output: Shape { planes: count, rows, columns, interleaved: true } }
        })
    }

    /// Numbers under a filter.
    fn patch(&self) -> usize {
        self.filters.kernel * self.filters.kernel * self.input.planes
    }

    /// Places of a filter.
    fn places(&self) -> usize {
        self.output.rows * self.output.columns
    }

    /// Length of the pieces of a patch that lie side by side in the picture.
    fn run(&self) -> usize {
        if self.input.interleaved { self.filters.kernel * self.input.planes } else { self.filters.kernel }
    }

    /// Where the pieces of the patch at a place begin in the picture.
    fn starts(&self, place: usize) -> impl Iterator<Item = usize> + use<> {
        let (Filters { kernel, stride, .. }, input) = (self.filters, self.input);
        let (y, x) = (place / self.output.columns * stride, place % self.output.columns * stride);
        let (planes, pixel) = if input.interleaved { (1, input.planes) } else { (input.planes, 1) };
        let plane = input.rows * input.columns;
        (0..planes * kernel).map(move |piece| {
            let row = (y + piece % kernel) * input.columns + x;
            piece / kernel * plane + row * pixel
        })
    }

    /// Collects the patches of a picture.
    fn gather<P: Pixel>(&self, picture: &[P], scale: f32, patches: &mut [f32]) {
        let run = self.run();
        for (place, patch) in patches.chunks_exact_mut(self.patch()).enumerate() {
            for (piece, start) in patch.chunks_exact_mut(run).zip(self.starts(place)) {
                piece.iter_mut().zip(&picture[start..]).for_each(|(out, p)| *out = scale * p.value());
            }
        }
    }

    /// Collects the patches of pictures.
    fn gather_all<P: Pixel>(&self, pictures: &[P], scale: f32, patches: &mut [f32]) {
        let rows = patches.chunks_exact_mut(self.places() * self.patch());
        for (picture, patches) in pictures.chunks_exact(self.input.width()).zip(rows) {
            self.gather(picture, scale, patches);
        }
    }

    /// Makes pictures of the sums of what came from each pixel.
    fn scatter_all(&self, patches: &[f32], pictures: &mut [f32]) {
        pictures.fill(0.0);
        let rows = patches.chunks_exact(self.places() * self.patch());
        for (patches, picture) in rows.zip(pictures.chunks_exact_mut(self.input.width())) {
            self.scatter(patches, picture);
        }
    }

    /// Adds numbers of the patches to where they came from.
    fn scatter(&self, patches: &[f32], picture: &mut [f32]) {
        let run = self.run();
        for (place, patch) in patches.chunks_exact(self.patch()).enumerate() {
            for (piece, start) in patch.chunks_exact(run).zip(self.starts(place)) {
                picture[start..][..run].iter_mut().zip(piece).for_each(|(sum, p)| *sum += p);
            }
        }
    }
}

/// Everything that passing batches of up to a given size through the chain writes to.
#[derive(Debug, Clone)]
pub struct ConvWorkspace {
    max_batch: usize,
    batch: usize,
    buffers: Buffers,
}

impl ConvNet {
    /// Layers on pictures of the given planes, rows and columns; bytes are brought to [0, 1].
    ///
    /// # Panics
    /// If there is no layer, or a filter does not fit on its picture.
    pub fn new(planes: usize, rows: usize, columns: usize, layers: &[Filters]) -> ConvNet {
        let net = ConvNet::fitting(planes, rows, columns, layers);
        net.unwrap_or_else(|| panic!("{layers:?} on a picture of {rows} by {columns}"))
    }

    /// As [`ConvNet::new`], but nothing where that panics.
    pub fn fitting(planes: usize, rows: usize, columns: usize, layers: &[Filters]) -> Option<ConvNet> {
        let mut input = Shape { planes, rows, columns, interleaved: false };
        let mut stages = vec![];
        for &filters in layers {
            let stage = Stage::new(input, filters)?;
            input = stage.output;
            stages.push(stage);
        }
        let layers = Layers(stages.iter().map(|s| [s.patch(), s.filters.count]).collect());
        (!stages.is_empty()).then_some(ConvNet { stages, layers, scale: 1.0 / 255.0 })
    }

    /// The filters of each layer.
    pub fn filters(&self) -> impl Iterator<Item = Filters> {
        self.stages.iter().map(|stage| stage.filters)
    }

    /// The layers of Mnih et al. (Nature 2015): 8×8/4 × 32, 4×4/2 × 64, 3×3/1 × 64.
    ///
    /// # Panics
    /// If the pictures are smaller than 36 × 36.
    pub fn nature(planes: usize, rows: usize, columns: usize) -> ConvNet {
        let layer = |kernel, stride, count| Filters { kernel, stride, count };
        ConvNet::new(planes, rows, columns, &[layer(8, 4, 32), layer(4, 2, 64), layer(3, 1, 64)])
    }

    /// The same layers with another factor on the input; 1/255 if not given.
    #[must_use]
    pub fn with_scale(self, scale: f32) -> ConvNet {
        ConvNet { scale, ..self }
    }

    /// Numbers in a picture.
    pub fn inputs(&self) -> usize {
        self.stages[0].input.width()
    }

    /// Numbers in a row of features.
    pub fn outputs(&self) -> usize {
        self.stages[self.stages.len() - 1].output.width()
    }

    /// Number of layers.
    pub fn n_layers(&self) -> usize {
        self.stages.len()
    }

    /// Number of parameters.
    pub fn n_params(&self) -> usize {
        self.layers.n_params()
    }

    /// Shape `[patch, filters]` of the weights of a layer.
    pub fn weight_shape(&self, layer: usize) -> [usize; 2] {
        self.layers.0[layer]
    }

    /// Where the weights of a layer lie in the parameters.
    pub fn weights(&self, layer: usize) -> Range<usize> {
        self.layers.weights(layer)
    }

    /// Where the biases of a layer lie in the parameters.
    pub fn biases(&self, layer: usize) -> Range<usize> {
        self.layers.biases(layer)
    }

    /// Draws the first parameters.
    pub fn init(&self, params: &mut [f32], init: Init, rng: &mut Rng) {
        self.layers.init(params, init, rng);
    }

    /// Buffers for batches of up to `max_batch` pictures.
    pub fn workspace(&self, max_batch: usize) -> ConvWorkspace {
        let places: Vec<usize> = self.stages.iter().map(|s| max_batch * s.places()).collect();
        ConvWorkspace { max_batch, batch: 0, buffers: Buffers::new(&self.layers, &places) }
    }

    /// Passes pictures through the layers; returns their features, `[n, outputs]`.
    ///
    /// # Panics
    /// If the shapes do not fit, or the batch is larger than the workspace.
    pub fn forward<'w, P: Pixel>(
        &self,
        params: &[f32],
        pictures: &[P],
        work: &'w mut ConvWorkspace,
    ) -> &'w [f32] {
        let batch = pictures.len() / self.inputs();
        assert_eq!((params.len(), pictures.len()), (self.n_params(), batch * self.inputs()), "shapes");
        assert!(0 < batch && batch <= work.max_batch, "{batch} pictures, workspace for {}", work.max_batch);
        work.batch = batch;
        for (layer, stage) in self.stages.iter().enumerate() {
            let Buffers { patches, outputs, .. } = &mut work.buffers;
            if layer == 0 {
                stage.gather_all(pictures, self.scale, &mut patches[0]);
            } else {
                stage.gather_all(
                    &outputs[layer - 1][..batch * stage.input.width()],
                    1.0,
                    &mut patches[layer],
                );
            }
            work.buffers.product(&self.layers, layer, batch * stage.places(), params, Activation::Relu);
        }
        work.output()
    }

    /// Derivatives of a loss by the parameters, overwritten, given those by the features of the last forward pass.
    ///
    /// # Panics
    /// If the shapes do not fit the last forward pass.
    pub fn backward(&self, params: &[f32], work: &mut ConvWorkspace, d_out: &[f32], grad: &mut [f32]) {
        assert_eq!((d_out.len(), grad.len()), (work.batch * self.outputs(), self.n_params()), "shapes");
        let batch = work.batch;
        work.buffers.delta[0][..d_out.len()].copy_from_slice(d_out);
        for (layer, stage) in self.stages.iter().enumerate().rev() {
            let n = batch * stage.places();
            work.buffers.params_gradient(&self.layers, layer, n, Activation::Relu, grad);
            if layer > 0 {
                let (d_patches, next) = work.buffers.patches_gradient(&self.layers, layer, n, params);
                stage.scatter_all(d_patches, &mut next[..batch * stage.input.width()]);
                work.buffers.delta.swap(0, 1);
            }
        }
    }
}

impl ConvWorkspace {
    /// The features of the last forward pass.
    pub fn output(&self) -> &[f32] {
        let last = self.buffers.outputs.last().expect("a chain has a layer");
        &last[..last.len() / self.max_batch * self.batch]
    }
}

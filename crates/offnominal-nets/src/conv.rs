//! A chain of rectified convolutions, as matrix products over patches (im2col), whose output a dense network reads.
//!
//! The input is planar, `[planes, rows, columns]` for each image, as cameras and frame stacks give it; it is
//! multiplied by a factor on the way in. Every result is interleaved, `[rows, columns, filters]`, because
//! that is what the matrix product leaves; the last one is the row of features. Parameters are stored layer by layer:
//! the weights `[patch, filters]`, then the biases. A patch has the order of its input:
//! (plane, row, column) at the first layer, (row, column, plane) at the others. There is no padding.
//!
//! ```
//! use offnominal_core::Rng;
//! use offnominal_nets::{Activation, ConvNet, Filters, Init, Mlp};
//!
//! let filters = [[8, 4, 32], [4, 2, 64], [3, 1, 64]];
//! let filters = filters.map(|[kernel, stride, count]| Filters { kernel, stride, count });
//! let (encoder, head) = (ConvNet::new(4, 84, 84, &filters), Mlp::new(&[3136, 512, 6], Activation::Relu));
//! let mut params = vec![0.0; encoder.n_params()];
//! encoder.init(&mut params, Init::Uniform, &mut Rng::new(1));
//! let mut work = encoder.workspace(1);
//! let features = encoder.forward(&params, &[128.0; 4 * 84 * 84], &mut work);
//! assert_eq!(features.len(), head.inputs());
//! ```

use crate::filters::{Buffers, Layers, Pass, has_layers};
use crate::{Activation, Init};
use offnominal_core::Rng;

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

has_layers!(ConvNet);

/// A layer with the images before and after it.
#[derive(Debug, Clone, PartialEq)]
struct Stage {
    filters: Filters,
    input: Shape,
    output: Shape,
}

/// An image.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Shape {
    planes: usize,
    rows: usize,
    columns: usize,
    /// Whether the planes of a pixel lie side by side.
    interleaved: bool,
}

impl Shape {
    fn width(self) -> usize {
        self.planes * self.rows * self.columns
    }
}

impl Stage {
    /// The layer on an image, if it fits.
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

    /// Length of the pieces of a patch that lie side by side in the image.
    fn run(&self) -> usize {
        if self.input.interleaved { self.filters.kernel * self.input.planes } else { self.filters.kernel }
    }

    /// Where the pieces of the patch at a place begin in the image.
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

    /// Collects the patches of images.
    fn gather(&self, images: &[f32], scale: f32, patches: &mut [f32]) {
        let rows = patches.chunks_exact_mut(self.places() * self.patch());
        for (image, patches) in images.chunks_exact(self.input.width()).zip(rows) {
            for (place, patch) in patches.chunks_exact_mut(self.patch()).enumerate() {
                for (piece, start) in patch.chunks_exact_mut(self.run()).zip(self.starts(place)) {
                    piece.iter_mut().zip(&image[start..]).for_each(|(out, p)| *out = scale * p);
                }
            }
        }
    }

    /// Makes images of the sums of what came from each pixel.
    fn scatter(&self, patches: &[f32], images: &mut [f32]) {
        let (run, rows) = (self.run(), patches.chunks_exact(self.places() * self.patch()));
        for (patches, image) in rows.zip(images.chunks_exact_mut(self.input.width())) {
            image.fill(0.0);
            for (place, patch) in patches.chunks_exact(self.patch()).enumerate() {
                for (piece, start) in patch.chunks_exact(run).zip(self.starts(place)) {
                    image[start..][..run].iter_mut().zip(piece).for_each(|(sum, p)| *sum += p);
                }
            }
        }
    }
}

/// Everything that passing batches of up to a given size through the chain writes to.
#[derive(Debug, Clone)]
pub struct ConvWorkspace {
    max_batch: usize,
    buffers: Buffers,
}

impl ConvNet {
    /// Layers on images of the given planes, rows and columns; bytes are brought to [0, 1].
    ///
    /// # Panics
    /// If there is no layer, or a filter does not fit on its image.
    pub fn new(planes: usize, rows: usize, columns: usize, layers: &[Filters]) -> ConvNet {
        let net = ConvNet::fitting(planes, rows, columns, layers);
        net.unwrap_or_else(|| panic!("{layers:?} on an image of {rows} by {columns}"))
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

    /// The same layers with another factor on the input; 1/255 if not given.
    #[must_use]
    pub fn with_scale(self, scale: f32) -> ConvNet {
        ConvNet { scale, ..self }
    }

    /// Numbers in an image.
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

    /// Shape `[patch, filters]` of the weights of a layer.
    pub fn weight_shape(&self, layer: usize) -> [usize; 2] {
        self.layers.0[layer]
    }

    /// Buffers for batches of up to `max_batch` images.
    pub fn workspace(&self, max_batch: usize) -> ConvWorkspace {
        let places: Vec<usize> = self.stages.iter().map(|s| max_batch * s.places()).collect();
        ConvWorkspace { max_batch, buffers: Buffers::new(&self.layers, &places) }
    }

    /// Passes images through the layers; returns their features, `[n, outputs]`.
    ///
    /// # Panics
    /// If the shapes do not fit, or the batch is larger than the workspace.
    pub fn forward<'w>(&self, params: &[f32], images: &[f32], work: &'w mut ConvWorkspace) -> &'w [f32] {
        let batch = images.len() / self.inputs();
        assert_eq!((params.len(), images.len()), (self.n_params(), batch * self.inputs()), "shapes");
        assert!(0 < batch && batch <= work.max_batch, "{batch} images, workspace for {}", work.max_batch);
        let pass = |stage: &Stage| Pass { places: batch * stage.places(), activation: Activation::Relu };
        let passes = self.stages.iter().map(pass);
        work.buffers.forward(&self.layers, params, passes, |layer, before, patches| match before {
            None => self.stages[0].gather(images, self.scale, patches),
            Some(before) => self.stages[layer].gather(before, 1.0, patches),
        });
        work.output()
    }

    /// Derivatives of a loss by the parameters, overwritten, given those by the features of the last forward pass.
    ///
    /// # Panics
    /// If the shapes do not fit the last forward pass.
    pub fn backward(&self, params: &[f32], work: &mut ConvWorkspace, d_out: &[f32], grad: &mut [f32]) {
        assert_eq!((d_out.len(), grad.len()), (work.output().len(), self.n_params()), "shapes");
        let scatter =
            |layer: usize, patches: &[f32], before: &mut [f32]| self.stages[layer].scatter(patches, before);
        work.buffers.backward(&self.layers, params, d_out, grad, None, scatter);
    }
}

impl ConvWorkspace {
    /// The features of the last forward pass.
    pub fn output(&self) -> &[f32] {
        self.buffers.output()
    }
}

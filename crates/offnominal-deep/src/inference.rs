//! Small networks without automatic differentiation: the layers of a design as a graph of `offnominal-nets`.
//!
//! Names of tensors are those under which [`Segmenter`](crate::Segmenter) declares them. Normalisations are folded into
//! the convolutions before them, so logits differ from those of the training by rounding.

use crate::design::{Architecture, Design, Modification, OutputStride, Preset};
use crate::file::FileError;
use crate::segments::{Segmentation, Segments, standardised};
use offnominal_core::Rng;
use offnominal_nets::onnx::{Builder, Graph, Id, OnnxError, Stride, Use};
use offnominal_nets::{TensorError, Tensors};
use std::sync::{Mutex, PoisonError};

const EPSILON: f64 = 1e-5;

/// Sizes of the pyramid's regions, in bins a side.
const BINS: [usize; 4] = [1, 2, 3, 6];

/// Units are dropped after so many of the coarse convolutions.
const DROPPED: usize = 4;

/// A network that can be asked, but not trained.
#[derive(Debug)]
pub struct Inference {
    design: Design,
    tensors: Tensors,
    graph: Graph,
    /// Copies that nobody uses, with their memory.
    idle: Mutex<Vec<Graph>>,
}

impl Inference {
    /// Whether a design is one of those that are computed here.
    pub fn covers(design: &Design) -> bool {
        design.preset == Preset::Small
    }

    /// From the file of a network, if its design is covered.
    ///
    /// # Errors
    /// If there is no design, or a tensor is missing or has another shape.
    pub fn from_tensors(tensors: &Tensors) -> Result<Option<Inference>, FileError> {
        let design = Design::of(tensors)?;
        let net = Inference::covers(&design).then(|| Inference::new(&design, tensors));
        Ok(net.transpose()?)
    }

    /// A design with its tensors.
    ///
    /// # Errors
    /// If a tensor is missing or has another shape.
    pub fn new(design: &Design, tensors: &Tensors) -> Result<Inference, TensorError> {
        let (graph, image) = Builder::new(&[1, 3, 0, 0]);
        let mut layers = Layers { graph, tensors, kept: Tensors::default(), design };
        let outputs = layers.network(image)?;
        let mut kept = layers.kept;
        design.describe(&mut kept);
        let graph = layers.graph.build(&outputs, Use::Image);
        Ok(Inference { design: design.clone(), tensors: kept, graph, idle: Mutex::default() })
    }

    fn run(&self, graph: &mut Graph, x: &[f32], shape: [usize; 2]) -> Result<(), OnnxError> {
        graph.reshape(&[1, 3, shape[0], shape[1]])?;
        graph.run(x).map(drop)
    }
}

impl Segments for Inference {
    fn design(&self) -> &Design {
        &self.design
    }

    fn to_tensors(&self) -> Tensors {
        self.tensors.clone()
    }

    fn segment(
        &self,
        rgb: &[u8],
        width: usize,
        passes: usize,
        rng: &mut Rng,
    ) -> Result<Segmentation, OnnxError> {
        let idle = || self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        let mut graph = idle().pop().unwrap_or_else(|| self.graph.clone());
        let (x, shape) = (standardised(rgb), [rgb.len() / 3 / width, width]);
        graph.draw_from(None);
        self.run(&mut graph, &x, shape)?;
        let features = graph.output(1);
        let grid = [features.shape[1], features.shape[2], features.shape[3]];
        let features = features.data.clone();
        let sigmoid = |&z: &f32| 1.0 / (1.0 + (-z).exp());
        let confidence = (graph.n_outputs() > 2).then(|| graph.output(2).data.iter().map(sigmoid).collect());
        let mut logits = Vec::new();
        if passes == 1 {
            logits.clone_from(&graph.output(0).data);
        } else {
            graph.draw_from(Some(rng.clone()));
            for _ in 0..passes {
                self.run(&mut graph, &x, shape)?;
                logits.extend_from_slice(&graph.output(0).data);
            }
        }
        idle().push(graph);
        Ok(Segmentation { logits, features, grid, confidence })
    }
}

/// Layers that are put together.
struct Layers<'a> {
    graph: Builder,
    tensors: &'a Tensors,
    /// Those that were read.
    kept: Tensors,
    design: &'a Design,
}

impl Layers<'_> {
    fn read(&mut self, name: &str, shape: &[usize]) -> Result<Vec<f32>, TensorError> {
        let found = self.tensors.expect(name, shape)?.to_vec();
        self.kept.insert(name, shape, &found);
        Ok(found)
    }

    /// A convolution `[in, out]` with the normalisation after it, without what is negative if it is rectified.
    fn layer(
        &mut self,
        x: Id,
        [conv, norm]: [&str; 2],
        [from, to]: [usize; 2],
        size: usize,
        stride: Stride,
        is_rectified: bool,
    ) -> Result<Id, TensorError> {
        let shape = [to, from, size, size];
        let mut weights = self.read(&format!("{conv}.weight"), &shape)?;
        let mut of = |what: &str| self.read(&format!("{norm}.{what}"), &[to]);
        let (scale, mut shift) = (of("weight")?, of("bias")?);
        let (mean, variance) = (of("running_mean")?, of("running_var")?);
        for (k, weights) in weights.chunks_exact_mut(from * size * size).enumerate() {
            let factor = f64::from(scale[k]) / (f64::from(variance[k]) + EPSILON).sqrt();
            weights.iter_mut().for_each(|w| *w = (f64::from(*w) * factor) as f32);
            shift[k] = (f64::from(shift[k]) - f64::from(mean[k]) * factor) as f32;
        }
        Ok(self.graph.convolution(x, shape, &weights, Some(&shift), stride, is_rectified))
    }

    /// The same under one name, rectified.
    fn named(
        &mut self,
        x: Id,
        name: &str,
        channels: [usize; 2],
        size: usize,
        stride: Stride,
    ) -> Result<Id, TensorError> {
        let names = [format!("{name}.conv"), format!("{name}.norm")];
        self.layer(x, [&names[0], &names[1]], channels, size, stride, true)
    }

    /// The positive part of what a layer adds to its input.
    fn residual(&mut self, x: Id, name: &str, width: usize, dilation: usize) -> Result<Id, TensorError> {
        let names = [format!("{name}.conv"), format!("{name}.norm")];
        let stride = Stride { dilation, ..Stride::default() };
        let more = self.layer(x, [&names[0], &names[1]], [width; 2], 3, stride, false)?;
        Ok(self.graph.rectified_sum(more, x))
    }

    /// A classifier with a bias, in the size of an image.
    fn classifier(&mut self, x: Id, name: &str, channels: [usize; 2], like: Id) -> Result<Id, TensorError> {
        let shape = [channels[1], channels[0], 1, 1];
        let weights = self.read(&format!("{name}.weight"), &shape)?;
        let bias = self.read(&format!("{name}.bias"), &[channels[1]])?;
        let logits = self.graph.convolution(x, shape, &weights, Some(&bias), Stride::default(), false);
        Ok(self.graph.resized(logits, like))
    }

    /// Logits, features, and the confidence if there is one.
    fn network(&mut self, image: Id) -> Result<Vec<Id>, TensorError> {
        let [low, high] = self.trunk(image)?;
        let mut features = match self.design.network {
            Architecture::Pspnet => self.pyramid(high)?,
            Architecture::Deeplab => self.decoder(low, high)?,
            Architecture::Deeplabv3 => {
                let x = self.scales(high, "classifier.0")?;
                self.layer(x, ["classifier.1", "classifier.2"], [64; 2], 3, Stride::default(), true)?
            }
        };
        let mut width = 64;
        if self.design.modification == Modification::DimReduce {
            features = self.named(features, "head.reduce", [width, 32], 3, Stride::default())?;
            width = 32;
        }
        let is_plain = self.design.network == Architecture::Deeplabv3;
        let name = if is_plain { "classifier.4" } else { "head.classify" };
        let logits = self.classifier(features, name, [width, self.design.classes.len()], image)?;
        let mut outputs = vec![logits, features];
        if self.design.modification == Modification::Confidence {
            outputs.push(self.classifier(features, "head.confidence", [width, 1], image)?);
        }
        Ok(outputs)
    }

    /// The fine and the coarse map.
    fn trunk(&mut self, image: Id) -> Result<[Id; 2], TensorError> {
        let (plain, halved) = (Stride::default(), Stride { stride: 2, ..Stride::default() });
        let to_half = if self.design.output_stride == OutputStride::Four { plain } else { halved };
        let mut x = self.named(image, "trunk.stem.0", [3, 16], 3, halved)?;
        x = self.named(x, "trunk.stem.1", [16; 2], 3, plain)?;
        let mut low = self.named(x, "trunk.fine.0", [16, 32], 3, to_half)?;
        for i in 1..=3 {
            low = self.residual(low, &format!("trunk.fine.{i}"), 32, 1)?;
        }
        let mut high = self.named(low, "trunk.coarse.0", [32, 64], 3, halved)?;
        for (i, dilation) in self.design.dilated([1, 1, 2, 2, 4, 4, 1]).into_iter().enumerate() {
            high = self.residual(high, &format!("trunk.coarse.{}", i + 1), 64, dilation)?;
            if let Some(probability) = self.design.dropout().filter(|_| i < DROPPED) {
                high = self.graph.dropped(high, probability);
            }
        }
        Ok([low, high])
    }

    fn pyramid(&mut self, high: Id) -> Result<Id, TensorError> {
        let mut all = vec![high];
        for bins in BINS {
            let region = self.graph.bins(high, bins);
            let name = format!("head.level.{bins}");
            let region = self.named(region, &name, [64, 16], 1, Stride::default())?;
            all.push(self.graph.resized(region, high));
        }
        let all = self.graph.joined(all);
        self.named(all, "head.merge", [64 + 16 * BINS.len(), 64], 3, Stride::default())
    }

    /// Convolutions of several dilations beside the mean of the image.
    fn scales(&mut self, high: Id, name: &str) -> Result<Id, TensorError> {
        let branch = |layers: &mut Self, x: Id, place: &str, first: usize, channels, size, dilation| {
            let names = [format!("{name}.{place}.{first}"), format!("{name}.{place}.{}", first + 1)];
            let stride = Stride { dilation, ..Stride::default() };
            layers.layer(x, [&names[0], &names[1]], channels, size, stride, true)
        };
        let mut all = vec![branch(self, high, "convs.0", 0, [64; 2], 1, 1)?];
        for (i, rate) in self.design.dilated([3, 6, 9]).into_iter().enumerate() {
            all.push(branch(self, high, &format!("convs.{}", i + 1), 0, [64; 2], 3, rate)?);
        }
        let image = self.graph.bins(high, 1);
        let image = branch(self, image, "convs.4", 1, [64; 2], 1, 1)?;
        all.push(self.graph.resized(image, high));
        let (n, all) = (all.len(), self.graph.joined(all));
        branch(self, all, "project", 0, [n * 64, 64], 1, 1)
    }

    fn decoder(&mut self, low: Id, high: Id) -> Result<Id, TensorError> {
        let coarse = self.scales(high, "head.aspp")?;
        let coarse = self.graph.resized(coarse, low);
        let fine = self.named(low, "head.fine", [32, 24], 1, Stride::default())?;
        let x = self.graph.joined(vec![coarse, fine]);
        let x = self.named(x, "head.refine.0", [64 + 24, 64], 3, Stride::default())?;
        self.named(x, "head.refine.1", [64; 2], 3, Stride::default())
    }
}

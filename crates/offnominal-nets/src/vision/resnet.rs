//! ResNet-18, as torchvision and timm have it.
//!
//! Patches are the places of the last convolution, 32 pixels apart; the whole image is their mean, as before the
//! classifier, which is not read. Images are brought to `side` × `side` by area averaging.
//!
//! Reference: He et al., CVPR 2016.

use super::convolution::{Border, Convolution, Map, Style};
use super::resize::Resize;
use super::{Backbone, Encoder, Features, Normal};
use crate::matmul::Pack;
use crate::{TensorError, Tensors};
use std::sync::Arc;

/// Filters of the four groups of blocks.
const WIDTHS: [usize; 4] = [64, 128, 256, 512];

/// A convolution of PyTorch with this stride, before a batch norm with PyTorch's default.
fn style(stride: usize) -> Style {
    Style { stride, border: Border::Even, epsilon: 1e-5 }
}

/// The network with its weights.
#[derive(Debug)]
pub struct ResNet18 {
    side: usize,
    first: Convolution,
    blocks: Vec<Block>,
}

#[derive(Debug)]
struct Block {
    convolutions: [Convolution; 2],
    /// What brings the input to the size of the output, where they differ.
    shortcut: Option<Convolution>,
}

impl ResNet18 {
    /// Reads a checkpoint.
    ///
    /// # Errors
    /// If a tensor is missing or has another shape.
    pub fn torchvision(from: &Tensors, side: usize) -> Result<ResNet18, TensorError> {
        let first = Convolution::read(from, ["conv1", "bn1"], [64, 3, 7], style(2))?;
        let (mut blocks, mut planes) = (Vec::new(), 64);
        for (group, &width) in WIDTHS.iter().enumerate() {
            for block in 0..2 {
                let stride = if group > 0 && block == 0 { 2 } else { 1 };
                blocks.push(Block::read(
                    from,
                    &format!("layer{}.{block}", group + 1),
                    [width, planes],
                    stride,
                )?);
                planes = width;
            }
        }
        Ok(ResNet18 { side, first, blocks })
    }

    fn map(&self, pixels: Vec<f32>, pack: &mut Pack) -> Map {
        let image = Map { height: self.side, width: self.side, planes: 3, values: pixels };
        let map = self.first.apply(&image, pack).rectified().pooled();
        self.blocks.iter().fold(map, |map, block| block.apply(&map, pack))
    }
}

impl Block {
    fn read(
        from: &Tensors,
        name: &str,
        [width, planes]: [usize; 2],
        stride: usize,
    ) -> Result<Block, TensorError> {
        let read = |conv: &str, norm: &str, shape, stride| {
            Convolution::read(
                from,
                [&format!("{name}.{conv}"), &format!("{name}.{norm}")],
                shape,
                style(stride),
            )
        };
        let differs = stride > 1 || width != planes;
        let shortcut = || read("downsample.0", "downsample.1", [width, planes, 1], stride);
        Ok(Block {
            convolutions: [
                read("conv1", "bn1", [width, planes, 3], stride)?,
                read("conv2", "bn2", [width, width, 3], 1)?,
            ],
            shortcut: differs.then(shortcut).transpose()?,
        })
    }

    fn apply(&self, map: &Map, pack: &mut Pack) -> Map {
        let inner = self.convolutions[0].apply(map, pack).rectified();
        let mut out = self.convolutions[1].apply(&inner, pack);
        let by = self.shortcut.as_ref().map(|s| s.apply(map, pack));
        let by = by.as_ref().unwrap_or(map);
        out.values.iter_mut().zip(&by.values).for_each(|(o, v)| *o = (*o + v).max(0.0));
        out
    }
}

impl Backbone for Arc<ResNet18> {
    fn at(&self, height: usize, width: usize) -> Box<dyn Encoder> {
        let resize = Resize::new((height, width), (self.side, self.side));
        Box::new(ResNetEncoder {
            net: self.clone(),
            resize,
            pack: Pack::default(),
            features: Features::default(),
        })
    }
}

#[derive(Clone)]
struct ResNetEncoder {
    net: Arc<ResNet18>,
    resize: Resize,
    pack: Pack,
    features: Features,
}

impl Encoder for ResNetEncoder {
    fn encode(&mut self, image: &[u8]) -> &Features {
        let pixels = Normal::IMAGENET.apply(self.resize.of(image));
        let map = self.net.map(pixels, &mut self.pack);
        let whole = map.means();
        let Map { height, width, planes, values } = map;
        self.features = Features { rows: height, columns: width, width: planes, patches: values, whole };
        &self.features
    }

    fn fork(&self) -> Box<dyn Encoder> {
        Box::new(self.clone())
    }
}

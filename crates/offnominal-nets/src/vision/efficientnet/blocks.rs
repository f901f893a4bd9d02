//! The inverted bottlenecks, and how many of which shape each network has.

use super::style;
use crate::vision::convolution::{Convolution, Map};
use crate::vision::depthwise::Depthwise;
use crate::vision::linear::Pack;
use crate::{TensorError, Tensors};

/// Planes of the stem, and pixels between its places.
pub(super) const STEM: usize = 32;
const STEM_STRIDE: usize = 2;

/// Number of blocks, kernel, stride of the first block, expansion and planes of each stage of EfficientNet-Lite0.
const STAGES: [[usize; 5]; 7] = [
    [1, 3, 1, 1, 16],
    [2, 3, 2, 6, 24],
    [2, 5, 2, 6, 40],
    [3, 3, 2, 6, 80],
    [3, 5, 1, 6, 112],
    [4, 5, 2, 6, 192],
    [1, 3, 1, 6, 320],
];

/// The shape of a block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Shape {
    /// Planes that come in.
    inputs: usize,
    /// Planes between, as a multiple of those that come in.
    expansion: usize,
    kernel: usize,
    stride: usize,
    /// Planes that go out.
    pub planes: usize,
    /// Pixels of the image between neighbouring places behind it.
    pub from_image: usize,
}

/// The blocks with so many times the planes and the blocks of the smallest network; the first and the last stage keep
/// their number of blocks.
pub(super) fn shapes((width, depth): (f64, f64)) -> Vec<Shape> {
    let (mut shapes, mut inputs, mut from_image) = (Vec::new(), STEM, STEM_STRIDE);
    for (stage, [n, kernel, stride, expansion, planes]) in STAGES.into_iter().enumerate() {
        let inner = stage > 0 && stage + 1 < STAGES.len();
        let n = if inner { (n as f64 * depth).ceil() as usize } else { n };
        let planes = rounded(planes as f64 * width);
        for i in 0..n {
            let stride = if i == 0 { stride } else { 1 };
            from_image *= stride;
            shapes.push(Shape { inputs, expansion, kernel, stride, planes, from_image });
            inputs = planes;
        }
    }
    shapes
}

/// The nearest multiple of eight, or the next one if that is more than a tenth less.
fn rounded(planes: f64) -> usize {
    let nearest = ((planes + 4.0) as usize / 8 * 8).max(8);
    if (nearest as f64) < 0.9 * planes { nearest + 8 } else { nearest }
}

/// A block with its weights.
#[derive(Debug)]
pub(super) struct Block {
    pub shape: Shape,
    /// To more planes; the first block has none.
    expand: Option<Convolution>,
    depthwise: Depthwise,
    project: Convolution,
}

impl Block {
    /// Reads `_blocks.<i>.*`.
    pub fn read(from: &Tensors, i: usize, shape: Shape) -> Result<Block, TensorError> {
        let name = |what: &str| format!("_blocks.{i}.{what}");
        let read = |conv: &str, norm: &str, shape| {
            Convolution::read(from, [&name(conv), &name(norm)], shape, style(1))
        };
        let between = shape.inputs * shape.expansion;
        let expand = || read("_expand_conv", "_bn0", [between, shape.inputs, 1]);
        let names = [&*name("_depthwise_conv"), &name("_bn1")];
        Ok(Block {
            expand: (shape.expansion > 1).then(expand).transpose()?,
            depthwise: Depthwise::read(from, names, [between, shape.kernel], style(shape.stride))?,
            project: read("_project_conv", "_bn2", [shape.planes, between, 1])?,
            shape,
        })
    }

    /// The block on a map; where the sizes agree, the map is added.
    pub fn apply(&self, map: Map, pack: &mut Pack) -> Map {
        let wide = self.expand.as_ref().map(|expand| expand.apply(&map, pack).rectified_to_six());
        let inner = self.depthwise.apply(wide.as_ref().unwrap_or(&map)).rectified_to_six();
        let mut out = self.project.apply(&inner, pack);
        if self.shape.stride == 1 && self.shape.inputs == self.shape.planes {
            out.values.iter_mut().zip(&map.values).for_each(|(o, v)| *o += v);
        }
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn planes_are_rounded_and_blocks_repeated_as_published() {
        let of = |factors| {
            let shapes = shapes(factors);
            let mut planes: Vec<usize> = shapes.iter().map(|s| s.planes).collect();
            planes.dedup();
            (shapes.len(), planes)
        };
        assert_eq!(of((1.0, 1.0)), (16, vec![16, 24, 40, 80, 112, 192, 320]));
        assert_eq!(of((1.0, 1.1)).0, 21);
        assert_eq!(of((1.1, 1.2)), (21, vec![16, 24, 48, 88, 120, 208, 352]));
        // 11 is nearer to 8 than to 16, but 8 is more than a tenth less.
        assert_eq!(rounded(11.0), 16);
    }
}

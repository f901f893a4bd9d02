//! Xception-65, the trunk of DeepLabV3+: depthwise and pointwise convolutions beside short cuts.
//!
//! Reference: Chollet, CVPR 2017, as changed by Chen et al., ECCV 2018: more layers, strides instead of pooling, a
//! normalisation after each depthwise convolution; its map is a sixteenth of the image.

use crate::layer::{ConvNorm, Kernel};
use crate::pass::Pass;
use crate::trunk::{Channels, Maps};
use crate::weights::Plan;
use burn_tensor::Tensor;
use burn_tensor::activation::relu;

/// Of its maps.
pub const CHANNELS: Channels = Channels { low: 256, middle: 728, high: 2048 };

/// Blocks of the middle flow.
const MIDDLE: usize = 16;
/// After every so many of them units are dropped.
const DROPPED: usize = 4;

/// A depthwise convolution and a pointwise one, each normalised.
#[derive(Debug, Clone)]
pub struct Separable {
    depthwise: ConvNorm,
    pointwise: ConvNorm,
}

impl Separable {
    /// With names made from one.
    pub fn new(plan: &mut Plan, name: &str, channels: [usize; 2], kernel: Kernel) -> Separable {
        let [from, _] = channels;
        Separable {
            depthwise: ConvNorm::new(plan, &format!("{name}.depthwise"), [from; 2], kernel.groups(from)),
            pointwise: ConvNorm::new(plan, &format!("{name}.pointwise"), channels, Kernel::of(1)),
        }
    }

    /// What comes out, before any activation.
    pub fn forward(&self, x: Tensor<4>, pass: &mut Pass) -> Tensor<4> {
        let x = self.depthwise.forward(x, pass);
        self.pointwise.forward(x, pass)
    }

    /// With activations after both.
    pub fn relu(&self, x: Tensor<4>, pass: &mut Pass) -> Tensor<4> {
        let x = self.depthwise.relu(x, pass);
        self.pointwise.relu(x, pass)
    }
}

/// Three separable convolutions, each of the positive part of its input, beside a short cut.
#[derive(Debug, Clone)]
struct Block {
    layers: [Separable; 3],
    short_cut: Option<ConvNorm>,
}

impl Block {
    /// `widths` are the channels before the first and after each layer; the last layer has the stride.
    fn new(plan: &mut Plan, name: &str, widths: [usize; 4], stride: usize) -> Block {
        let layers = std::array::from_fn(|i| {
            let kernel = Kernel::of(3).stride(if i == 2 { stride } else { 1 });
            Separable::new(plan, &format!("{name}.{i}"), [widths[i], widths[i + 1]], kernel)
        });
        let changes = stride > 1 || widths[0] != widths[3];
        let point = Kernel::of(1).stride(stride);
        let short_cut =
            changes.then(|| ConvNorm::new(plan, &format!("{name}.short_cut"), [widths[0], widths[3]], point));
        Block { layers, short_cut }
    }

    /// What comes out, and the output of the second layer, which is as large as the input.
    fn forward(&self, x: Tensor<4>, pass: &mut Pass) -> (Tensor<4>, Tensor<4>) {
        let [first, second, third] = &self.layers;
        let y = first.forward(relu(x.clone()), pass);
        let before = second.forward(relu(y), pass);
        let y = third.forward(relu(before.clone()), pass);
        let x = match &self.short_cut {
            Some(layer) => layer.forward(x, pass),
            None => x,
        };
        (x + y, before)
    }
}

/// The trunk.
#[derive(Debug, Clone)]
pub struct Xception {
    stem: [ConvNorm; 2],
    entry: [Block; 3],
    middle: Vec<Block>,
    exit: Block,
    last: [Separable; 3],
    dropout: Option<f64>,
}

impl Xception {
    /// Its layers; units are dropped with this probability, if any.
    pub fn new(plan: &mut Plan, dropout: Option<f64>) -> Xception {
        let stem = [
            ConvNorm::new(plan, "trunk.stem.0", [3, 32], Kernel::of(3).stride(2)),
            ConvNorm::new(plan, "trunk.stem.1", [32, 64], Kernel::of(3)),
        ];
        let entry = [
            Block::new(plan, "trunk.entry.0", [64, 128, 128, 128], 2),
            Block::new(plan, "trunk.entry.1", [128, 256, 256, 256], 2),
            Block::new(plan, "trunk.entry.2", [256, 728, 728, 728], 2),
        ];
        let middle = (0..MIDDLE).map(|i| Block::new(plan, &format!("trunk.middle.{i}"), [728; 4], 1));
        let middle = middle.collect();
        let exit = Block::new(plan, "trunk.exit", [728, 728, 1024, 1024], 1);
        let wide = [[1024, 1536], [1536, 1536], [1536, 2048]];
        let dilated = Kernel::of(3).dilation(2);
        let last =
            std::array::from_fn(|i| Separable::new(plan, &format!("trunk.last.{i}"), wide[i], dilated));
        Xception { stem, entry, middle, exit, last, dropout }
    }

    /// The maps of a batch.
    pub fn forward(&self, x: Tensor<4>, pass: &mut Pass) -> Maps {
        let x = self.stem.iter().fold(x, |x, layer| layer.relu(x, pass));
        let (x, _) = self.entry[0].forward(x, pass);
        // The second layer of the second block still has a quarter of the size.
        let (x, low) = self.entry[1].forward(x, pass);
        let (x, _) = self.entry[2].forward(x, pass);
        let mut x = pass.drop(x, self.dropout);
        for (i, block) in self.middle.iter().enumerate() {
            x = block.forward(x, pass).0;
            if i % DROPPED == DROPPED - 1 {
                x = pass.drop(x, self.dropout);
            }
        }
        let (high, _) = self.exit.forward(x.clone(), pass);
        let high = relu(pass.drop(high, self.dropout));
        let high = self.last.iter().fold(high, |y, layer| layer.relu(y, pass));
        Maps { low: relu(low), middle: x, high }
    }
}

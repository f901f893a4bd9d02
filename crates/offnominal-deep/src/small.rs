//! The small trunk: residual convolutions of three sizes, the last dilated, at an eighth or a quarter of the image.
//!
//! A stem of two convolutions at half the size, three residual ones at a quarter, seven at an eighth with dilations
//! 1, 1, 2, 2, 4, 4, 1. It is made to be trained from nothing on two cores within minutes. With an output stride of 4
//! the second stage stays at half the size, the third is at a quarter, and its dilations are 1, 1, 4, 4, 8, 8, 1.

use crate::design::{Design, OutputStride};
use crate::layer::{ConvNorm, Kernel};
use crate::pass::Pass;
use crate::trunk::{Channels, Maps};
use crate::weights::Plan;
use burn_tensor::Tensor;
use burn_tensor::activation::relu;

const WIDTH: usize = 16;
const FINE: usize = 3;
const DILATIONS: [usize; 7] = [1, 1, 2, 2, 4, 4, 1];

/// Of its maps.
pub const CHANNELS: Channels = Channels { low: 2 * WIDTH, middle: 4 * WIDTH, high: 4 * WIDTH };

/// After which of the coarse convolutions units are dropped: the first four, as in the paper's third stage.
const DROPPED: usize = 4;

/// The trunk.
#[derive(Debug, Clone)]
pub struct Small {
    stem: [ConvNorm; 2],
    to_fine: ConvNorm,
    fine: Vec<ConvNorm>,
    to_coarse: ConvNorm,
    coarse: Vec<ConvNorm>,
    dropout: Option<f64>,
}

impl Small {
    /// Its layers.
    pub fn new(plan: &mut Plan, design: &Design) -> Small {
        let (w, square) = (WIDTH, Kernel::of(3));
        let to_half = if design.output_stride == OutputStride::Four { square } else { square.stride(2) };
        let stem = [
            ConvNorm::new(plan, "trunk.stem.0", [3, w], square.stride(2)),
            ConvNorm::new(plan, "trunk.stem.1", [w, w], square),
        ];
        let to_fine = ConvNorm::new(plan, "trunk.fine.0", [w, 2 * w], to_half);
        let fine = (1..=FINE).map(|i| ConvNorm::new(plan, &format!("trunk.fine.{i}"), [2 * w; 2], square));
        let fine = fine.collect();
        let to_coarse = ConvNorm::new(plan, "trunk.coarse.0", [2 * w, 4 * w], square.stride(2));
        let mut coarse = Vec::new();
        for (i, dilation) in design.dilated(DILATIONS).into_iter().enumerate() {
            let name = format!("trunk.coarse.{}", i + 1);
            coarse.push(ConvNorm::new(plan, &name, [4 * w; 2], square.dilation(dilation)));
        }
        Small { stem, to_fine, fine, to_coarse, coarse, dropout: design.dropout() }
    }

    /// The maps of a batch.
    pub fn forward(&self, x: Tensor<4>, pass: &mut Pass) -> Maps {
        let x = self.stem.iter().fold(x, |x, layer| layer.relu(x, pass));
        let low = self.fine.iter().fold(self.to_fine.relu(x, pass), |x, layer| residual(layer, x, pass));
        let middle = self.to_coarse.relu(low.clone(), pass);
        let mut high = middle.clone();
        for (i, layer) in self.coarse.iter().enumerate() {
            high = residual(layer, high, pass);
            high = pass.drop(high, self.dropout.filter(|_| i < DROPPED));
        }
        Maps { low, middle, high }
    }
}

/// The positive part of what a layer adds to its input.
fn residual(layer: &ConvNorm, x: Tensor<4>, pass: &mut Pass) -> Tensor<4> {
    relu(layer.forward(x.clone(), pass) + x)
}

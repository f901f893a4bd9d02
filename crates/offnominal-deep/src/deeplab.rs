//! DeepLabV3+ (features of several scales, refined with a finer map) and DeepLabV3 (not refined, as torchvision has it).
//!
//! Reference: Chen et al., "Encoder-decoder with atrous separable convolution for semantic image segmentation", ECCV
//! 2018.

use crate::aspp::Aspp;
use crate::layer::{ConvNorm, Kernel};
use crate::pass::Pass;
use crate::resize::resize;
use crate::trunk::{Channels, Maps};
use crate::weights::Plan;
use crate::xception::Separable;
use burn_tensor::Tensor;

/// Head with a decoder.
#[derive(Debug, Clone)]
pub struct Decoder {
    aspp: Aspp,
    fine: ConvNorm,
    refine: Vec<Refine>,
}

/// A convolution of the decoder.
#[derive(Debug, Clone)]
enum Refine {
    Whole(ConvNorm),
    Separable(Separable),
}

/// Sizes of the head.
#[derive(Debug, Clone, Copy)]
pub struct Sizes {
    /// Channels of each branch and of the decoder.
    pub width: usize,
    /// Channels that remain of the fine map.
    pub fine: usize,
    /// Dilations of the branches.
    pub rates: [usize; 3],
    /// Whether the decoder's convolutions are separable.
    pub is_separable: bool,
}

impl Decoder {
    /// Its layers.
    pub fn new(plan: &mut Plan, from: Channels, sizes: Sizes) -> Decoder {
        let Sizes { width, fine, rates, is_separable } = sizes;
        let aspp = Aspp::new(plan, "head.aspp", [from.high, width], rates);
        let finer = ConvNorm::new(plan, "head.fine", [from.low, fine], Kernel::of(1));
        let refine = [width + fine, width].into_iter().enumerate().map(|(i, from)| {
            let (name, channels) = (format!("head.refine.{i}"), [from, width]);
            if is_separable {
                Refine::Separable(Separable::new(plan, &name, channels, Kernel::of(3)))
            } else {
                Refine::Whole(ConvNorm::new(plan, &name, channels, Kernel::of(3)))
            }
        });
        let refine = refine.collect();
        Decoder { aspp, fine: finer, refine }
    }

    /// Features at the size of the fine map.
    pub fn forward(&self, maps: Maps, pass: &mut Pass) -> Tensor<4> {
        let [_, _, height, width] = maps.low.dims();
        let coarse = resize(self.aspp.forward(maps.high, pass), [height, width]);
        let fine = self.fine.relu(maps.low, pass);
        self.refine.iter().fold(Tensor::cat(vec![coarse, fine], 1), |x, layer| match layer {
            Refine::Whole(layer) => layer.relu(x, pass),
            Refine::Separable(layer) => layer.relu(x, pass),
        })
    }
}

/// Head without a decoder, with torchvision's names.
#[derive(Debug, Clone)]
pub struct Plain {
    aspp: Aspp,
    merge: ConvNorm,
}

impl Plain {
    /// Its layers.
    pub fn new(plan: &mut Plan, from: usize, width: usize, rates: [usize; 3]) -> Plain {
        let aspp = Aspp::new(plan, "classifier.0", [from, width], rates);
        let merge = ConvNorm::named(plan, ["classifier.1", "classifier.2"], [width; 2], Kernel::of(3));
        Plain { aspp, merge }
    }

    /// Features at the size of the coarse map.
    pub fn forward(&self, maps: Maps, pass: &mut Pass) -> Tensor<4> {
        let x = self.aspp.forward(maps.high, pass);
        self.merge.relu(x, pass)
    }
}

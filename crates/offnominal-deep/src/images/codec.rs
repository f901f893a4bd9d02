//! From images to features and back: convolutions that halve an image, and their mirror image.

use super::dense::Dense;
use crate::conv::conv_transpose2d;
use crate::layer::{Conv, Kernel};
use crate::pass::Pass;
use crate::weights::{First, Key, Plan};
use burn_tensor::Tensor;
use burn_tensor::activation::relu;
use burn_tensor::ops::ConvTransposeOptions;
use serde::{Deserialize, Serialize};

/// Colours of an image.
const COLOURS: usize = 3;

/// How much smaller first weights of the output are, so that a network begins with the image that it need not learn.
const QUIET: f64 = 0.1;

/// Sizes of an encoder; its decoder has the same, the other way round.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Codec {
    /// Channels of each convolution.
    pub channels: Vec<usize>,
    /// Stride of each, 1 or 2.
    pub strides: Vec<usize>,
    /// Numbers that an image becomes.
    pub features: usize,
}

impl Codec {
    /// By how much the sides of an image must be divisible.
    pub fn stride(&self) -> usize {
        self.strides.iter().product()
    }

    /// What is wrong with it, if anything.
    pub fn anomaly_spec(&self) -> Option<String> {
        if self.channels.is_empty() || self.channels.len() != self.strides.len() {
            let (channels, strides) = (self.channels.len(), self.strides.len());
            return Some(format!(
                "expected a stride for each of the channels, found {strides} for {channels}"
            ));
        }
        let stride = self.strides.iter().find(|&&s| s != 1 && s != 2);
        let nothing = self.features == 0 || self.channels.contains(&0);
        stride
            .map(|s| format!("expected strides of 1 or 2, found {s}"))
            .or_else(|| nothing.then(|| "expected at least one channel and one feature, found 0".into()))
    }

    /// Channels from the image on.
    fn path(&self) -> Vec<usize> {
        [vec![COLOURS], self.channels.clone()].concat()
    }

    /// Channels, rows and columns of the last map of an image.
    fn last(&self, view: [usize; 2]) -> [usize; 3] {
        let [rows, columns] = view.map(|side| side / self.stride());
        [*self.channels.last().expect("at least one convolution"), rows, columns]
    }

    /// Numbers of all maps of an image.
    pub fn floats(&self, view: [usize; 2]) -> usize {
        let mut pixels = view[0] * view[1];
        let mut total = COLOURS * pixels;
        for (channels, stride) in self.channels.iter().zip(&self.strides) {
            pixels /= stride * stride;
            total += channels * pixels;
        }
        total
    }
}

/// An image as features.
#[derive(Debug, Clone)]
pub struct Encoder {
    convs: Vec<Conv>,
    flat: Dense,
}

impl Encoder {
    /// For images of so many rows and columns.
    pub fn new(plan: &mut Plan, codec: &Codec, view: [usize; 2]) -> Encoder {
        let mut convs = Vec::new();
        for (i, (pair, &stride)) in codec.path().windows(2).zip(&codec.strides).enumerate() {
            // A kernel with an even side has no centre, which is right where it halves and wrong where it does not.
            let kernel = if stride == 1 { Kernel::of(3) } else { Kernel::of(4).stride(2) };
            convs.push(Conv::new(plan, &format!("encoder.{i}"), [pair[0], pair[1]], kernel));
        }
        let n = codec.last(view).iter().product();
        Encoder { convs, flat: Dense::with_gain(plan, "encoder.flat", [n, codec.features], 1.0) }
    }

    /// Features of a batch.
    pub fn forward(&self, x: Tensor<4>, pass: &Pass) -> Tensor<2> {
        let x = self.convs.iter().fold(x, |x, conv| relu(conv.forward(x, pass)));
        self.flat.forward(x.flatten(1, 3), pass)
    }
}

/// What undoes a convolution of an encoder.
#[derive(Debug, Clone)]
enum Undo {
    /// At the same size.
    Same(Conv),
    /// Twice as large: weight and bias.
    Double(Key, Key),
}

impl Undo {
    fn new(plan: &mut Plan, name: &str, [from, to]: [usize; 2], stride: usize, gain: f64) -> Undo {
        if stride == 1 {
            return Undo::Same(Conv::new(plan, name, [from, to], Kernel::of(3)));
        }
        // Each pixel of the output is reached by four taps of a channel.
        let first = First::Normal(gain / (4.0 * from as f64).sqrt());
        let weight = plan.learned(format!("{name}.weight"), &[from, to, 4, 4], first);
        Undo::Double(weight, plan.learned(format!("{name}.bias"), &[to], First::Zeros))
    }

    fn forward(&self, x: Tensor<4>, pass: &Pass) -> Tensor<4> {
        match self {
            Undo::Same(conv) => conv.forward(x, pass),
            Undo::Double(weight, bias) => {
                let options = ConvTransposeOptions::new([2; 2], [1; 2], [0; 2], [1; 2], 1);
                conv_transpose2d(x, pass.kernel(*weight), Some(pass.vector(*bias)), options)
            }
        }
    }
}

/// Features as an image.
#[derive(Debug, Clone)]
pub struct Decoder {
    flat: Dense,
    /// Channels, rows and columns of the smallest map.
    first: [usize; 3],
    undo: Vec<Undo>,
}

impl Decoder {
    /// For images of so many rows and columns, from so many features.
    pub fn new(plan: &mut Plan, codec: &Codec, view: [usize; 2], features: usize) -> Decoder {
        let (first, path) = (codec.last(view), codec.path());
        let flat = Dense::new(plan, "decoder.flat", [features, first.iter().product()]);
        let mut undo = Vec::new();
        for (i, &stride) in codec.strides.iter().enumerate().rev() {
            let gain = if i == 0 { QUIET } else { 2.0_f64.sqrt() };
            undo.push(Undo::new(plan, &format!("decoder.{i}"), [path[i + 1], path[i]], stride, gain));
        }
        Decoder { flat, first, undo }
    }

    /// Images of a batch.
    pub fn forward(&self, features: Tensor<2>, pass: &Pass) -> Tensor<4> {
        let [n, _] = features.dims();
        let [channels, rows, columns] = self.first;
        let x = self.flat.forward(features, pass).reshape([n, channels, rows, columns]);
        self.undo.iter().fold(x, |x, undo| undo.forward(relu(x), pass))
    }
}

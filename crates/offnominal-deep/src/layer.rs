//! Convolutions, and convolutions whose output is normalised.

use crate::conv::conv2d;
use crate::norm::{normalise, normalise_by};
use crate::pass::Pass;
use crate::weights::{First, Key, Plan};
use burn_tensor::Tensor;
use burn_tensor::ops::ConvOptions;

const EPSILON: f64 = 1e-5;

/// Share of a batch in the running means and variances.
pub const FOLLOW: f64 = 0.1;

/// What a convolution looks at.
#[derive(Debug, Clone, Copy)]
pub struct Kernel {
    size: usize,
    stride: usize,
    dilation: usize,
    groups: usize,
}

impl Kernel {
    /// A square of so many pixels a side.
    pub const fn of(size: usize) -> Kernel {
        Kernel { size, stride: 1, dilation: 1, groups: 1 }
    }

    /// At every so many-th pixel.
    pub const fn stride(self, stride: usize) -> Kernel {
        Kernel { stride, ..self }
    }

    /// Its stride.
    pub const fn every(self) -> usize {
        self.stride
    }

    /// Dilated: its taps lie so many pixels apart.
    pub const fn dilation(self, dilation: usize) -> Kernel {
        Kernel { dilation, ..self }
    }

    /// Each group of channels by itself.
    pub const fn groups(self, groups: usize) -> Kernel {
        Kernel { groups, ..self }
    }
}

/// A convolution that keeps the size, but for its stride.
#[derive(Debug, Clone)]
pub struct Conv {
    weight: Key,
    bias: Option<Key>,
    kernel: Kernel,
}

impl Conv {
    /// Without bias, for what is normalised afterwards; first values after He et al., ICCV 2015.
    pub fn bare(plan: &mut Plan, name: &str, channels: [usize; 2], kernel: Kernel) -> Conv {
        let [from, to] = channels;
        let shape = [to, from / kernel.groups, kernel.size, kernel.size];
        let fan_in = shape[1..].iter().product::<usize>() as f64;
        let weight = plan.learned(format!("{name}.weight"), &shape, First::Normal((2.0 / fan_in).sqrt()));
        Conv { weight, bias: None, kernel }
    }

    /// With bias, for the output of a network.
    pub fn biased(plan: &mut Plan, name: &str, channels: [usize; 2]) -> Conv {
        Conv::new(plan, name, channels, Kernel::of(1))
    }

    /// With bias, for what is not normalised.
    pub fn new(plan: &mut Plan, name: &str, channels: [usize; 2], kernel: Kernel) -> Conv {
        let conv = Conv::bare(plan, name, channels, kernel);
        Conv { bias: Some(plan.learned(format!("{name}.bias"), &[channels[1]], First::Zeros)), ..conv }
    }

    /// The convolution of a batch.
    pub fn forward(&self, x: Tensor<4>, pass: &Pass) -> Tensor<4> {
        let Kernel { size, stride, dilation, groups } = self.kernel;
        let padding = dilation * (size - 1) / 2;
        let options = ConvOptions::new([stride; 2], [padding; 2], [dilation; 2], groups);
        conv2d(x, pass.kernel(self.weight), self.bias.map(|bias| pass.vector(bias)), options)
    }
}

/// Normalises each channel: by the batch in training, by what training saw otherwise (Ioffe and Szegedy, ICML 2015).
#[derive(Debug, Clone)]
pub struct Norm {
    scale: Key,
    shift: Key,
    mean: Key,
    variance: Key,
}

impl Norm {
    /// Of so many channels.
    pub fn new(plan: &mut Plan, name: &str, channels: usize) -> Norm {
        let n = &[channels];
        Norm {
            scale: plan.learned(format!("{name}.weight"), n, First::Ones),
            shift: plan.learned(format!("{name}.bias"), n, First::Zeros),
            mean: plan.followed(format!("{name}.running_mean"), n, First::Zeros),
            variance: plan.followed(format!("{name}.running_var"), n, First::Ones),
        }
    }

    /// The normalised batch.
    pub fn forward(&self, x: Tensor<4>, pass: &mut Pass) -> Tensor<4> {
        self.run(x, false, pass)
    }

    /// The normalised batch without its negative part.
    pub fn relu(&self, x: Tensor<4>, pass: &mut Pass) -> Tensor<4> {
        self.run(x, true, pass)
    }

    fn run(&self, x: Tensor<4>, is_rectified: bool, pass: &mut Pass) -> Tensor<4> {
        let (scale, shift) = (pass.vector(self.scale), pass.vector(self.shift));
        let (mean, variance) = (pass.vector(self.mean), pass.vector(self.variance));
        if !pass.is_training() {
            return normalise_by(x, [scale, shift, mean, variance], EPSILON, is_rectified);
        }
        let [images, _, height, width] = x.dims();
        let n = (images * height * width) as f64;
        let found = normalise(x, scale, shift, EPSILON, is_rectified);
        let follow = |running: Tensor<1>, found: Tensor<1>| {
            running.mul_scalar(1.0 - FOLLOW) + found.mul_scalar(FOLLOW)
        };
        // The running variance is that of the population, as elsewhere.
        let unbiased = found.variance.mul_scalar(n / (n - 1.0).max(1.0));
        pass.noticed.push((self.mean, follow(mean, found.mean)));
        pass.noticed.push((self.variance, follow(variance, unbiased)));
        found.output
    }
}

/// A convolution, then a normalisation.
#[derive(Debug, Clone)]
pub struct ConvNorm {
    conv: Conv,
    norm: Norm,
}

impl ConvNorm {
    /// With names for both.
    pub fn named(plan: &mut Plan, names: [&str; 2], channels: [usize; 2], kernel: Kernel) -> ConvNorm {
        let conv = Conv::bare(plan, names[0], channels, kernel);
        ConvNorm { conv, norm: Norm::new(plan, names[1], channels[1]) }
    }

    /// With names made from one.
    pub fn new(plan: &mut Plan, name: &str, channels: [usize; 2], kernel: Kernel) -> ConvNorm {
        ConvNorm::named(plan, [&format!("{name}.conv"), &format!("{name}.norm")], channels, kernel)
    }

    /// What comes out, before any activation.
    pub fn forward(&self, x: Tensor<4>, pass: &mut Pass) -> Tensor<4> {
        let x = self.conv.forward(x, pass);
        self.norm.forward(x, pass)
    }

    /// What comes out, without its negative part.
    pub fn relu(&self, x: Tensor<4>, pass: &mut Pass) -> Tensor<4> {
        let x = self.conv.forward(x, pass);
        self.norm.relu(x, pass)
    }
}

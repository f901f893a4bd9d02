//! Convolutions on the processor that copy no windows, and their gradients.
//!
//! How they go over an image is [`offnominal_nets::planes`]:
//!
//! | sweep | reads | writes |
//! |---|---|---|
//! | output | planes of x | y |
//! | gradient of the input | planes of dy | phases of dx: each has its own taps, so no zeros are multiplied |
//! | gradient of the kernel (`weights`) | planes of x, dy | sums over images and pixels |
//!
//! A transposed convolution is the second sweep, and its gradients are the first and the third. The cost is
//! `images · to · from · taps · pixels` multiply-adds, and one pass over x, y and the kernel for each layout.
//! No order of a sum depends on the number of threads.
//!
//! It serves burn's tensors on the processor, with or without derivatives; what it does not cover (groups, other number
//! types, other devices) is burn's own.

mod run;
mod tape;
mod tensor;
mod weights;

#[cfg(test)]
mod tests;

use crate::flex;
use burn_tensor::module;
use burn_tensor::ops::{ConvOptions, ConvTransposeOptions};
use burn_tensor::{DType, Tensor};
use offnominal_nets::planes::Axis;
use tape::Way;
use tensor::Shape;

/// The convolution of x `[images, from, rows, columns]` with a kernel `[to, from / groups, rows, columns]`.
pub fn conv2d(
    x: Tensor<4>,
    kernel: Tensor<4>,
    bias: Option<Tensor<1>>,
    options: ConvOptions<2>,
) -> Tensor<4> {
    let ([_, _, height, width], [_, _, rows, columns]) = (x.dims(), kernel.dims());
    let axis = |i: usize, size, kernel| {
        let (stride, dilation, padding) = (options.stride[i], options.dilation[i], [options.padding[i].0; 2]);
        Axis { size, kernel, stride, dilation, padding }
    };
    let axes = [axis(0, height, rows), axis(1, width, columns)];
    let is_covered = options.groups == 1 && !options.is_asymmetric();
    let way = Way::Forward(Shape { axes, outputs: axes.map(|axis| axis.outputs()) });
    match apply(is_covered, way, &x, &kernel, bias.as_ref()) {
        Some(y) => y,
        None => module::conv2d(x, kernel, bias, options),
    }
}

/// The transposed convolution of x `[images, from, rows, columns]` with a kernel `[from, to / groups, rows, columns]`.
pub fn conv_transpose2d(
    x: Tensor<4>,
    kernel: Tensor<4>,
    bias: Option<Tensor<1>>,
    options: ConvTransposeOptions<2>,
) -> Tensor<4> {
    let ([_, _, height, width], [_, _, rows, columns]) = (x.dims(), kernel.dims());
    let axis = |i: usize, outputs: usize, kernel: usize| {
        let (stride, dilation, padding) = (options.stride[i], options.dilation[i], options.padding[i]);
        let padding = [padding; 2];
        let reach = (outputs.max(1) - 1) * stride + dilation * (kernel - 1) + options.padding_out[i] + 1;
        Axis { size: reach.saturating_sub(2 * padding[0]), kernel, stride, dilation, padding }
    };
    let axes = [axis(0, height, rows), axis(1, width, columns)];
    let shape = Shape { axes, outputs: [height, width] };
    let is_covered = options.groups == 1 && shape.outputs == axes.map(|axis| axis.outputs());
    match apply(is_covered, Way::Backward(shape), &x, &kernel, bias.as_ref()) {
        Some(y) => y,
        None => module::conv_transpose2d(x, kernel, bias, options),
    }
}

/// Convolves on the processor, if the tensors are there.
fn apply(
    is_covered: bool,
    way: Way,
    x: &Tensor<4>,
    kernel: &Tensor<4>,
    bias: Option<&Tensor<1>>,
) -> Option<Tensor<4>> {
    let numbers = x.dims().iter().product::<usize>() * way.outputs().iter().product::<usize>();
    if !is_covered || numbers == 0 || [x.dtype(), kernel.dtype()] != [DType::F32; 2] {
        return None;
    }
    if let (Some(x), Some(kernel)) = (flex::plain(x), flex::plain(kernel)) {
        let bias = match bias {
            Some(bias) => Some(flex::plain(bias)?),
            None => None,
        };
        return Some(flex::from_plain(way.apply(&x, &kernel, bias.as_ref())));
    }
    let (x, kernel) = (flex::taped(x)?, flex::taped(kernel)?);
    let bias = match bias {
        Some(bias) => Some(flex::taped(bias)?),
        None => None,
    };
    Some(flex::from_taped(tape::apply(way, x, kernel, bias)))
}

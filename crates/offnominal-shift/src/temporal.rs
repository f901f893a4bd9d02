//! Convolutions in time, as dense layers on stacked rows.
//!
//! Output j reads the input rows s j, s j + d, …, s j + (k − 1) d of kernel k, stride s and dilation d. The receptive field
//! of two of them is k₁ + … rows: see [`receptive_field`].

use offnominal_nets::{Activation, Gradients, Mlp, Workspace};
use std::ops::Range;

/// The shape of a convolution in time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Kernel {
    /// Rows that an output reads.
    pub size: usize,
    /// Rows from one output to the next.
    pub stride: usize,
    /// Rows from one that is read to the next.
    pub dilation: usize,
}

impl Kernel {
    /// Outputs for so many rows.
    pub fn outputs(&self, rows: usize) -> usize {
        let reach = (self.size - 1) * self.dilation;
        if rows > reach { (rows - reach - 1) / self.stride + 1 } else { 0 }
    }
}

/// Rows of the first input that one output of the last kernel reads, and rows from one such output to the next.
///
/// ```
/// use crate::temporal::{Kernel, receptive_field};
/// let two = |dilations: [usize; 2]| dilations.map(|dilation| Kernel { size: 4, stride: 2, dilation });
/// assert_eq!(receptive_field(&two([1, 2])), (16, 4));
/// assert_eq!(receptive_field(&two([2, 1])), (13, 4));
/// ```
pub fn receptive_field(kernels: &[Kernel]) -> (usize, usize) {
    kernels
        .iter()
        .fold((1, 1), |(field, step), k| (field + (k.size - 1) * k.dilation * step, step * k.stride))
}

/// A convolution with its buffers and its place among the parameters of a model.
pub(crate) struct Layer {
    kernel: Kernel,
    width: usize,
    net: Mlp,
    params: Range<usize>,
    work: Workspace,
    stack: Vec<f32>,
    d_stack: Vec<f32>,
    sequences: usize,
    rows: usize,
}

impl Layer {
    /// A layer whose parameters begin at `from`, for at most so many output rows.
    pub(crate) fn new(
        kernel: Kernel,
        (width, channels): (usize, usize),
        output: Activation,
        from: usize,
        most: usize,
    ) -> Layer {
        let net = Mlp::new(&[kernel.size * width, channels], Activation::Relu).with_output(output);
        let params = from..from + net.n_params();
        let work = net.workspace(most.max(1));
        Layer { kernel, width, net, params, work, stack: vec![], d_stack: vec![], sequences: 0, rows: 0 }
    }

    pub(crate) fn net(&self) -> &Mlp {
        &self.net
    }

    /// Where its parameters are.
    pub(crate) fn params(&self) -> Range<usize> {
        self.params.clone()
    }

    /// The result of the last pass, one row for each output of each sequence.
    pub(crate) fn out(&self) -> &[f32] {
        self.work.output()
    }

    /// Outputs of one sequence in the last pass.
    pub(crate) fn n_outputs(&self) -> usize {
        self.kernel.outputs(self.rows)
    }

    /// Convolves sequences of equal length, one after the other in `input`.
    pub(crate) fn forward(&mut self, params: &[f32], input: &[f32], sequences: usize) {
        (self.sequences, self.rows) = (sequences, input.len() / self.width / sequences);
        self.stack.clear();
        for sequence in input.chunks_exact(self.rows * self.width) {
            for j in 0..self.kernel.outputs(self.rows) {
                for tap in 0..self.kernel.size {
                    let row = j * self.kernel.stride + tap * self.kernel.dilation;
                    self.stack.extend_from_slice(&sequence[row * self.width..(row + 1) * self.width]);
                }
            }
        }
        self.net.forward(&params[self.params.clone()], &self.stack, &mut self.work);
    }

    /// Takes derivatives by the outputs to those by the parameters, and adds those by the input if they are wanted.
    pub(crate) fn backward(
        &mut self,
        params: &[f32],
        d_out: &[f32],
        grad: &mut [f32],
        d_input: Option<&mut [f32]>,
    ) {
        let params = &params[self.params.clone()];
        self.d_stack.resize(self.stack.len(), 0.0);
        let channels = 0..self.net.inputs();
        let input = d_input.is_some().then_some((channels, &mut self.d_stack[..]));
        let wanted = Gradients { params: Some(&mut grad[self.params.clone()]), input };
        self.net.backward(params, &self.stack, &mut self.work, d_out, wanted);
        if let Some(d_input) = d_input {
            self.scatter(d_input);
        }
    }

    fn scatter(&self, d_input: &mut [f32]) {
        let mut stacked = self.d_stack.chunks_exact(self.width);
        for sequence in d_input.chunks_exact_mut(self.rows * self.width) {
            for j in 0..self.kernel.outputs(self.rows) {
                for (tap, d) in (0..self.kernel.size).zip(stacked.by_ref()) {
                    let row = j * self.kernel.stride + tap * self.kernel.dilation;
                    let into = &mut sequence[row * self.width..(row + 1) * self.width];
                    into.iter_mut().zip(d).for_each(|(a, b)| *a += b);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_moving_difference_is_computed_for_each_sequence_alone() {
        let kernel = Kernel { size: 2, stride: 1, dilation: 2 };
        let mut layer = Layer::new(kernel, (1, 1), Activation::Identity, 0, 8);
        // Weights −1 and 1, no bias.
        layer.forward(&[-1.0, 1.0, 0.0], &[1.0, 2.0, 4.0, 8.0, 0.0, 0.0, 5.0, 5.0], 2);
        assert_eq!((layer.n_outputs(), layer.out()), (2, &[3.0, 6.0, 5.0, 5.0][..]));
    }

    #[test]
    fn derivatives_by_the_input_are_those_of_differences() {
        let kernel = Kernel { size: 3, stride: 2, dilation: 1 };
        let mut layer = Layer::new(kernel, (2, 2), Activation::Identity, 0, 8);
        let params: Vec<f32> = (0..layer.params().len()).map(|i| (i as f32 * 0.7).sin()).collect();
        let input: Vec<f32> = (0..10).map(|i| (i as f32 * 1.3).cos()).collect();
        let mut value = |input: &[f32]| -> f32 {
            layer.forward(&params, input, 1);
            layer.out().iter().sum()
        };
        let slope = |i: usize, value: &mut dyn FnMut(&[f32]) -> f32| {
            let mut moved = input.clone();
            moved[i] += 0.5;
            2.0 * (value(&moved) - value(&input))
        };
        let wanted: Vec<f32> = (0..10).map(|i| slope(i, &mut value)).collect();
        value(&input);
        let (mut grad, mut found) = (vec![0.0; params.len()], vec![0.0; 10]);
        layer.backward(&params, &[1.0; 4], &mut grad, Some(&mut found));
        assert!(found.iter().zip(&wanted).all(|(a, b)| (a - b).abs() < 1e-4), "{found:?} {wanted:?}");
    }
}

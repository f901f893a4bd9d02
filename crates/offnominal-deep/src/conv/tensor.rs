//! The sweeps on burn's tensors on the processor.

use super::run::{Kernel, run};
use super::weights::to_weights;
use crate::flex::{dims, numbers, tensor};
use burn_dispatch::backends::flex::FlexTensor;
use offnominal_nets::planes::Axis;
use offnominal_nets::planes::Sweep;

/// The axes of a convolution, and the rows and columns of its output.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shape {
    /// Rows, columns.
    pub axes: [Axis; 2],
    /// Of the output.
    pub outputs: [usize; 2],
}

impl Shape {
    /// From x to y: a kernel `[to, from, …]`.
    pub fn output(&self, x: &FlexTensor, kernel: &FlexTensor, bias: Option<&FlexTensor>) -> FlexTensor {
        let [to, from, ..] = dims(kernel);
        self.sweep(&Sweep::forward(&self.axes), x, kernel, bias, [to, from], true)
    }

    /// From dy to dx.
    pub fn input(&self, dy: &FlexTensor, kernel: &FlexTensor, bias: Option<&FlexTensor>) -> FlexTensor {
        let [from, to, ..] = dims(kernel);
        self.sweep(&Sweep::backward(&self.axes, self.outputs), dy, kernel, bias, [to, from], false)
    }

    fn sweep(
        &self,
        sweep: &Sweep,
        x: &FlexTensor,
        kernel: &FlexTensor,
        bias: Option<&FlexTensor>,
        [to, from]: [usize; 2],
        is_forward: bool,
    ) -> FlexTensor {
        let (images, taps) = (dims(x)[0], self.axes[0].kernel * self.axes[1].kernel);
        let (to_stride, from_stride) = if is_forward { (from * taps, taps) } else { (taps, to * taps) };
        let y = numbers(x, |x| {
            numbers(kernel, |weights| {
                let kernel = Kernel { weights, to, to_stride, from, from_stride };
                match bias {
                    Some(bias) => numbers(bias, |bias| run(sweep, x, kernel, Some(bias))),
                    None => run(sweep, x, kernel, None),
                }
            })
        });
        tensor(y, &[images, to, sweep.size[0], sweep.size[1]])
    }

    /// The gradient of a kernel `[to, from, …]` from x and dy.
    pub fn kernel(&self, x: &FlexTensor, dy: &FlexTensor) -> FlexTensor {
        let (from, to) = (dims(x)[1], dims(dy)[1]);
        let sweep = Sweep::forward(&self.axes);
        let dw = numbers(x, |x| numbers(dy, |dy| to_weights(&sweep, x, dy, [from, to])));
        tensor(dw, &[to, from, self.axes[0].kernel, self.axes[1].kernel])
    }
}

/// The sum of each channel.
pub fn channels(dy: &FlexTensor) -> FlexTensor {
    let [_, channels, rows, columns] = dims(dy);
    let mut sums = vec![0.0; channels];
    numbers(dy, |dy| {
        for image in dy.chunks_exact(channels * rows * columns) {
            for (sum, channel) in sums.iter_mut().zip(image.chunks_exact(rows * columns)) {
                *sum += total(channel);
            }
        }
    });
    tensor(sums, &[channels])
}

/// The sum of some numbers, as eight sums.
fn total(numbers: &[f32]) -> f32 {
    let (whole, rest) = numbers.as_chunks::<8>();
    let mut sums = [0.0; 8];
    whole.iter().for_each(|eight| sums.iter_mut().zip(eight).for_each(|(sum, v)| *sum += v));
    sums.iter().sum::<f32>() + rest.iter().sum::<f32>()
}

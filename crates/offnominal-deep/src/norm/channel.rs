//! Sums over a channel, and what they make of its numbers.

use crate::flex::{dims, numbers, tensor};
use burn_dispatch::backends::flex::FlexTensor;
use pulp::Arch;
use rayon::prelude::*;

/// Sums that go on side by side.
const LANES: usize = 16;

/// How a channel is normalised.
#[derive(Debug, Clone, Copy)]
pub struct Channel {
    /// m.
    pub mean: f32,
    /// v.
    pub variance: f32,
    /// s.
    factor: f32,
    /// γ.
    scale: f32,
    /// β.
    shift: f32,
}

/// The numbers of a channel, image by image.
fn channel(x: &[f32], [_, channels, rows, columns]: [usize; 4], c: usize) -> impl Iterator<Item = &[f32]> {
    x.chunks_exact(rows * columns).skip(c).step_by(channels)
}

/// The sum of what becomes of two numbers at a time.
#[inline(always)]
fn sum(a: &[f32], b: &[f32], f: impl Fn(f32, f32) -> f32) -> f64 {
    let ((a, a_rest), (b, b_rest)) = (a.as_chunks::<LANES>(), b.as_chunks::<LANES>());
    let mut sums = [0.0_f32; LANES];
    for (a, b) in a.iter().zip(b) {
        for i in 0..LANES {
            sums[i] += f(a[i], b[i]);
        }
    }
    let rest = a_rest.iter().zip(b_rest).map(|(&a, &b)| f64::from(f(a, b)));
    sums.iter().map(|&s| f64::from(s)).sum::<f64>() + rest.sum::<f64>()
}

impl Channel {
    /// By its mean and variance; γ and β.
    pub fn new(mean: f64, variance: f64, epsilon: f64, [scale, shift]: [f32; 2]) -> Channel {
        let factor = (1.0 / (variance + epsilon).sqrt()) as f32;
        Channel { mean: mean as f32, variance: variance as f32, factor, scale, shift }
    }

    /// By the means and variances of a batch.
    pub fn all(x: &FlexTensor, scale: &FlexTensor, shift: &FlexTensor, epsilon: f64) -> Vec<Channel> {
        let shape = dims(x);
        let (scale, shift) = (numbers(scale, <[f32]>::to_vec), numbers(shift, <[f32]>::to_vec));
        let found = |x: &[f32], c: usize| {
            let n = (shape[0] * shape[2] * shape[3]) as f64;
            let mean = channel(x, shape, c).map(|x| sum(x, x, |x, _| x)).sum::<f64>() / n;
            let m = mean as f32;
            let squares = channel(x, shape, c).map(|x| sum(x, x, |x, _| (x - m) * (x - m)));
            Channel::new(mean, squares.sum::<f64>() / n, epsilon, [scale[c], shift[c]])
        };
        let all =
            |x: &[f32]| (0..shape[1]).into_par_iter().map(|c| Arch::new().dispatch(|| found(x, c))).collect();
        numbers(x, all)
    }

    /// y of a number.
    #[inline(always)]
    fn apply(&self, x: f32) -> f32 {
        (x - self.mean) * (self.factor * self.scale) + self.shift
    }

    /// dy of a number, if the negative part was dropped.
    #[inline(always)]
    fn passed(&self, x: f32, dy: f32, is_rectified: bool) -> f32 {
        if is_rectified && self.apply(x) < 0.0 { 0.0 } else { dy }
    }

    /// dγ and dβ.
    #[inline(always)]
    fn slopes(&self, x: &[f32], dy: &[f32], is_rectified: bool) -> [f64; 2] {
        let passed = |x, dy| self.passed(x, dy, is_rectified);
        let weighed = sum(x, dy, |x, dy| passed(x, dy) * (x - self.mean));
        [weighed * f64::from(self.factor), sum(x, dy, passed)]
    }
}

/// The normalised batch.
pub fn apply(x: &FlexTensor, channels: &[Channel], is_rectified: bool) -> FlexTensor {
    let [_, _, rows, columns] = dims(x);
    let out = |x: &[f32]| {
        let mut y = vec![0.0; x.len()];
        let planes = y.par_chunks_exact_mut(rows * columns).zip(x.par_chunks_exact(rows * columns));
        planes.enumerate().with_min_len(8).for_each(|(i, (y, x))| {
            let channel = channels[i % channels.len()];
            Arch::new().dispatch(|| {
                for (y, &x) in y.iter_mut().zip(x) {
                    let v = channel.apply(x);
                    *y = if is_rectified && v < 0.0 { 0.0 } else { v };
                }
            });
        });
        y
    };
    tensor(numbers(x, out), &dims(x))
}

/// dx, dγ, dβ.
pub fn back(x: &FlexTensor, dy: &FlexTensor, channels: &[Channel], is_rectified: bool) -> [FlexTensor; 3] {
    let shape = dims(x);
    let (n, plane) = ((shape[0] * shape[2] * shape[3]) as f64, shape[2] * shape[3]);
    let sums = |x: &[f32], dy: &[f32], c: usize| {
        let pairs = channel(x, shape, c).zip(channel(dy, shape, c));
        pairs.fold([0.0, 0.0], |[gamma, beta], (x, dy)| {
            let [g, b] = channels[c].slopes(x, dy, is_rectified);
            [gamma + g, beta + b]
        })
    };
    let (dx, slopes) = numbers(x, |x| {
        numbers(dy, |dy| {
            let all = (0..channels.len()).into_par_iter();
            let slopes: Vec<[f64; 2]> = all.map(|c| Arch::new().dispatch(|| sums(x, dy, c))).collect();
            let mut dx = vec![0.0; x.len()];
            let planes = dx.par_chunks_exact_mut(plane).zip(x.par_chunks_exact(plane));
            planes.zip(dy.par_chunks_exact(plane)).enumerate().with_min_len(8).for_each(
                |(i, ((dx, x), dy))| {
                    let (channel, [gamma, beta]) = (channels[i % channels.len()], slopes[i % channels.len()]);
                    let (gamma, beta) = ((gamma / n) as f32 * channel.factor, (beta / n) as f32);
                    let factor = channel.scale * channel.factor;
                    Arch::new().dispatch(|| {
                        for ((dx, &x), &dy) in dx.iter_mut().zip(x).zip(dy) {
                            let dy = channel.passed(x, dy, is_rectified);
                            *dx = factor * (dy - beta - (x - channel.mean) * gamma);
                        }
                    });
                },
            );
            (dx, slopes)
        })
    });
    let slope = |i: usize| tensor(slopes.iter().map(|s| s[i] as f32).collect(), &[channels.len()]);
    [tensor(dx, &shape), slope(0), slope(1)]
}

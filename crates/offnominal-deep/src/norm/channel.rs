//! Sums over a channel, and what they make of its numbers.

use crate::flex::{dims, numbers, tensor};
use burn_dispatch::backends::flex::FlexTensor;
use pulp::{Arch, Simd, WithSimd};
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
            let [mean, variance] = Arch::new().dispatch(Moments { x, shape, c });
            Channel::new(mean, variance, epsilon, [scale[c], shift[c]])
        };
        numbers(x, |x| (0..shape[1]).into_par_iter().map(|c| found(x, c)).collect())
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
}

// These are no closures, because a closure may be compiled for the oldest processors.

/// Mean and variance of a channel.
struct Moments<'a> {
    x: &'a [f32],
    shape: [usize; 4],
    c: usize,
}

impl WithSimd for Moments<'_> {
    type Output = [f64; 2];

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) -> [f64; 2] {
        let Moments { x, shape, c } = self;
        let n = (shape[0] * shape[2] * shape[3]) as f64;
        let (mut total, mut squares) = (0.0, 0.0);
        for x in channel(x, shape, c) {
            total += sum(x, x, |x, _| x);
        }
        let mean = (total / n) as f32;
        for x in channel(x, shape, c) {
            squares += sum(x, x, |x, _| (x - mean) * (x - mean));
        }
        [total / n, squares / n]
    }
}

/// dγ and dβ of a channel.
struct Slopes<'a> {
    x: &'a [f32],
    dy: &'a [f32],
    shape: [usize; 4],
    c: usize,
    channel: Channel,
    is_rectified: bool,
}

impl WithSimd for Slopes<'_> {
    type Output = [f64; 2];

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) -> [f64; 2] {
        let Slopes { x, dy, shape, c, channel: by, is_rectified } = self;
        let (mut gamma, mut beta) = (0.0, 0.0);
        for (x, dy) in channel(x, shape, c).zip(channel(dy, shape, c)) {
            gamma += sum(x, dy, |x, dy| by.passed(x, dy, is_rectified) * (x - by.mean));
            beta += sum(x, dy, |x, dy| by.passed(x, dy, is_rectified));
        }
        [gamma * f64::from(by.factor), beta]
    }
}

/// y of some numbers of a channel.
struct Apply<'a> {
    x: &'a [f32],
    y: &'a mut [f32],
    by: Channel,
    is_rectified: bool,
}

impl WithSimd for Apply<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        for (y, &x) in self.y.iter_mut().zip(self.x) {
            let v = self.by.apply(x);
            *y = if self.is_rectified && v < 0.0 { 0.0 } else { v };
        }
    }
}

/// dx of some numbers of a channel.
struct Back<'a> {
    x: &'a [f32],
    dy: &'a [f32],
    dx: &'a mut [f32],
    by: Channel,
    /// dγ s / N and dβ / N.
    means: [f32; 2],
    is_rectified: bool,
}

impl WithSimd for Back<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        let (by, [gamma, beta]) = (self.by, self.means);
        let factor = by.scale * by.factor;
        for ((dx, &x), &dy) in self.dx.iter_mut().zip(self.x).zip(self.dy) {
            let dy = by.passed(x, dy, self.is_rectified);
            *dx = factor * (dy - beta - (x - by.mean) * gamma);
        }
    }
}

/// The normalised batch.
pub fn apply(x: &FlexTensor, channels: &[Channel], is_rectified: bool) -> FlexTensor {
    let [_, _, rows, columns] = dims(x);
    let out = |x: &[f32]| {
        let mut y = vec![0.0; x.len()];
        let planes = y.par_chunks_exact_mut(rows * columns).zip(x.par_chunks_exact(rows * columns));
        planes.enumerate().with_min_len(8).for_each(|(i, (y, x))| {
            Arch::new().dispatch(Apply { x, y, by: channels[i % channels.len()], is_rectified });
        });
        y
    };
    tensor(numbers(x, out), &dims(x))
}

/// dx, dγ, dβ.
pub fn back(x: &FlexTensor, dy: &FlexTensor, channels: &[Channel], is_rectified: bool) -> [FlexTensor; 3] {
    let shape = dims(x);
    let (dx, slopes) = numbers(x, |x| numbers(dy, |dy| back_from(x, dy, shape, channels, is_rectified)));
    let slope = |i: usize| tensor(slopes.iter().map(|s| s[i] as f32).collect(), &[channels.len()]);
    [tensor(dx, &shape), slope(0), slope(1)]
}

fn back_from(
    x: &[f32],
    dy: &[f32],
    shape: [usize; 4],
    channels: &[Channel],
    is_rectified: bool,
) -> (Vec<f32>, Vec<[f64; 2]>) {
    let (n, plane) = ((shape[0] * shape[2] * shape[3]) as f64, shape[2] * shape[3]);
    let slopes = |c: usize| Slopes { x, dy, shape, c, channel: channels[c], is_rectified };
    let slopes: Vec<[f64; 2]> =
        (0..channels.len()).into_par_iter().map(|c| Arch::new().dispatch(slopes(c))).collect();
    let mut dx = vec![0.0; x.len()];
    let read = x.par_chunks_exact(plane).zip(dy.par_chunks_exact(plane));
    let planes = dx.par_chunks_exact_mut(plane).zip(read).enumerate();
    planes.with_min_len(8).for_each(|(i, (dx, (x, dy)))| {
        let (by, [gamma, beta]) = (channels[i % channels.len()], slopes[i % channels.len()]);
        let means = [(gamma / n) as f32 * by.factor, (beta / n) as f32];
        Arch::new().dispatch(Back { x, dy, dx, by, means, is_rectified });
    });
    (dx, slopes)
}

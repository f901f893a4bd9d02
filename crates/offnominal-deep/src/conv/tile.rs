//! The kernel of the sweep: tiles of output channels × vectors of neighbouring pixels, whose sums stay in registers.

use super::spans::Spans;
use pulp::{Arch, Simd, WithSimd};
use std::array::from_fn;

/// Vectors of pixels in a tile.
const VECTORS: usize = 3;

/// How many numbers a vector of this processor has.
pub fn lanes() -> usize {
    struct Lanes;
    impl WithSimd for Lanes {
        type Output = usize;
        #[inline(always)]
        fn with_simd<S: Simd>(self, _: S) -> usize {
            S::F32_LANES
        }
    }
    Arch::new().dispatch(Lanes)
}

/// Output channels in a tile, of so many that are left: 8 × 3 sums fit 32 registers, 4 × 3 fit 16.
pub fn width(lanes: usize, left: usize) -> usize {
    if lanes >= 16 && left > 4 { 8 } else { 4 }
}

/// Some output channels of one image.
pub struct Block<'a> {
    /// The planes of all channels.
    pub x: &'a [f32],
    /// Input channels.
    pub channels: usize,
    /// Numbers of a channel.
    pub plane: usize,
    /// Where taps read.
    pub taps: &'a [usize],
    /// `[channels, taps, width]`.
    pub weights: &'a [f32],
    /// What sums start at.
    pub start: [f32; 8],
    /// Output channels in a tile.
    pub width: usize,
    /// Where vectors are read and written.
    pub spans: &'a Spans,
    /// Numbers from output channel to output channel.
    pub stride: usize,
    /// The output channels, at most as many as a tile has.
    pub y: &'a mut [f32],
}

impl WithSimd for Block<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(mut self, simd: S) {
        if self.width == 8 { self.tiles::<S, 8>(simd) } else { self.tiles::<S, 4>(simd) }
    }
}

impl Block<'_> {
    #[inline(always)]
    fn tiles<S: Simd, const MR: usize>(&mut self, simd: S) {
        let mut at = &self.spans.at[..];
        while !at.is_empty() {
            // Four are two and two: one vector alone would wait for its sums.
            let n = if at.len() == 4 { 2 } else { at.len().min(VECTORS) };
            let (now, rest) = at.split_at(n);
            match n {
                3 => self.tile::<S, MR, 3>(simd, now),
                2 => self.tile::<S, MR, 2>(simd, now),
                _ => self.tile::<S, MR, 1>(simd, now),
            }
            at = rest;
        }
    }

    #[inline(always)]
    fn tile<S: Simd, const MR: usize, const NV: usize>(&mut self, simd: S, at: &[[usize; 2]]) {
        let from: [usize; NV] = from_fn(|v| at[v][0]);
        let mut sums: [[S::f32s; NV]; MR] = from_fn(|i| [simd.splat_f32s(self.start[i]); NV]);
        let weights = self.weights.as_chunks::<MR>().0;
        for c in 0..self.channels {
            let (x, weights) = (&self.x[c * self.plane..], &weights[c * self.taps.len()..]);
            for (&tap, weights) in self.taps.iter().zip(weights) {
                let x: [S::f32s; NV] = from_fn(|v| load::<S>(&x[from[v] + tap..]));
                for i in 0..MR {
                    let weight = simd.splat_f32s(weights[i]);
                    for v in 0..NV {
                        sums[i][v] = simd.mul_add_f32s(weight, x[v], sums[i][v]);
                    }
                }
            }
        }
        for (y, sums) in self.y.chunks_mut(self.stride).zip(sums) {
            for v in 0..NV {
                S::as_mut_simd_f32s(&mut y[at[v][1]..][..S::F32_LANES]).0[0] = sums[v];
            }
        }
    }
}

/// The first vector of a slice.
#[inline(always)]
pub fn load<S: Simd>(x: &[f32]) -> S::f32s {
    S::as_simd_f32s(&x[..S::F32_LANES]).0[0]
}

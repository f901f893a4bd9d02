//! The kernel of the sweep: tiles of output channels × vectors of neighbouring pixels, whose sums stay in registers.

use super::spans::Tile;
use pulp::{Arch, Simd, WithSimd};
use std::array::from_fn;

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
    pub tiles: &'a [Tile],
    /// The place of a channel at which its numbers begin in x.
    pub origin: usize,
    /// Numbers from output channel to output channel.
    pub stride: usize,
    /// Whether what is negative becomes zero; what is not a number stays that.
    pub is_rectified: bool,
    /// The output channels, at most as many as a tile has.
    pub y: &'a mut [f32],
}

impl WithSimd for Block<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(mut self, simd: S) {
        match self.width {
            8 => self.tiles::<S, 8>(simd),
            4 => self.tiles::<S, 4>(simd),
            _ => self.tiles::<S, 1>(simd),
        }
    }
}

impl Block<'_> {
    #[inline(always)]
    fn tiles<S: Simd, const MR: usize>(&mut self, simd: S) {
        for tile in self.tiles {
            match tile.at.len() {
                3 => self.tile::<S, MR, 3>(simd, tile),
                2 => self.tile::<S, MR, 2>(simd, tile),
                _ => self.tile::<S, MR, 1>(simd, tile),
            }
        }
    }

    #[inline(always)]
    fn tile<S: Simd, const MR: usize, const NV: usize>(&mut self, simd: S, tile: &Tile) {
        let at: [[usize; 2]; NV] = from_fn(|v| [tile.at[v][0] - self.origin, tile.at[v][1]]);
        let mut sums: [[S::f32s; NV]; MR] = from_fn(|i| [simd.splat_f32s(self.start[i]); NV]);
        let (weights, taps) = (self.weights.as_chunks::<MR>().0, &self.taps[tile.taps.clone()]);
        for c in 0..self.channels {
            let x = &self.x[c * self.plane..];
            let weights = &weights[c * self.taps.len() + tile.taps.start..];
            for (&tap, weights) in taps.iter().zip(weights) {
                let x: [S::f32s; NV] = from_fn(|v| load::<S>(&x[at[v][0] + tap..]));
                for i in 0..MR {
                    let weight = simd.splat_f32s(weights[i]);
                    for v in 0..NV {
                        sums[i][v] = simd.mul_add_f32s(weight, x[v], sums[i][v]);
                    }
                }
            }
        }
        if self.is_rectified {
            let zero = simd.splat_f32s(0.0);
            for sum in sums.as_flattened_mut() {
                *sum = simd.select_f32s(simd.less_than_f32s(*sum, zero), zero, *sum);
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

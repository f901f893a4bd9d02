//! The product for a few rows: the weights are streamed once per row and nothing is packed.

use super::tile::store;
use pulp::{Simd, WithSimd};

/// Vectors whose sums may be formed at once: enough independent chains to hide the latency of the multiply-add, and,
/// where there are registers for it, rows of weights read in long pieces, which is what their way from memory likes.
const WIDTHS: [usize; 4] = [16, 8, 2, 1];

/// y = leaky(bias + x·w).
pub struct Rows<'a> {
    pub x: &'a [f32],
    pub w: &'a [f32],
    pub bias: &'a [f32],
    pub slope: f32,
    pub y: &'a mut [f32],
    pub k: usize,
}

impl WithSimd for Rows<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let n = self.bias.len();
        for (x, y) in self.x.chunks_exact(self.k).zip(self.y.chunks_exact_mut(n)) {
            let mut first = 0;
            while first < n {
                let vectors = widest::<S>(n - first);
                let width = (vectors * S::F32_LANES).min(n - first);
                let (w, bias, y) = (&self.w[first..], &self.bias[first..][..width], &mut y[first..][..width]);
                match vectors {
                    16 => block::<S, 16>(simd, x, w, n, bias, self.slope, y),
                    8 => block::<S, 8>(simd, x, w, n, bias, self.slope, y),
                    2 => block::<S, 2>(simd, x, w, n, bias, self.slope, y),
                    _ => block::<S, 1>(simd, x, w, n, bias, self.slope, y),
                }
                first += width;
            }
        }
    }
}

/// The most vectors that so many columns fill, of those that leave half of the registers free; at least one.
#[inline(always)]
fn widest<S: Simd>(columns: usize) -> usize {
    let fits = |&n: &usize| n * S::F32_LANES <= columns && 2 * n <= S::REGISTER_COUNT;
    WIDTHS.into_iter().find(fits).unwrap_or(1)
}

/// The sums of `bias.len()` neighbouring columns.
#[inline(always)]
fn block<S: Simd, const NV: usize>(
    simd: S,
    x: &[f32],
    w: &[f32],
    stride: usize,
    bias: &[f32],
    slope: f32,
    y: &mut [f32],
) {
    let width = bias.len();
    let mut sums = load::<S, NV>(simd, bias);
    for (p, &x) in x.iter().enumerate() {
        let (factor, w) = (simd.splat_f32s(x), load::<S, NV>(simd, &w[p * stride..][..width]));
        for v in 0..NV {
            sums[v] = simd.mul_add_f32s(factor, w[v], sums[v]);
        }
    }
    store::<S, NV>(simd, sums, slope, y);
}

/// The vectors of a piece of a row, of which the last one may be filled in part.
///
/// A loop, because what `array::from_fn` calls is compiled without the instructions of `S`.
#[inline(always)]
fn load<S: Simd, const NV: usize>(simd: S, row: &[f32]) -> [S::f32s; NV] {
    let (whole, rest) = S::as_simd_f32s(row);
    let mut vectors = [simd.splat_f32s(0.0); NV];
    for (v, vector) in vectors.iter_mut().enumerate() {
        *vector = if v < whole.len() { whole[v] } else { simd.partial_load_f32s(rest) };
    }
    vectors
}

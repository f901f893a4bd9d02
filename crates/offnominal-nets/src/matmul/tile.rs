//! The blocked product: panels of packed columns, tiles of accumulators that stay in registers.

use super::pack::{self, Pack};
use pulp::{Simd, WithSimd};
use std::array::from_fn;

/// Vectors per panel.
const PANEL: usize = 2;

/// The left factor `[m, k]`.
#[derive(Clone, Copy)]
pub enum Left<'a> {
    /// Stored as it is.
    Rows(&'a [f32]),
    /// Stored transposed, `[k, m]`.
    Columns(&'a [f32]),
}

/// The right factor `[k, n]`.
#[derive(Clone, Copy)]
pub enum Right<'a> {
    /// Stored as it is.
    Rows(&'a [f32]),
    /// Stored transposed, `[n, k]`.
    Columns(&'a [f32]),
    /// Packed before, panel after panel.
    Packed(&'a [f32]),
}

/// c = leaky(bias + a·b).
pub struct Product<'a> {
    pub a: Left<'a>,
    pub b: Right<'a>,
    pub bias: Option<&'a [f32]>,
    pub slope: f32,
    pub c: &'a mut [f32],
    pub m: usize,
    pub k: usize,
    pub n: usize,
    pub pack: &'a mut Pack,
}

impl WithSimd for Product<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(mut self, simd: S) {
        // A tile of 8 × 2 vectors hides the latency of the multiply-add and fits 32 registers, 4 × 2 fits 16.
        if S::F32_LANES >= 16 { self.panels::<S, 8>(simd) } else { self.panels::<S, 4>(simd) }
    }
}

/// Columns of one panel.
#[derive(Clone, Copy)]
struct Span {
    first: usize,
    width: usize,
}

impl Span {
    /// The panels of so many columns.
    fn all<S: Simd>(n: usize) -> impl Iterator<Item = Span> {
        let most = PANEL * S::F32_LANES;
        (0..n).step_by(most).map(move |first| Span { first, width: (n - first).min(most) })
    }
}

impl Product<'_> {
    #[inline(always)]
    fn panels<S: Simd, const MR: usize>(&mut self, simd: S) {
        self.pack_left::<MR>();
        for span in Span::all::<S>(self.n) {
            if span.width <= S::F32_LANES {
                self.panel::<S, MR, 1>(simd, span);
            } else {
                self.panel::<S, MR, PANEL>(simd, span);
            }
        }
    }

    #[inline(always)]
    fn pack_left<const MR: usize>(&mut self) {
        let Left::Columns(a) = self.a else { return };
        let (m, k) = (self.m, self.k);
        let packed = pack::reserve(&mut self.pack.left, m.next_multiple_of(MR) * k);
        for (tile, out) in packed.chunks_exact_mut(MR * k).enumerate() {
            pack::columns::<MR>(a, m, tile * MR, out);
        }
    }

    #[inline(always)]
    fn panel<S: Simd, const MR: usize, const NV: usize>(&mut self, simd: S, span: Span) {
        let len = NV * S::F32_LANES * self.k;
        let packed = match self.b {
            Right::Packed(b) => &b[span.first * self.k..][..len],
            _ => {
                let packed = pack::reserve(&mut self.pack.right, len);
                self.b.pack::<S, NV>(simd, (self.k, self.n), span, packed);
                packed
            }
        };
        let b = pack::groups::<S, NV>(packed);
        let start = start::<S, NV>(simd, self.bias, span);
        let (m, k, n, slope) = (self.m, self.k, self.n, self.slope);
        for first in (0..m).step_by(MR) {
            let sums = match self.a {
                Left::Rows(a) => {
                    // Beyond the last row the tile repeats it; those sums are not stored.
                    let rows: [&[f32]; MR] = from_fn(|i| &a[(first + i).min(m - 1) * k..][..k]);
                    tile::<S, MR, NV>(simd, k, b, start, |p| from_fn(|i| rows[i][p]))
                }
                Left::Columns(_) => {
                    let packed = self.pack.left[first * k..][..MR * k].as_chunks::<MR>().0;
                    tile::<S, MR, NV>(simd, k, b, start, |p| packed[p])
                }
            };
            for (row, sums) in self.c[first * n..].chunks_exact_mut(n).zip(sums) {
                store::<S, NV>(simd, sums, slope, &mut row[span.first..][..span.width]);
            }
        }
    }
}

impl Right<'_> {
    /// Packs one panel of a `[k, n]` factor.
    #[inline(always)]
    fn pack<S: Simd, const NV: usize>(self, simd: S, (k, n): (usize, usize), span: Span, to: &mut [f32]) {
        match self {
            Right::Rows(b) => pack::panel::<S, NV>(simd, b, n, span.first, span.width, to),
            Right::Columns(b) => pack::rows(b, k, span.first, span.width, NV * S::F32_LANES, to),
            Right::Packed(b) => to.copy_from_slice(&b[span.first * k..][..to.len()]),
        }
    }
}

/// Packs a whole right factor `[k, n]`, panel after panel.
pub struct Packing<'a> {
    pub b: Right<'a>,
    pub k: usize,
    pub n: usize,
    pub to: &'a mut Vec<f32>,
}

impl WithSimd for Packing<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let Packing { b, k, n, to } = self;
        to.resize(n.next_multiple_of(S::F32_LANES) * k, 0.0);
        for span in Span::all::<S>(n) {
            let to = &mut to[span.first * k..];
            if span.width <= S::F32_LANES {
                b.pack::<S, 1>(simd, (k, n), span, &mut to[..S::F32_LANES * k]);
            } else {
                b.pack::<S, PANEL>(simd, (k, n), span, &mut to[..PANEL * S::F32_LANES * k]);
            }
        }
    }
}

/// What the sums of a panel start at.
#[inline(always)]
fn start<S: Simd, const NV: usize>(simd: S, bias: Option<&[f32]>, span: Span) -> [S::f32s; NV] {
    let Some(bias) = bias else { return [simd.splat_f32s(0.0); NV] };
    let bias = &bias[span.first..][..span.width];
    from_fn(|v| simd.partial_load_f32s(&bias[bias.len().min(v * S::F32_LANES)..]))
}

/// The sums of one tile.
#[inline(always)]
fn tile<S: Simd, const MR: usize, const NV: usize>(
    simd: S,
    k: usize,
    b: &[[S::f32s; NV]],
    start: [S::f32s; NV],
    a: impl Fn(usize) -> [f32; MR],
) -> [[S::f32s; NV]; MR] {
    let (mut sums, b) = ([start; MR], &b[..k]);
    for p in 0..k {
        let (a, b) = (a(p), b[p]);
        for i in 0..MR {
            let factor = simd.splat_f32s(a[i]);
            for v in 0..NV {
                sums[i][v] = simd.mul_add_f32s(factor, b[v], sums[i][v]);
            }
        }
    }
    sums
}

/// Writes leaky(sums) to a row of the result.
#[inline(always)]
pub(super) fn store<S: Simd, const NV: usize>(simd: S, sums: [S::f32s; NV], slope: f32, out: &mut [f32]) {
    let slope = simd.splat_f32s(slope);
    let results = sums.map(|sum| simd.max_f32s(sum, simd.mul_f32s(sum, slope)));
    let (whole, rest) = S::as_mut_simd_f32s(out);
    let n = whole.len();
    whole.iter_mut().zip(results).for_each(|(out, result)| *out = result);
    if !rest.is_empty() {
        simd.partial_store_f32s(rest, results[n]);
    }
}

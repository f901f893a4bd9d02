//! Copies parts of the factors into the order in which the inner loop reads them.

use pulp::{Simd, bytemuck};

/// Scratch memory of the products; it grows to the largest product seen and is then reused.
#[derive(Debug, Clone, Default)]
pub struct Pack {
    pub(super) left: Vec<f32>,
    pub(super) right: Vec<f32>,
}

/// The first `len` numbers of a scratch vector, grown if needed.
pub(super) fn reserve(scratch: &mut Vec<f32>, len: usize) -> &mut [f32] {
    if scratch.len() < len {
        scratch.resize(len, 0.0);
    }
    &mut scratch[..len]
}

/// Packs up to `MR` columns of a row-major matrix with `stride` columns; each packed row is filled up with zeros.
#[inline(always)]
pub(super) fn columns<const MR: usize>(from: &[f32], stride: usize, first: usize, to: &mut [f32]) {
    for (row, out) in from.chunks_exact(stride).zip(to.as_chunks_mut::<MR>().0) {
        let row = &row[first..];
        // A copy of known length is two instructions, any other a call.
        *out = *row.first_chunk().unwrap_or(&std::array::from_fn(|i| row.get(i).copied().unwrap_or(0.0)));
    }
}

/// Packs up to `NV` vectors of columns.
#[inline(always)]
pub(super) fn panel<S: Simd, const NV: usize>(
    simd: S,
    from: &[f32],
    stride: usize,
    first: usize,
    width: usize,
    to: &mut [f32],
) {
    let to: &mut [S::f32s] = bytemuck::cast_slice_mut(to);
    for (row, out) in from.chunks_exact(stride).zip(to.as_chunks_mut::<NV>().0) {
        let (whole, rest) = S::as_simd_f32s(&row[first..first + width]);
        let n = whole.len();
        out.iter_mut().zip(whole).for_each(|(out, v)| *out = *v);
        if n < NV {
            out[n] = simd.partial_load_f32s(rest);
        }
    }
}

/// Packs `width` rows of a row-major matrix with `stride` columns as the columns of the packed one.
#[inline(always)]
pub(super) fn rows(from: &[f32], stride: usize, first: usize, width: usize, padded: usize, to: &mut [f32]) {
    to.fill(0.0);
    for (j, row) in from[first * stride..].chunks_exact(stride).take(width).enumerate() {
        for (out, &value) in to[j..].iter_mut().step_by(padded).zip(row) {
            *out = value;
        }
    }
}

/// A packed matrix as one group of `NV` vectors for each inner index.
#[inline(always)]
pub(super) fn groups<S: Simd, const NV: usize>(packed: &[f32]) -> &[[S::f32s; NV]] {
    let vectors: &[S::f32s] = bytemuck::cast_slice(packed);
    vectors.as_chunks::<NV>().0
}

//! A convolution in which each plane has a filter of its own, with the batch norm that follows it folded in.

use super::convolution::{Border, Folded, Map, Style, interleaved};
use crate::{TensorError, Tensors};

/// Planes that are added up at a time; the number of planes is a multiple of it.
const LANES: usize = 16;

/// One square filter per plane.
#[derive(Debug, Clone)]
pub(super) struct Depthwise {
    kernel: usize,
    stride: usize,
    border: Border,
    /// `[kernel, kernel, planes]`.
    weights: Vec<f32>,
    biases: Vec<f32>,
}

impl Depthwise {
    /// Reads `<conv>.weight` `[planes, 1, kernel, kernel]` and the batch norm `<norm>.*`.
    pub fn read(
        from: &Tensors,
        [conv, norm]: [&str; 2],
        [planes, kernel]: [usize; 2],
        Style { stride, border, epsilon }: Style,
    ) -> Result<Depthwise, TensorError> {
        let raw = from.expect(&format!("{conv}.weight"), &[planes, 1, kernel, kernel])?;
        let Folded { factor, shift } = Folded::read(from, norm, planes, epsilon)?;
        // Filters of one plane each, `[planes, kernel²]`, are one filter of so many planes, `[1, planes, kernel²]`.
        let mut weights = interleaved(raw, 1, planes);
        weights.iter_mut().enumerate().for_each(|(i, w)| *w *= factor[i % planes]);
        Ok(Depthwise { kernel, stride, border, weights, biases: shift })
    }

    /// The filters on a map.
    pub fn apply(&self, map: &Map) -> Map {
        let planes = map.planes;
        let ((top, height), (left, width)) = (
            self.border.of(map.height, self.kernel, self.stride),
            self.border.of(map.width, self.kernel, self.stride),
        );
        let mut values = vec![0.0; height * width * planes];
        crate::simd(
            #[inline(always)]
            || {
                for (at, out) in values.chunks_exact_mut(planes).enumerate() {
                    let (row, column) = (at / width * self.stride, at % width * self.stride);
                    let rows = covered(row, top, self.kernel, map.height);
                    let columns = covered(column, left, self.kernel, map.width);
                    self.place(map, [rows, columns], out);
                }
            },
        );
        Map { height, width, planes, values }
    }

    /// All planes of a place: `rows` and `columns` are parts of the filter with the first pixel under it.
    #[inline(always)]
    fn place(&self, map: &Map, [rows, columns]: [Covered; 2], out: &mut [f32]) {
        let planes = map.planes;
        for (block, out) in out.as_chunks_mut::<LANES>().0.iter_mut().enumerate() {
            let from = block * LANES;
            let mut sums: [f32; LANES] = lanes(&self.biases, from);
            for line in 0..rows.n {
                let filter = ((rows.first + line) * self.kernel + columns.first) * planes + from;
                let pixels = ((rows.pixel + line) * map.width + columns.pixel) * planes + from;
                for tap in 0..columns.n {
                    let weights = lanes(&self.weights, filter + tap * planes);
                    let pixels = lanes(&map.values, pixels + tap * planes);
                    (0..LANES).for_each(|i| sums[i] = weights[i].mul_add(pixels[i], sums[i]));
                }
            }
            *out = sums;
        }
    }
}

/// The part of a filter that lies on the image, along one axis.
#[derive(Clone, Copy)]
struct Covered {
    /// First row or column of the filter.
    first: usize,
    /// What lies under it.
    pixel: usize,
    /// How many.
    n: usize,
}

#[inline(always)]
fn covered(at: usize, before: usize, kernel: usize, side: usize) -> Covered {
    let first = before.saturating_sub(at);
    let pixel = at + first - before;
    Covered { first, pixel, n: (kernel - first).min(side.saturating_sub(pixel)) }
}

#[inline(always)]
fn lanes(of: &[f32], from: usize) -> [f32; LANES] {
    *of[from..].first_chunk().expect("planes are a multiple of the lanes")
}

//! A convolution with the batch norm that follows it folded in, on images whose planes lie side by side.

use super::linear::Linear;
use crate::matmul::Pack;
use crate::{TensorError, Tensors};

/// An image of numbers, `[height, width, planes]`.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct Map {
    pub height: usize,
    pub width: usize,
    pub planes: usize,
    pub values: Vec<f32>,
}

/// Square filters with a stride and a border of zeros.
#[derive(Debug, Clone)]
pub(super) struct Convolution {
    kernel: usize,
    stride: usize,
    planes: usize,
    filters: Linear,
}

impl Convolution {
    /// Reads `<conv>.weight` `[filters, planes, kernel, kernel]` and the batch norm `<norm>.*`.
    pub fn read(
        from: &Tensors,
        [conv, norm]: [&str; 2],
        [filters, planes, kernel]: [usize; 3],
        stride: usize,
    ) -> Result<Convolution, TensorError> {
        let raw = from.expect(&format!("{conv}.weight"), &[filters, planes, kernel, kernel])?;
        let of = |what: &str| from.expect(&format!("{norm}.{what}"), &[filters]);
        let (scale, shift) = (of("weight")?, of("bias")?);
        let (mean, variance) = (of("running_mean")?, of("running_var")?);
        let factor: Vec<f32> = scale.iter().zip(variance).map(|(s, v)| s / (v + 1e-5).sqrt()).collect();
        let rows = interleaved(raw, filters, planes);
        let patch = rows.len() / filters;
        let weights: Vec<f32> = rows.iter().enumerate().map(|(i, w)| w * factor[i / patch]).collect();
        let biases = (0..filters).map(|f| shift[f] - mean[f] * factor[f]).collect();
        Ok(Convolution { kernel, stride, planes, filters: Linear::new(&weights, biases) })
    }

    /// The filters on a map.
    pub fn apply(&self, map: &Map, pack: &mut Pack) -> Map {
        let border = self.kernel / 2;
        let places = |side: usize| (side + 2 * border - self.kernel) / self.stride + 1;
        let (height, width) = (places(map.height), places(map.width));
        let patch = self.kernel * self.kernel * self.planes;
        let mut patches = vec![0.0; height * width * patch];
        for (at, patch) in patches.chunks_exact_mut(patch).enumerate() {
            self.gather(map, (at / width * self.stride, at % width * self.stride), patch);
        }
        let values = self.filters.apply(&patches, pack);
        Map { height, width, planes: self.filters.outputs(), values }
    }

    /// The numbers under a filter whose corner lies `border` before (row, column).
    fn gather(&self, map: &Map, (row, column): (usize, usize), patch: &mut [f32]) {
        let (border, run) = (self.kernel / 2, self.kernel * self.planes);
        for (line, out) in patch.chunks_exact_mut(run).enumerate() {
            let Some(y) = (row + line).checked_sub(border).filter(|y| *y < map.height) else { continue };
            let first = border.saturating_sub(column);
            let last = self.kernel.min(map.width + border - column);
            let from = (y * map.width + column + first - border) * self.planes;
            let n = (last - first) * self.planes;
            out[first * self.planes..][..n].copy_from_slice(&map.values[from..from + n]);
        }
    }
}

/// `[filters, planes, kernel, kernel]` to `[filters, kernel, kernel, planes]`.
pub(super) fn interleaved(weights: &[f32], filters: usize, planes: usize) -> Vec<f32> {
    let area = weights.len() / (filters * planes);
    let at = |i: usize| (i / (area * planes), i / planes % area, i % planes);
    (0..weights.len()).map(at).map(|(f, p, c)| weights[(f * planes + c) * area + p]).collect()
}

impl Map {
    /// What is negative becomes zero.
    pub fn rectified(mut self) -> Map {
        self.values.iter_mut().for_each(|v| *v = v.max(0.0));
        self
    }

    /// The largest of 3 × 3 numbers, every second place.
    pub fn pooled(&self) -> Map {
        let (height, width) = (self.height.div_ceil(2), self.width.div_ceil(2));
        let mut values = vec![f32::NEG_INFINITY; height * width * self.planes];
        for (at, out) in values.chunks_exact_mut(self.planes).enumerate() {
            let (row, column) = (at / width * 2, at % width * 2);
            for y in row.saturating_sub(1)..(row + 2).min(self.height) {
                for x in column.saturating_sub(1)..(column + 2).min(self.width) {
                    let from = (y * self.width + x) * self.planes;
                    let pixel = &self.values[from..from + self.planes];
                    out.iter_mut().zip(pixel).for_each(|(o, v)| *o = o.max(*v));
                }
            }
        }
        Map { height, width, planes: self.planes, values }
    }
}

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

/// Where the zeros around an image lie.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Border {
    /// As many on each side, as PyTorch has it.
    Even,
    /// As few as give side / stride places, rounded up; an odd one to the right and at the bottom, as TensorFlow has it.
    Same,
}

impl Border {
    /// Zeros before the first pixel of a side, and the number of places of a filter along it.
    pub fn of(self, side: usize, kernel: usize, stride: usize) -> (usize, usize) {
        match self {
            Border::Even => (kernel / 2, (side + 2 * (kernel / 2) - kernel) / stride + 1),
            Border::Same => {
                let places = side.div_ceil(stride);
                (((places - 1) * stride + kernel).saturating_sub(side) / 2, places)
            }
        }
    }
}

/// A batch norm as a factor and a shift per plane.
pub(super) struct Folded {
    pub factor: Vec<f32>,
    pub shift: Vec<f32>,
}

impl Folded {
    /// Reads `<norm>.{weight,bias,running_mean,running_var}`.
    pub fn read(from: &Tensors, norm: &str, planes: usize, epsilon: f32) -> Result<Folded, TensorError> {
        let of = |what: &str| from.expect(&format!("{norm}.{what}"), &[planes]);
        let (scale, shift, mean, variance) =
            (of("weight")?, of("bias")?, of("running_mean")?, of("running_var")?);
        let factor: Vec<f32> = scale.iter().zip(variance).map(|(s, v)| s / (v + epsilon).sqrt()).collect();
        let shift = (0..planes).map(|f| shift[f] - mean[f] * factor[f]).collect();
        Ok(Folded { factor, shift })
    }
}

/// How filters move, and what the batch norm after them adds to a variance.
#[derive(Debug, Clone, Copy)]
pub(super) struct Style {
    pub stride: usize,
    pub border: Border,
    pub epsilon: f32,
}

/// Square filters with a stride and a border of zeros.
#[derive(Debug, Clone)]
pub(super) struct Convolution {
    kernel: usize,
    style: Style,
    planes: usize,
    filters: Linear,
}

impl Convolution {
    /// Reads `<conv>.weight` `[filters, planes, kernel, kernel]` and the batch norm `<norm>.*`.
    pub fn read(
        from: &Tensors,
        [conv, norm]: [&str; 2],
        [filters, planes, kernel]: [usize; 3],
        style: Style,
    ) -> Result<Convolution, TensorError> {
        let raw = from.expect(&format!("{conv}.weight"), &[filters, planes, kernel, kernel])?;
        let Folded { factor, shift } = Folded::read(from, norm, filters, style.epsilon)?;
        let rows = interleaved(raw, filters, planes);
        let patch = rows.len() / filters;
        let weights: Vec<f32> = rows.iter().enumerate().map(|(i, w)| w * factor[i / patch]).collect();
        Ok(Convolution { kernel, style, planes, filters: Linear::new(&weights, shift) })
    }

    /// The filters on a map.
    pub fn apply(&self, map: &Map, pack: &mut Pack) -> Map {
        let Style { stride, border, .. } = self.style;
        let ((top, height), (left, width)) =
            (border.of(map.height, self.kernel, stride), border.of(map.width, self.kernel, stride));
        let values = if self.kernel == 1 && stride == 1 {
            self.filters.apply(&map.values, pack)
        } else {
            let patch = self.kernel * self.kernel * self.planes;
            let mut patches = vec![0.0; height * width * patch];
            for (at, patch) in patches.chunks_exact_mut(patch).enumerate() {
                self.gather(map, (at / width * stride, at % width * stride), (top, left), patch);
            }
            self.filters.apply(&patches, pack)
        };
        Map { height, width, planes: self.filters.outputs(), values }
    }

    /// The numbers under a filter whose corner lies `top` above and `left` before (row, column).
    fn gather(
        &self,
        map: &Map,
        (row, column): (usize, usize),
        (top, left): (usize, usize),
        patch: &mut [f32],
    ) {
        let run = self.kernel * self.planes;
        for (line, out) in patch.chunks_exact_mut(run).enumerate() {
            let Some(y) = (row + line).checked_sub(top).filter(|y| *y < map.height) else { continue };
            let first = left.saturating_sub(column);
            let last = self.kernel.min(map.width + left - column);
            let from = (y * map.width + column + first - left) * self.planes;
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

    /// What is negative becomes zero, and what is above six, six.
    pub fn rectified_to_six(mut self) -> Map {
        self.values.iter_mut().for_each(|v| *v = v.clamp(0.0, 6.0));
        self
    }

    /// The mean of each plane.
    pub fn means(&self) -> Vec<f32> {
        let (mut means, places) = (vec![0.0; self.planes], (self.height * self.width) as f32);
        for place in self.values.chunks_exact(self.planes) {
            means.iter_mut().zip(place).for_each(|(m, v)| *m += v / places);
        }
        means
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

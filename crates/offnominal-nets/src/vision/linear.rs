//! Layers of frozen networks, as published checkpoints have them: dense, norm, and the two bells.

pub use crate::matmul::Pack;
use crate::matmul::Packed;
use crate::{TensorError, Tensors};

/// A dense layer that serves many images: its weights are packed once.
#[derive(Debug, Clone)]
pub struct Linear {
    weights: Packed,
    biases: Vec<f32>,
    inputs: usize,
}

impl Linear {
    /// Reads `<name>.weight` `[outputs, inputs]` and `<name>.bias`, if there is one.
    pub(super) fn read(
        from: &Tensors,
        name: &str,
        [outputs, inputs]: [usize; 2],
        biased: bool,
    ) -> Result<Linear, TensorError> {
        let weights = from.expect(&format!("{name}.weight"), &[outputs, inputs])?;
        let biases = match biased {
            true => from.expect(&format!("{name}.bias"), &[outputs])?.to_vec(),
            false => vec![0.0; outputs],
        };
        Ok(Linear::new(weights, biases))
    }

    /// Reads several layers on the same input as one, outputs side by side.
    pub(super) fn joined(from: &Tensors, names: &[String], shape: [usize; 2]) -> Result<Linear, TensorError> {
        let (mut weights, mut biases) = (Vec::new(), Vec::new());
        for name in names {
            weights.extend_from_slice(from.expect(&format!("{name}.weight"), &shape)?);
            biases.extend_from_slice(from.expect(&format!("{name}.bias"), &shape[..1])?);
        }
        Ok(Linear::new(&weights, biases))
    }

    /// From weights `[outputs, inputs]`.
    pub fn new(weights: &[f32], biases: Vec<f32>) -> Linear {
        let mut packed = Packed::default();
        packed.set(&transposed(weights, biases.len()), biases.len());
        Linear { inputs: weights.len() / biases.len(), weights: packed, biases }
    }

    /// Number of outputs.
    pub fn outputs(&self) -> usize {
        self.biases.len()
    }

    /// Rows through the layer.
    ///
    /// # Panics
    /// If the rows do not have the width of the inputs.
    pub fn apply(&self, x: &[f32], pack: &mut Pack) -> Vec<f32> {
        let mut y = vec![0.0; x.len() / self.inputs * self.outputs()];
        self.weights.product(x, Some(&self.biases), &mut y, pack);
        y
    }
}

/// `[outputs, inputs]` to `[inputs, outputs]`.
fn transposed(weights: &[f32], outputs: usize) -> Vec<f32> {
    let inputs = weights.len() / outputs;
    (0..weights.len()).map(|i| weights[i % outputs * inputs + i / outputs]).collect()
}

/// Mean zero and deviation one over each row, then a scale and a shift per column.
#[derive(Debug, Clone)]
pub(super) struct Norm {
    scale: Vec<f32>,
    shift: Vec<f32>,
    epsilon: f32,
}

impl Norm {
    pub fn read(from: &Tensors, name: &str, width: usize, epsilon: f32) -> Result<Norm, TensorError> {
        let read = |what: &str| Ok(from.expect(&format!("{name}.{what}"), &[width])?.to_vec());
        Ok(Norm { scale: read("weight")?, shift: read("bias")?, epsilon })
    }

    pub fn apply(&self, rows: &[f32]) -> Vec<f32> {
        let (width, mut out) = (self.scale.len(), rows.to_vec());
        for row in out.chunks_exact_mut(width) {
            let mean = row.iter().sum::<f32>() / width as f32;
            let variance = row.iter().map(|v| (v - mean).powi(2)).sum::<f32>() / width as f32;
            let factor = 1.0 / (variance + self.epsilon).sqrt();
            let parts = row.iter_mut().zip(self.scale.iter().zip(&self.shift));
            parts.for_each(|(v, (scale, shift))| *v = (*v - mean) * factor * scale + shift);
        }
        out
    }
}

/// Which bell a network has between its dense layers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Bell {
    /// x Φ(x).
    Exact,
    /// x / (1 + e^(−1.702 x)), as CLIP has it.
    Quick,
}

impl Bell {
    pub fn apply(self, values: &mut [f32]) {
        const ROOT: f32 = std::f32::consts::FRAC_1_SQRT_2;
        crate::simd(
            #[inline(always)]
            || match self {
                Bell::Exact => values.iter_mut().for_each(|v| *v *= 0.5 * (1.0 + erf(*v * ROOT))),
                Bell::Quick => values.iter_mut().for_each(|v| *v *= crate::sigmoid(1.702 * *v)),
            },
        );
    }
}

/// The error function to 1.5e-7 (Abramowitz and Stegun, 7.1.26).
#[inline(always)]
fn erf(x: f32) -> f32 {
    let t = 1.0 / (1.0 + 0.327_591_1 * x.abs());
    let poly = ((((1.061_405_4 * t - 1.453_152) * t + 1.421_413_7) * t - 0.284_496_74) * t + 0.254_829_6) * t;
    (1.0 - poly * crate::exp(-x * x)).copysign(x)
}

/// e^row / Σ, in place.
pub(super) fn softmax(row: &mut [f32]) {
    let most = row.iter().copied().fold(f32::NEG_INFINITY, f32::max);
    crate::simd(
        #[inline(always)]
        || row.iter_mut().for_each(|v| *v = crate::exp(*v - most)),
    );
    let sum: f32 = row.iter().sum();
    row.iter_mut().for_each(|v| *v /= sum);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn closed_forms() {
        for (x, want) in [(0.0, 0.0), (0.5, 0.520_499_9), (-1.0, -0.842_700_8), (3.0, 0.999_977_9)] {
            assert!((erf(x) - want).abs() < 1e-6, "{x}");
        }
        let mut row = [0.0, 2.0_f32.ln()];
        softmax(&mut row);
        assert!((row[1] - 2.0 / 3.0).abs() < 1e-6);
        let layer = Linear::new(&[1.0, 2.0, 3.0, 4.0], vec![0.5, -0.5]);
        assert_eq!(layer.apply(&[1.0, 10.0], &mut Pack::default()), [21.5, 42.5]);
    }
}

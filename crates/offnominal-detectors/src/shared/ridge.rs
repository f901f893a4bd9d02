//! Linear regression with a penalty: what of the next observation is plain arithmetic.
//!
//! W = argmin Σ_rows ‖(x, 1) W − t‖² + n·λ ‖W‖², solved exactly by the normal equations in double precision.
//!
//! Much of a robot's step is linear (positions move by velocity times the clock), and a regression learns that from
//! a few hundred transitions to a precision that a network does not reach. Networks are left with the rest.

use super::cholesky::Cholesky;
use offnominal_core::archive::{ArchiveError, Reader, Writer};
use std::ops::Range;

/// Weights from inputs to targets.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Ridge {
    /// `[n_inputs + 1, d]`; the last row is the constant.
    weights: Vec<f32>,
    d: usize,
}

/// Rows to learn from: inputs `[n, n_inputs]`, targets `[n, d]`.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Table<'a> {
    pub inputs: &'a [f32],
    pub targets: &'a [f32],
    pub n_inputs: usize,
    pub d: usize,
}

impl Ridge {
    /// Learns from the rows of the ranges given; `penalty` is λ, positive.
    pub fn fit(table: Table<'_>, rows: &[Range<u32>], penalty: f64) -> Ridge {
        let (k, d) = (table.n_inputs + 1, table.d);
        let (mut gram, mut cross) = (vec![0.0; k * k], vec![0.0; k * d]);
        let (mut n, mut x) = (0, vec![1.0; k]);
        for row in rows.iter().cloned().flatten().map(|row| row as usize) {
            let input = &table.inputs[row * table.n_inputs..(row + 1) * table.n_inputs];
            x.iter_mut().zip(input).for_each(|(x, &v)| *x = f64::from(v));
            let target = &table.targets[row * d..(row + 1) * d];
            for (i, &xi) in x.iter().enumerate() {
                add(&mut gram[i * k..(i + 1) * k], xi, x.iter().copied());
                add(&mut cross[i * d..(i + 1) * d], xi, target.iter().map(|&t| f64::from(t)));
            }
            n += 1;
        }
        (0..k).for_each(|i| gram[i * k + i] += penalty * f64::from(n.max(1)));
        Ridge { weights: solve(&Cholesky::of(gram, k), &cross, d), d }
    }

    /// Writes the weights.
    pub fn save(&self, to: &mut Writer<'_>) {
        to.put("linear", &self.weights);
    }

    /// Reads the weights from so many inputs to so many targets.
    pub fn load(from: &Reader<'_>, n_inputs: usize, d: usize) -> Result<Ridge, ArchiveError> {
        Ok(Ridge { weights: from.exactly("linear", (n_inputs + 1) * d)?.to_vec(), d })
    }

    /// The weight of each target for one more unit of an input.
    pub fn slopes(&self, input: usize) -> &[f32] {
        &self.weights[input * self.d..(input + 1) * self.d]
    }

    /// Subtracts the prediction for `input` from `target`.
    pub fn subtract(&self, input: &[f32], target: &mut [f32]) {
        let rows = self.weights.chunks_exact(self.d);
        for (weights, x) in rows.zip(input.iter().chain(&[1.0])) {
            target.iter_mut().zip(weights).for_each(|(t, w)| *t -= x * w);
        }
    }
}

fn add(sums: &mut [f64], factor: f64, values: impl Iterator<Item = f64>) {
    sums.iter_mut().zip(values).for_each(|(sum, v)| *sum += factor * v);
}

/// Solves for one column after another.
fn solve(gram: &Cholesky, cross: &[f64], d: usize) -> Vec<f32> {
    let mut weights = vec![0.0; cross.len()];
    for j in 0..d {
        let mut column: Vec<f64> = cross.iter().skip(j).step_by(d).copied().collect();
        gram.solve(&mut column);
        column.iter().enumerate().for_each(|(i, &w)| weights[i * d + j] = w as f32);
    }
    weights
}

#[cfg(test)]
mod tests {
    use super::*;
    use offnominal_core::Rng;

    #[test]
    fn a_linear_map_is_found_to_rounding() {
        let (n, mut rng) = (50, Rng::new(1));
        let mut inputs = vec![0.0; n * 2];
        rng.fill_normal(&mut inputs);
        let targets: Vec<f32> =
            inputs.chunks_exact(2).flat_map(|x| [2.0 * x[0] - x[1] + 3.0, 0.5 * x[1]]).collect();
        let table = Table { inputs: &inputs, targets: &targets, n_inputs: 2, d: 2 };
        let ridge = Ridge::fit(table, &[0..20, 30..50], 1e-9);
        let mut target = targets[50..52].to_vec();
        ridge.subtract(&inputs[50..52], &mut target);
        assert!(target.iter().all(|t| t.abs() < 1e-5), "{target:?}");
    }

    #[test]
    fn the_penalty_shrinks() {
        // Rows x = ±1 with t = x: the least squares are (1 − w)² + λ w², so w = 1 / (1 + λ).
        let (inputs, targets) = ([1.0, -1.0], [1.0, -1.0]);
        let table = Table { inputs: &inputs, targets: &targets, n_inputs: 1, d: 1 };
        let ridge = Ridge::fit(table, std::slice::from_ref(&(0..2)), 0.25);
        assert!((ridge.weights[0] - 0.8).abs() < 1e-6 && ridge.weights[1].abs() < 1e-6, "{ridge:?}");
    }
}

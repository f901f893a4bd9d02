//! How residuals follow observations and actions: the features by which named faults differ.
//!
//! With w_t whitened residuals of d channels and x_t the k numbers that the ensemble reads, W minimises
//! Σ_t |w_t − Wᵀ [1, x_t]|² + λ |W|². The features are W in units of the root mean square of w, and the part of w that
//! it leaves. A heavier body errs where the action is large, friction where the speed is: the rows of W say which.

use crate::shared::cholesky::Cholesky;

/// λ; x is in standard units, so that two steps outweigh it.
const RIDGE: f64 = 2.0;
/// The largest whitened residual that counts.
const MOST: f64 = 30.0;
/// The most features; where there would be more, only the constant part of W is kept.
const MOST_FEATURES: usize = 2048;
/// Added to sums of squares before they divide.
const QUIET: f64 = 1e-6;

/// The widths of a response.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Response {
    /// Rows of W: the constant, and the inputs.
    k: usize,
    d: usize,
}

/// What a pass needs; allocated once.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Scratch {
    x: Vec<f64>,
    gram: Vec<f64>,
    /// Wᵀ, `[d, k]`.
    slopes: Vec<f64>,
}

impl Response {
    /// The response of d channels to so many inputs.
    pub fn new(n_inputs: usize, d: usize) -> Response {
        let k = 1 + n_inputs;
        Response { k: if k * d <= MOST_FEATURES { k } else { 1 }, d }
    }

    /// Number of features.
    pub fn n_features(&self) -> usize {
        self.k * self.d + 1
    }

    pub fn scratch(&self) -> Scratch {
        let Response { k, d } = *self;
        Scratch { x: vec![0.0; k], gram: vec![0.0; k * k], slopes: vec![0.0; d * k] }
    }

    /// Writes the features of whitened residuals, `[n, d]`, of steps of which the ensemble read so many inputs each.
    pub fn of(&self, w: &[f64], inputs: &[f32], out: &mut [f32], scratch: &mut Scratch) {
        let Response { k, d } = *self;
        let n = w.len() / d;
        self.fit(w, inputs, scratch);
        let total: f64 = w.iter().map(|w| limited(*w).powi(2)).sum::<f64>() + QUIET;
        let size = (total / (n * d) as f64).sqrt();
        out.iter_mut().zip(&scratch.slopes).for_each(|(out, slope)| *out = (slope / size) as f32);
        let mut left = 0.0;
        for (w, input) in w.chunks_exact(d).zip(inputs.chunks_exact(inputs.len() / n)) {
            read(input, &mut scratch.x);
            for (w, row) in w.iter().zip(scratch.slopes.chunks_exact(k)) {
                let expected: f64 = row.iter().zip(&scratch.x).map(|(a, x)| a * x).sum();
                left += (limited(*w) - expected).powi(2);
            }
        }
        out[k * d] = (left / total) as f32;
    }

    /// Leaves Wᵀ in the scratch.
    fn fit(&self, w: &[f64], inputs: &[f32], scratch: &mut Scratch) {
        let Response { k, d } = *self;
        let Scratch { x, gram, slopes } = scratch;
        gram.fill(0.0);
        slopes.fill(0.0);
        gram.iter_mut().step_by(k + 1).for_each(|entry| *entry = RIDGE);
        for (w, input) in w.chunks_exact(d).zip(inputs.chunks_exact(inputs.len() * d / w.len())) {
            read(input, x);
            for (row, a) in gram.chunks_exact_mut(k).zip(&*x) {
                row.iter_mut().zip(&*x).for_each(|(entry, b)| *entry += a * b);
            }
            for (row, w) in slopes.chunks_exact_mut(k).zip(w) {
                row.iter_mut().zip(&*x).for_each(|(entry, x)| *entry += x * limited(*w));
            }
        }
        let solver = Cholesky::of(std::mem::take(gram), k);
        slopes.chunks_exact_mut(k).for_each(|row| solver.solve(row));
        *gram = solver.into_matrix();
    }
}

/// The constant one, and as many inputs as there is room for.
fn read(input: &[f32], x: &mut [f64]) {
    x[0] = 1.0;
    x[1..].iter_mut().zip(input).for_each(|(x, input)| *x = f64::from(*input).clamp(-MOST, MOST));
}

fn limited(w: f64) -> f64 {
    w.clamp(-MOST, MOST)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn features(w: &[f64], inputs: &[f32], d: usize) -> Vec<f32> {
        let response = Response::new(inputs.len() * d / w.len(), d);
        let (mut out, mut scratch) = (vec![f32::NAN; response.n_features()], response.scratch());
        response.of(w, inputs, &mut out, &mut scratch);
        response.of(w, inputs, &mut out, &mut scratch);
        out
    }

    #[test]
    fn a_slope_and_a_constant_in_closed_form() {
        // Σ x = 0, so that both are shrunk on their own: 40 / (40 + 2) of each.
        let x: Vec<f32> = (0..40).map(|t| if t % 2 == 0 { 1.0 } else { -1.0 }).collect();
        let w: Vec<f64> = x.iter().flat_map(|&x| [2.0 * f64::from(x), 1.0]).collect();
        let found = features(&w, &x, 2);
        let size = 2.5_f64.sqrt();
        let want = [0.0, 2.0 / size, 1.0 / size, 0.0].map(|v| (v * 40.0 / 42.0) as f32);
        for (found, want) in found.iter().zip(want) {
            assert!((found - want).abs() < 1e-5, "{found} {want}");
        }
        assert!((f64::from(found[4]) - (2.0_f64 / 42.0).powi(2)).abs() < 1e-6, "{found:?}");
    }

    #[test]
    fn one_step_and_many_channels_are_no_error() {
        assert!(features(&[5.0, -1e9], &[1.0, 2.0, 3.0], 2).iter().all(|v| v.is_finite()));
        let wide = Response::new(400, 376);
        assert_eq!(wide.n_features(), 377);
        let (mut out, mut scratch) = (vec![0.0; 377], wide.scratch());
        wide.of(&[1.0; 376], &[0.5; 400], &mut out, &mut scratch);
        assert!((out[0] - 1.0 / 3.0).abs() < 1e-5, "{}", out[0]);
    }
}

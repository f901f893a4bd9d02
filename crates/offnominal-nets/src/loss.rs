//! Losses with their derivatives. Each returns its value and overwrites the derivatives.

use crate::math::{exp, sigmoid, simd, softplus};

/// Mean of (prediction − target)² over all numbers.
///
/// # Panics
/// If the lengths differ.
pub fn mse(prediction: &[f32], target: &[f32], d_prediction: &mut [f32]) -> f64 {
    assert_eq!((prediction.len(), d_prediction.len()), (target.len(), target.len()), "lengths");
    let (mut sum, factor) = (0.0, 2.0 / prediction.len() as f32);
    for ((p, t), d) in prediction.iter().zip(target).zip(d_prediction) {
        let error = p - t;
        sum += f64::from(error * error);
        *d = factor * error;
    }
    sum / prediction.len() as f64
}

/// Mean Huber loss with threshold 1: ½ e² for errors up to 1, |e| − ½ beyond, so that the derivatives are bounded.
///
/// # Panics
/// If the lengths differ.
pub fn huber(prediction: &[f32], target: &[f32], d_prediction: &mut [f32]) -> f64 {
    assert_eq!((prediction.len(), d_prediction.len()), (target.len(), target.len()), "lengths");
    let (mut sum, factor) = (0.0, 1.0 / prediction.len() as f32);
    for ((p, t), d) in prediction.iter().zip(target).zip(d_prediction) {
        let error = p - t;
        let clipped = error.clamp(-1.0, 1.0);
        sum += f64::from(clipped * (error - 0.5 * clipped));
        *d = factor * clipped;
    }
    sum / prediction.len() as f64
}

/// Mean cross-entropy of yes-or-no outcomes: ln(1 + eᶻ) − t z, where 1 / (1 + e⁻ᶻ) is the predicted chance and t is 0
/// or 1.
///
/// # Panics
/// If the lengths differ.
pub fn logistic(prediction: &[f32], target: &[f32], d_prediction: &mut [f32]) -> f64 {
    assert_eq!((prediction.len(), d_prediction.len()), (target.len(), target.len()), "lengths");
    let (mut sum, factor) = (0.0, 1.0 / prediction.len() as f32);
    for ((&z, &t), d) in prediction.iter().zip(target).zip(d_prediction) {
        sum += f64::from(softplus(z) - t * z);
        *d = factor * (sigmoid(z) - t);
    }
    sum / prediction.len() as f64
}

/// Negative log-likelihood of independent normals, without its constant, averaged over all targets.
///
/// ½ (log σ² + (μ − t)² / σ²). A row of the prediction holds the d means, then the d logarithms of the variances; a
/// row of the target holds d numbers, and so the derivatives are laid out like the prediction.
///
/// # Panics
/// If the lengths do not fit.
pub fn gaussian_nll(prediction: &[f32], target: &[f32], d: usize, d_prediction: &mut [f32]) -> f64 {
    assert_eq!((prediction.len(), d_prediction.len()), (2 * target.len(), 2 * target.len()), "lengths");
    let (mut sum, factor) = (0.0, 1.0 / target.len() as f32);
    let rows = prediction.chunks_exact(2 * d).zip(d_prediction.chunks_exact_mut(2 * d));
    for ((row, d_row), target) in rows.zip(target.chunks_exact(d)) {
        let (d_mean, d_log_var) = d_row.split_at_mut(d);
        for j in 0..d {
            let (error, log_var) = (row[j] - target[j], row[d + j]);
            let precise = error * exp(-log_var);
            sum += 0.5 * f64::from(log_var + error * precise);
            d_mean[j] = factor * precise;
            d_log_var[j] = 0.5 * factor * (1.0 - error * precise);
        }
    }
    sum / target.len() as f64
}

/// Quantile Huber loss with threshold 1 (Dabney et al. 2018; Kuznetsov et al. 2020, equations 8 to 10).
///
/// A row of the prediction holds `n` quantiles at the levels (2i + 1) / 2n, a row of the target `m` equally likely
/// values; the loss is averaged over rows, quantiles and values.
///
/// # Panics
/// If the lengths do not fit.
pub fn quantile_huber(
    prediction: &[f32],
    n: usize,
    target: &[f32],
    m: usize,
    d_prediction: &mut [f32],
) -> f64 {
    let rows = prediction.len() / n;
    assert_eq!(
        (prediction.len(), d_prediction.len(), target.len()),
        (rows * n, rows * n, rows * m),
        "lengths"
    );
    let factor = 1.0 / (rows * n * m) as f32;
    let per_row =
        prediction.chunks_exact(n).zip(d_prediction.chunks_exact_mut(n)).zip(target.chunks_exact(m));
    simd(
        #[inline(always)]
        || {
            let mut total = 0.0;
            for ((quantiles, d_row), target) in per_row {
                for (i, (&quantile, d)) in quantiles.iter().zip(d_row).enumerate() {
                    let level = (2 * i + 1) as f32 / (2 * n) as f32;
                    let (loss, slope) = huber_over(quantile, level, target);
                    total += f64::from(loss);
                    *d = factor * slope;
                }
            }
            total * f64::from(factor)
        },
    )
}

/// Sums of the loss of one quantile, and of its derivative, over all target values.
#[inline(always)]
fn huber_over(quantile: f32, level: f32, target: &[f32]) -> (f32, f32) {
    const LANES: usize = 16;
    let (mut loss, mut slope) = ([0.0_f32; LANES], [0.0_f32; LANES]);
    let mut add = |block: &[f32; LANES]| {
        for lane in 0..LANES {
            let error = block[lane] - quantile;
            let clipped = error.clamp(-1.0, 1.0);
            let weight = if error < 0.0 { 1.0 - level } else { level };
            loss[lane] += weight * clipped * (error - 0.5 * clipped);
            slope[lane] -= weight * clipped;
        }
    };
    let (blocks, rest) = target.as_chunks::<LANES>();
    blocks.iter().for_each(&mut add);
    // A target that equals the quantile adds nothing, so it may fill the last block.
    let mut last = [quantile; LANES];
    last.iter_mut().zip(rest).for_each(|(lane, &value)| *lane = value);
    add(&last);
    (loss.iter().sum(), slope.iter().sum())
}

#[cfg(test)]
mod tests {
    use super::*;
    use offnominal_core::Rng;

    fn normals(n: usize, seed: u64) -> Vec<f32> {
        let mut out = vec![0.0; n];
        Rng::new(seed).fill_normal(&mut out);
        out.iter_mut().for_each(|v| *v *= 1.7);
        out
    }

    /// Compares value and derivatives with the definition in double precision.
    #[track_caller]
    fn check(
        prediction: &[f32],
        loss: impl Fn(&[f32], &mut [f32]) -> f64,
        definition: impl Fn(&[f64]) -> f64,
    ) {
        let mut d = vec![f32::NAN; prediction.len()];
        let value = loss(prediction, &mut d);
        let exact: Vec<f64> = prediction.iter().map(|&p| f64::from(p)).collect();
        assert!((value - definition(&exact)).abs() < 1e-6 * value.abs().max(1.0), "{value}");
        for i in 0..exact.len() {
            let at = |shift: f64| {
                let mut moved = exact.clone();
                moved[i] += shift;
                definition(&moved)
            };
            let slope = (at(1e-5) - at(-1e-5)) / 2e-5;
            assert!(
                (f64::from(d[i]) - slope).abs() < 1e-6,
                "derivative {i}: expected {slope}, found {}",
                d[i]
            );
        }
    }

    #[test]
    fn squared_error() {
        let target = normals(12, 2);
        let definition = |p: &[f64]| {
            p.iter().zip(&target).map(|(p, &t)| (p - f64::from(t)).powi(2)).sum::<f64>() / p.len() as f64
        };
        check(&normals(12, 1), |p, d| mse(p, &target, d), definition);
    }

    #[test]
    fn huber_error() {
        let target = normals(12, 2);
        let term = |e: f64| if e.abs() <= 1.0 { 0.5 * e * e } else { e.abs() - 0.5 };
        let errors = |p: &[f64]| p.iter().zip(&target).map(|(p, &t)| p - f64::from(t)).collect::<Vec<_>>();
        let start: Vec<f64> = normals(12, 1).iter().map(|&p| f64::from(p)).collect();
        assert!(errors(&start).iter().any(|e| e.abs() < 1.0) && errors(&start).iter().any(|e| e.abs() > 1.0));
        let definition = |p: &[f64]| errors(p).into_iter().map(term).sum::<f64>() / p.len() as f64;
        check(&normals(12, 1), |p, d| huber(p, &target, d), definition);
    }

    #[test]
    fn logistic_error() {
        let target: Vec<f32> = (0..12).map(|i| (i % 3 / 2) as f32).collect();
        let term = |(z, t): (&f64, &f32)| z.exp().ln_1p() - f64::from(*t) * z;
        let definition = |z: &[f64]| z.iter().zip(&target).map(term).sum::<f64>() / 12.0;
        check(&normals(12, 1), |p, d| logistic(p, &target, d), definition);
        let mut d = [f32::NAN; 2];
        let loss = logistic(&[90.0, -90.0], &[1.0, 0.0], &mut d);
        assert!(loss < 1e-6 && d.iter().all(|d| d.abs() < 1e-30), "far from ½: {loss}, {d:?}");
    }

    #[test]
    fn gaussian_likelihood() {
        let (width, target) = (3, normals(12, 2));
        let term = |p: &[f64], i: usize| {
            let (row, j) = (i / width, i % width);
            let (mean, log_var) = (p[row * 2 * width + j], p[row * 2 * width + width + j]);
            0.5 * (log_var + (mean - f64::from(target[i])).powi(2) / log_var.exp())
        };
        let definition = |p: &[f64]| (0..12).map(|i| term(p, i)).sum::<f64>() / 12.0;
        check(&normals(24, 1), |p, d| gaussian_nll(p, &target, width, d), definition);
    }

    #[test]
    fn quantile_regression() {
        let (n, m, rows) = (5, 19, 3);
        let target = normals(rows * m, 2);
        let rho = |u: f64, level: f64| {
            let huber = if u.abs() <= 1.0 { 0.5 * u * u } else { u.abs() - 0.5 };
            (level - f64::from(u8::from(u < 0.0))).abs() * huber
        };
        let definition = |p: &[f64]| {
            let pairs = (0..rows * n).flat_map(|q| (0..m).map(move |t| (q, t)));
            let one = |(q, t): (usize, usize)| {
                rho(f64::from(target[q / n * m + t]) - p[q], (q % n) as f64 / n as f64 + 0.5 / n as f64)
            };
            pairs.map(one).sum::<f64>() / (rows * n * m) as f64
        };
        check(&normals(rows * n, 1), |p, d| quantile_huber(p, n, &target, m, d), definition);
    }
}

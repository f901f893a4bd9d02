//! A network that predicts a normal distribution for each channel: mean and logarithm of the variance.
//!
//! The logarithm is held softly between two learned bounds (Chua et al., NeurIPS 2018, appendix A.1), because a network
//! trained by likelihood is otherwise free to answer any variance where it saw no data:
//!
//! l₁ = l_max − softplus(l_max − l_raw), log σ² = l_min + softplus(l₁ − l_min).
//!
//! Loss = mean over targets of ½ (log σ² + (μ − t)² / σ²) + [`CALM`] · mean (log σ²)² + [`TIGHT`] · Σ_j (l_max −
//! l_min)_j.

use super::training::Model;
use offnominal_core::Rng;
use offnominal_nets::loss::gaussian_nll;
use offnominal_nets::{Activation, Gradients, Init, Mlp, Workspace, softplus};

/// Weight of the squared logarithm of the variance.
const CALM: f64 = 1e-4;
/// Weight of the distance between the bounds.
const TIGHT: f64 = 1e-3;
/// Where the bounds begin.
const FIRST_MAX: f32 = 0.5;
const FIRST_MIN: f32 = -10.0;

/// The network in training. Its parameters are those of the network, then l_max, then l_min, `d` numbers each.
pub(crate) struct Gaussian {
    net: Mlp,
    d: usize,
    work: Workspace,
    /// Means and logarithms of variances, `[n, 2d]`, and the derivatives by them.
    prediction: Vec<f32>,
    d_prediction: Vec<f32>,
}

impl Gaussian {
    /// A network of the given widths, the last of which is 2d, for batches of up to `batch` rows.
    pub fn new(sizes: &[usize], batch: usize) -> Gaussian {
        let net = Gaussian::shape(sizes);
        let (d, work) = (net.outputs() / 2, net.workspace(batch));
        let [prediction, d_prediction] = [(); 2].map(|()| vec![0.0; batch * net.outputs()]);
        Gaussian { net, d, work, prediction, d_prediction }
    }

    /// The network of the given widths.
    pub fn shape(sizes: &[usize]) -> Mlp {
        Mlp::new(sizes, Activation::LeakyRelu)
    }

    /// Draws the first parameters.
    pub fn first_params(&self, rng: &mut Rng) -> Vec<f32> {
        let mut params = self.net.first_params(Init::TruncatedNormal, rng);
        params.extend(std::iter::repeat_n(FIRST_MAX, self.d));
        params.extend(std::iter::repeat_n(FIRST_MIN, self.d));
        params
    }

    /// The network alone.
    pub fn net(&self) -> &Mlp {
        &self.net
    }

    /// Means and logarithms of variances, `[n, 2d]`, for a batch.
    pub fn answers(&mut self, params: &[f32], inputs: &[f32]) -> &[f32] {
        self.predict(params, inputs);
        &self.prediction[..inputs.len() / self.net.inputs() * 2 * self.d]
    }

    /// Fills `prediction` for a batch.
    fn predict(&mut self, params: &[f32], inputs: &[f32]) {
        let (weights, bounds) = params.split_at(self.net.n_params());
        let raw = self.net.forward(weights, inputs, &mut self.work);
        let rows = raw.chunks_exact(2 * self.d).zip(self.prediction.chunks_exact_mut(2 * self.d));
        for (raw, prediction) in rows {
            prediction[..self.d].copy_from_slice(&raw[..self.d]);
            for j in 0..self.d {
                prediction[self.d + j] = hold_by(softplus, raw[self.d + j], bounds[j], bounds[self.d + j]);
            }
        }
    }

    /// Adds the derivatives of the term [`CALM`]; returns the term.
    fn calm(&mut self, n: usize) -> f64 {
        let weight = CALM / (n * self.d) as f64;
        let rows =
            self.prediction.chunks_exact(2 * self.d).zip(self.d_prediction.chunks_exact_mut(2 * self.d));
        let mut sum = 0.0;
        for (row, d_row) in rows.take(n) {
            for (log_variance, d) in row[self.d..].iter().zip(&mut d_row[self.d..]) {
                sum += f64::from(*log_variance).powi(2);
                *d += (2.0 * weight) as f32 * log_variance;
            }
        }
        weight * sum
    }

    /// Takes the derivatives back through [`hold`]; those by the bounds are added up in `d_bounds`.
    fn chain(&mut self, bounds: &[f32], n: usize, d_bounds: &mut [f32]) {
        let d = self.d;
        let rows = self.work.output().chunks_exact(2 * d).zip(self.prediction.chunks_exact(2 * d));
        let rows = rows.zip(self.d_prediction.chunks_exact_mut(2 * d));
        d_bounds[..d].fill(TIGHT as f32);
        d_bounds[d..].fill(-TIGHT as f32);
        for ((raw, row), d_row) in rows.take(n) {
            for j in 0..d {
                let slopes = hold_slopes(raw[d + j], row[d + j], bounds[j], bounds[d + j]);
                d_bounds[j] += d_row[d + j] * slopes.by_max;
                d_bounds[d + j] += d_row[d + j] * slopes.by_min;
                d_row[d + j] *= slopes.by_raw;
            }
        }
    }
}

impl Model for Gaussian {
    fn gradient(
        &mut self,
        params: &[f32],
        inputs: &[f32],
        targets: &[f32],
        grad: &mut [f32],
        _rng: &mut Rng,
    ) -> f64 {
        let (n, d) = (targets.len() / self.d, self.d);
        let (weights, bounds) = params.split_at(self.net.n_params());
        let (d_weights, d_bounds) = grad.split_at_mut(self.net.n_params());
        self.predict(params, inputs);
        let mut loss =
            gaussian_nll(&self.prediction[..n * 2 * d], targets, d, &mut self.d_prediction[..n * 2 * d]);
        loss += self.calm(n);
        self.chain(bounds, n, d_bounds);
        let d_output = &self.d_prediction[..n * 2 * d];
        self.net.backward(weights, inputs, &mut self.work, d_output, Gradients::params(d_weights));
        let widths: f64 = (0..d).map(|j| f64::from(bounds[j]) - f64::from(bounds[d + j])).sum();
        loss + TIGHT * widths
    }

    fn loss(&mut self, params: &[f32], inputs: &[f32], targets: &[f32]) -> f64 {
        self.predict(params, inputs);
        let n = 2 * targets.len();
        gaussian_nll(&self.prediction[..n], targets, self.d, &mut self.d_prediction[..n])
    }

    fn widths(&self) -> (usize, usize) {
        (self.net.inputs(), self.d)
    }
}

/// The logarithm of the variance, held softly between its bounds, with the same bits on every machine: scores are made of it.
pub(crate) fn hold(raw: f32, max: f32, min: f32) -> f32 {
    hold_by(|x| x.max(0.0) + libm::log1pf(libm::expf(-x.abs())), raw, max, min)
}

/// The same by any softplus. Training takes that of the networks, whose bits are those of committed results.
fn hold_by(softplus: impl Fn(f32) -> f32, raw: f32, max: f32, min: f32) -> f32 {
    let below = max - softplus(max - raw);
    min + softplus(below - min)
}

/// Derivatives of [`hold`].
struct Slopes {
    by_raw: f32,
    by_max: f32,
    by_min: f32,
}

/// The derivative of softplus is the logistic function, which at the place where softplus is h is 1 − e⁻ʰ.
fn hold_slopes(raw: f32, held: f32, max: f32, min: f32) -> Slopes {
    let by_below = 1.0 - (min - held).exp();
    let below_by_raw = 1.0 / (1.0 + (raw - max).exp());
    Slopes {
        by_raw: by_below * below_by_raw,
        by_max: by_below * (1.0 - below_by_raw),
        by_min: 1.0 - by_below,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use offnominal_core::fit_progress::FitProgress;

    #[test]
    fn held_values_stay_within_the_bounds_and_pass_in_the_middle() {
        for raw in [-1e30, -50.0, -3.0, 0.0, 3.0, 50.0, 1e30] {
            let held = hold(raw, 0.5, -10.0);
            assert!((-10.0..=0.5 + 1e-4).contains(&held), "{raw} {held}");
        }
        assert!((hold(-5.0, 0.5, -10.0) + 5.0).abs() < 0.02);
    }

    #[test]
    fn gradients_are_those_of_finite_differences() {
        let mut model = Gaussian::new(&[3, 7, 4], 5);
        let mut rng = Rng::new(3);
        let mut params = model.first_params(&mut rng);
        // Bounds close to the values, so that they matter.
        let n_weights = model.net().n_params();
        params[..n_weights].iter_mut().for_each(|p| *p *= 4.0);
        params[n_weights..].copy_from_slice(&[0.4, 0.7, -0.5, -0.9]);
        let (mut inputs, mut targets) = (vec![0.0; 15], vec![0.0; 10]);
        rng.fill_normal(&mut inputs);
        rng.fill_normal(&mut targets);
        let (mut grad, mut unused) = (vec![f32::NAN; params.len()], vec![0.0; params.len()]);
        model.gradient(&params, &inputs, &targets, &mut grad, &mut rng);
        for i in 0..params.len() {
            let mut side = |shift: f32| {
                let mut moved = params.clone();
                moved[i] += shift;
                model.gradient(&moved, &inputs, &targets, &mut unused, &mut Rng::new(0))
            };
            let slope = (side(1e-3) - side(-1e-3)) / 2e-3;
            assert!((f64::from(grad[i]) - slope).abs() < 2e-3, "{i}: expected {slope}, found {}", grad[i]);
        }
    }

    #[test]
    fn the_noise_of_a_process_is_learned() {
        use crate::shared::one_step::Rows;
        use crate::shared::ranges::Fraction;
        use crate::shared::training::Training;
        // t = 2x + noise of deviation 0.3 for negative x, 0.05 for positive x.
        let (n, mut rng) = (2000, Rng::new(5));
        let inputs: Vec<f32> = (0..n).map(|_| rng.range(-1.0, 1.0) as f32).collect();
        let noise = |x: f32| if x < 0.0 { 0.3 } else { 0.05 };
        let targets = inputs.iter().map(|&x| 2.0 * x + noise(x) * rng.normal() as f32).collect();
        let rows = Rows { inputs, targets, episodes: std::iter::once(0..n).collect() };
        let mut model = Gaussian::new(&[1, 32, 2], 64);
        let mut params = model.first_params(&mut rng);
        let training = Training {
            epochs: std::num::NonZeroUsize::new(150).unwrap(),
            batch: std::num::NonZeroUsize::new(64).unwrap(),
            lr: Fraction::new(5e-3),
            ..Training::default()
        };
        let mut sample: Vec<u32> = (0..n).collect();
        training
            .run(&mut model, &mut params, (&rows, &mut sample), &rows, &mut rng, FitProgress::unseen())
            .unwrap();
        for x in [-0.6_f32, 0.6] {
            model.predict(&params, &[x]);
            let (mean, deviation) = (model.prediction[0], (0.5 * model.prediction[1]).exp());
            assert!((mean - 2.0 * x).abs() < 0.1, "mean at {x}: {mean}");
            assert!((deviation / noise(x) - 1.0).abs() < 0.35, "deviation at {x}: {deviation}");
        }
    }
}

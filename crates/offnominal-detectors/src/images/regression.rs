//! A network that predicts a normal distribution for each target, fitted once and asked often.

use crate::shared::gaussian::Gaussian;
use crate::shared::one_step::Rows;
use crate::shared::training::{Model, Training};
use offnominal_core::Rng;
use offnominal_core::detector::FitError;
use offnominal_core::fit_progress::FitProgress;

/// The smallest deviation of a prediction, in units of the targets: what is predicted exactly may still be rounded.
const LEAST: f32 = 0.02;

/// The network with its weights and buffers for so many rows at once.
pub(super) struct Regression {
    sizes: Vec<usize>,
    model: Gaussian,
    params: Vec<f32>,
    batch: usize,
}

impl Regression {
    /// Learns targets `[n, d]` from inputs `[n, k]`, to be asked about so many rows at once.
    ///
    /// # Errors
    /// If the loss stops being finite, or `progress` says that it is to stop.
    pub fn fit(
        [inputs, targets]: [Vec<f32>; 2],
        sizes: &[usize],
        (training, batch): (&Training, usize),
        rng: &mut Rng,
        progress: FitProgress<'_>,
    ) -> Result<Regression, FitError> {
        let mut model = Gaussian::new(sizes, training.batch.get());
        let mut params = model.first_params(rng);
        let n = (inputs.len() / sizes[0]) as u32;
        let rows = Rows { inputs, targets, episodes: std::iter::once(0..n).collect() };
        let mut sample: Vec<u32> = (0..n).collect();
        training.run(&mut model, &mut params, (&rows, &mut sample), &rows, rng, progress)?;
        Ok(Regression { sizes: sizes.to_vec(), model: Gaussian::new(sizes, batch), params, batch })
    }

    /// Means and logarithms of variances for inputs `[n, k]`, `[n, 2d]`.
    pub fn predict(&mut self, inputs: &[f32]) -> &[f32] {
        self.model.answers(&self.params, inputs)
    }

    /// The number of targets.
    pub fn d(&self) -> usize {
        self.model.widths().1
    }
}

impl Clone for Regression {
    fn clone(&self) -> Regression {
        let model = Gaussian::new(&self.sizes, self.batch);
        Regression { sizes: self.sizes.clone(), model, params: self.params.clone(), batch: self.batch }
    }
}

/// Mean squared error of a target in units of the deviation that was predicted.
pub(super) fn energy(prediction: &[f32], target: &[f32]) -> f32 {
    let (means, log_variances) = prediction.split_at(target.len());
    let parts = means.iter().zip(log_variances).zip(target);
    let sum: f32 = parts.map(|((m, v), t)| (t - m).powi(2) / (v.exp() + LEAST * LEAST)).sum();
    sum / target.len() as f32
}

/// ln of an energy within bounds; one that is no number, as after an action that is none, is the largest.
pub(super) fn log_energy(energy: f64) -> f64 {
    if energy.is_nan() { 1e30_f64.ln() } else { energy.clamp(1e-12, 1e30).ln() }
}

//! Five ways to look at a stream of residuals, on one scale.
//!
//! | view    | value, of which the logarithm is taken                               | sees best                   |
//! |---------|----------------------------------------------------------------------|-----------------------------|
//! | length  | ℓ = zᵀ C⁻¹ z / d                                                     | a jump in many channels     |
//! | channel | max_j z_j² / C_jj                                                    | a fault of one channel      |
//! | drift   | ‖g‖² in the covariance of g, g ← (1 − [`SHORT`]) g + [`SHORT`] z      | a bias too small for a step |
//! | short   | mean of ℓ that fades with [`SHORT`]                                  | anything that stays         |
//! | long    | mean of ℓ that fades with [`LONG`]                                   | what came, and left a mark  |
//!
//! A view is put on a scale on which nominal data have median 0 and 90th percentile 1; the largest view counts.
//! Medians and percentiles are those of held-out residuals.

use super::marginal::Marginal;
use super::memory::Fading;
use super::whiten::Whitener;
use offnominal_core::archive::{ArchiveError, Reader, Writer};

/// Weight of a step in the views that look back over a few steps.
const SHORT: f64 = 0.3;
/// Weight of a step in the view that looks back far.
const LONG: f64 = 0.03;
/// Added before the logarithm, so that a perfect prediction is finite.
const QUIET: f64 = 1e-3;
/// Smallest distance between median and percentile.
const LEAST_SPREAD: f64 = 1e-3;
/// Number of views.
const N: usize = 5;

/// What is known of nominal residuals.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Views {
    length: Whitener,
    drift: Whitener,
    /// Median and spread of each view.
    scales: [(f64, f64); N],
}

/// What is remembered of an episode.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Past {
    drift: Vec<f64>,
    short: Fading,
    long: Fading,
    scratch: Vec<f64>,
    /// What is left out of the drift.
    of_drift: Marginal,
}

impl Past {
    /// Nothing, for residuals of `d` channels.
    pub fn new(d: usize) -> Past {
        let (short, long) = (Fading::new(SHORT), Fading::new(LONG));
        Past { drift: vec![0.0; d], short, long, scratch: vec![0.0; d], of_drift: Marginal::new(d) }
    }

    pub fn reset(&mut self) {
        self.drift.fill(0.0);
        self.short.reset();
        self.long.reset();
    }

    fn add(&mut self, z: &[f64]) {
        self.drift.iter_mut().zip(z).for_each(|(g, z)| *g += SHORT * (z - *g));
    }
}

impl Views {
    /// Measures held-out residuals of nominal episodes, each `[T, d]`.
    pub fn fit(episodes: &[Vec<f64>], d: usize) -> Views {
        let length = Whitener::fit(episodes.iter().flat_map(|e| e.chunks_exact(d)), d);
        let drifts: Vec<f64> = episodes.iter().flat_map(|e| drifts(e, d)).collect();
        let drift = Whitener::fit(drifts.chunks_exact(d), d);
        let mut views = Views { length, drift, scales: [(0.0, 1.0); N] };
        let seen: Vec<[f64; N]> = episodes.iter().flat_map(|e| views.of_episode(e, d)).collect();
        views.scales = std::array::from_fn(|view| scale(seen.iter().map(|v| v[view]).collect()));
        views
    }

    /// Writes what is known.
    pub fn save(&self, to: &mut Writer<'_>) {
        self.length.save(&mut to.part("length"));
        self.drift.save(&mut to.part("drift"));
        to.put("median", &self.scales.map(|s| s.0));
        to.put("spread", &self.scales.map(|s| s.1));
    }

    /// Reads what is known of residuals of d channels.
    pub fn load(from: &Reader<'_>, d: usize) -> Result<Views, ArchiveError> {
        let (length, drift) =
            (Whitener::load(&from.part("length"), d)?, Whitener::load(&from.part("drift"), d)?);
        let (medians, spreads) = (from.exactly::<f64>("median", N)?, from.exactly::<f64>("spread", N)?);
        from.require(spreads.iter().all(|&s| s > 0.0), "spread", "numbers above zero", "others")?;
        Ok(Views { length, drift, scales: std::array::from_fn(|view| (medians[view], spreads[view])) })
    }

    /// The nominal covariance of residuals.
    pub fn covariance(&self) -> &Whitener {
        &self.length
    }

    /// The largest view of a step.
    pub fn score(&self, z: &[f64], past: &mut Past) -> f64 {
        self.largest(self.raw(z, past))
    }

    /// The same of a residual from which something was left out: its channels are conditional means, its length is put on the
    /// scale of others, and the drift takes what makes it shortest.
    pub fn score_partial(&self, z: &[f64], marginal: &Marginal, past: &mut Past) -> f64 {
        let length = marginal.rescaled(self.of_length(z, past));
        past.add(z);
        past.of_drift.clear();
        past.of_drift.add_all(marginal, &self.drift);
        past.of_drift.leave_out(&mut past.drift, &self.drift);
        let drift = self.of_drift(past);
        let drift = past.of_drift.rescaled(drift);
        self.largest(self.with(z, length, drift, past))
    }

    fn largest(&self, raw: [f64; N]) -> f64 {
        let scaled = raw.iter().zip(&self.scales).map(|(v, (median, spread))| (v - median) / spread);
        scaled.fold(f64::NEG_INFINITY, f64::max)
    }

    fn raw(&self, z: &[f64], past: &mut Past) -> [f64; N] {
        let length = self.of_length(z, past);
        past.add(z);
        let drift = self.of_drift(past);
        self.with(z, length, drift, past)
    }

    fn of_length(&self, z: &[f64], past: &mut Past) -> f64 {
        past.scratch.copy_from_slice(z);
        self.length.mean_square(&mut past.scratch)
    }

    fn of_drift(&self, past: &mut Past) -> f64 {
        past.scratch.copy_from_slice(&past.drift);
        self.drift.mean_square(&mut past.scratch)
    }

    fn with(&self, z: &[f64], length: f64, drift: f64, past: &mut Past) -> [f64; N] {
        let channels = z.iter().zip(&self.length.deviations);
        let channel = channels.map(|(z, deviation)| (z / deviation).powi(2)).fold(0.0, f64::max);
        [length, channel, drift, past.short.add(length), past.long.add(length)].map(|v| libm::log(v + QUIET))
    }

    fn of_episode(&self, z: &[f64], d: usize) -> Vec<[f64; N]> {
        let mut past = Past::new(d);
        z.chunks_exact(d).map(|z| self.raw(z, &mut past)).collect()
    }
}

/// The drift after each step of an episode.
fn drifts(z: &[f64], d: usize) -> Vec<f64> {
    let mut past = Past::new(d);
    let drift = |z: &[f64]| {
        past.add(z);
        past.drift.clone()
    };
    z.chunks_exact(d).flat_map(drift).collect()
}

/// Median, and distance from there to the 90th percentile.
fn scale(mut values: Vec<f64>) -> (f64, f64) {
    values.sort_unstable_by(f64::total_cmp);
    let at = |share: f64| values[((values.len() - 1) as f64 * share).round() as usize];
    (at(0.5), (at(0.9) - at(0.5)).max(LEAST_SPREAD))
}

#[cfg(test)]
mod tests {
    use super::*;
    use offnominal_core::Rng;

    /// 20 episodes of 100 steps of white noise in two channels.
    fn nominal(seed: u64) -> Vec<Vec<f64>> {
        let mut rng = Rng::new(seed);
        (0..20).map(|_| (0..200).map(|_| rng.normal()).collect()).collect()
    }

    fn mean_score(views: &Views, episodes: &[Vec<f64>], change: impl Fn(f64) -> f64) -> f64 {
        let mut sum = 0.0;
        for episode in episodes {
            let mut past = Past::new(2);
            let z: Vec<f64> = episode.iter().map(|&z| change(z)).collect();
            sum += z.chunks_exact(2).map(|z| views.score(z, &mut past)).sum::<f64>() / 100.0;
        }
        sum / episodes.len() as f64
    }

    #[test]
    fn a_bias_and_more_noise_raise_the_score_and_new_nominal_data_do_not() {
        let views = Views::fit(&nominal(1), 2);
        let as_fitted = mean_score(&views, &nominal(1), |z| z);
        let fresh = mean_score(&views, &nominal(2), |z| z);
        assert!((fresh - as_fitted).abs() < 0.1, "{fresh} {as_fitted}");
        for change in [&(|z: f64| z + 0.8) as &dyn Fn(f64) -> f64, &|z| 1.5 * z] {
            let changed = mean_score(&views, &nominal(2), change);
            assert!(changed > fresh + 0.5, "{changed} {fresh}");
        }
    }

    #[test]
    fn half_of_nominal_steps_are_below_zero_in_each_view() {
        let (episodes, views) = (nominal(3), Views::fit(&nominal(3), 2));
        for view in 0..N {
            let raw = episodes.iter().flat_map(|e| views.of_episode(e, 2));
            let below = raw.filter(|v| v[view] < views.scales[view].0).count();
            assert!(below.abs_diff(1000) <= 1, "{view}: {below}");
        }
    }
}

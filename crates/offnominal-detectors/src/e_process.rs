//! Evidence against "all is nominal", accumulated by betting on another detector's p-values.
//!
//! score(t) = ln M_t, with M_t = max(M_{t−1}, 1) · e(p_t), M_0 = 1, e(p) = ∫₀¹ κ p^{κ−1} dκ = (1 − p + p ln p) / (p
//! ln² p).
//!
//! | symbol | meaning                                                                              |
//! |--------|--------------------------------------------------------------------------------------|
//! | p_t    | share of held-out nominal steps that the inner detector scores at least as high      |
//! | e(p)   | what a bet of one unit returns; its mean is one where p is uniform                   |
//! | M_t    | wealth of a gambler who starts anew whenever less than one unit is left              |
//!
//! It has no parameter, and where p-values are independent and uniform the mean time to a false alarm at the level
//! ln M ≥ b is at least eᵇ steps. The steps of an episode are not independent, so thresholds are set on whole episodes
//! as for every detector; the guarantee is what remains if they nearly are. Begins anew with each episode.
//!
//! Assumes: as `cusum`.
//! Blind to: what the inner detector is blind to; small shifts, for which the bets are too cautious.
//! Cost: that of the inner detector, fitted on three quarters of the episodes; score O(log n) more.
//! Reference: Shin, Ramdas and Rinaldo, 2023 (e-detectors, the form of CUSUM); the mixture of bets is that of Vovk and
//! Wang, Annals of Statistics 2021.  Deviates: beyond the nominal scores seen, p-values follow an exponential tail.
//!
//! ```
//! use offnominal_core::detector::{Nominal, Signals};
//! use offnominal_core::transition::Transition;
//! use offnominal_core::Rng;
//! let observations: Vec<f32> = (0..100).map(|i| i as f32).collect();
//! let nominal = Signals::new(&observations, &[0.0; 99], 1, 1);
//! let recipe = serde_json::json!({"inner": "knn"});
//! let process = offnominal_detectors::catalogue().build("e-process", &recipe).unwrap();
//! let mut monitor = process.fit(Nominal::new(&[nominal], &[]), &mut Rng::new(0)).unwrap();
//! // A point of the training data has distance 0, as all of them: p = 1, and e(1) = 1/2.
//! assert!((monitor.score(&nominal.transition(3)) - 0.5_f64.ln()).abs() < 1e-9);
//! ```

use crate::shared::inner::{Accumulate, Accumulated, Inner};
use crate::shared::prelude::*;

recipe! {
    /// The recipe.
    pub struct EProcess {
        /// The detector whose p-values are bet on.
        pub inner: Inner = Inner::named("ensemble-dm"),
    }
}

/// The entry of [`EProcess`].
pub const ENTRY: Entry<dyn Detector> = entry!(
    EProcess as dyn Detector,
    "e-process",
    "evidence accumulated by betting on another detector's p-values"
);

impl Detector for EProcess {
    fn fit(&self, nominal: Nominal<'_>, rng: &mut Rng) -> Result<Box<dyn Scorer>, FitError> {
        Accumulated::fit(self, nominal, rng)
    }

    fn load(&self, from: &Reader<'_>, policy: Option<&dyn Policy>) -> Result<Box<dyn Scorer>, ArchiveError> {
        Accumulated::load(self, from, policy)
    }
}

impl Accumulate for EProcess {
    fn inner(&self) -> &Inner {
        &self.inner
    }

    fn add(&self, sum: f64, self_information: f64) -> f64 {
        sum.max(0.0) + log_bet(self_information)
    }
}

/// ln e(p) as a function of x = −ln p ≥ 0; its series where the quotient cancels.
fn log_bet(x: f64) -> f64 {
    if x < 1e-3 {
        return libm::log(0.5 + x / 6.0);
    }
    let p = libm::exp(-x);
    x - 2.0 * libm::log(x) + libm::log(1.0 - p - p * x)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bet_on_uniform_p_values_is_fair() {
        // ∫ e(p) dp = ∫ e(e^{−x}) e^{−x} dx by the midpoint rule; the tail ∫_L^∞ dx / x² = 1/L is added exactly.
        let (step, end) = (1e-3, 400.0);
        let middle = (0..(end / step) as usize).map(|i| (i as f64 + 0.5) * step);
        let mean = middle.map(|x| (log_bet(x) - x).exp() * step).sum::<f64>() + 1.0 / end;
        assert!((mean - 1.0).abs() < 1e-3, "{mean}");
    }

    #[test]
    fn the_series_meets_the_quotient() {
        assert!((log_bet(0.999e-3) - log_bet(1.001e-3)).abs() < 1e-6);
    }

    #[test]
    fn alarms_on_independent_uniform_p_values_are_as_rare_as_promised() {
        // The wealth reaches e⁴ ≈ 55 on average not before 55 steps; in 200 runs of 1,000 steps at least that often.
        let mut rng = Rng::new(1);
        let (mut steps, mut alarms, mut wealth) = (0.0, 0.0, 0.0_f64);
        for _ in 0..200_000 {
            wealth = wealth.max(0.0) + log_bet(-rng.uniform().max(1e-300).ln());
            steps += 1.0;
            if wealth >= 4.0 {
                (alarms, wealth) = (alarms + 1.0, 0.0);
            }
        }
        assert!(alarms > 0.0 && steps / alarms >= 4.0_f64.exp(), "{steps} {alarms}");
    }
}

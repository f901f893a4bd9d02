//! Each draw is tried with a known chance, and failures are counted with its inverse.
//!
//! For i = 1 … N: Xᵢ ~ P; the experiment is run with the chance aᵢ = min(1, floor + gain f(Xᵢ)^α), Bᵢ says whether. Then
//! Yᵢ = Bᵢ Cᵢ / aᵢ has E\[Yᵢ\] = p exactly, without a normalising constant, and lies in [0, 1 / floor]. The variance
//! is (E\[f* / a\] − p²) / N with the true chance f*, least for a ∝ √f*, hence α = ½ by default.
//!
//! The chance may depend on everything seen before: a predictor may be fitted anew between batches, from earlier ones,
//! and the mean given the past stays p. So the interval is valid under refits and at every moment one may stop.
//!
//! Assumes: the floor. Blind to: nothing. A failure where the chance is the floor counts 1 / floor, so the upper end is
//! never below what the plain share of the experiments alone could say.
//! Reference: Horvitz and Thompson, JASA 47(260), 1952.

use super::bounded::Bounded;
use super::normal::normal;
use super::refusal::Refusal;
use super::weighted::Weighted;
use crate::{Level, StatsError};
use offnominal_core::estimate::Estimate;

/// The rule that turns a prediction into a chance to be tried.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Thinning {
    floor: f64,
    gain: f64,
    exponent: f64,
}

impl Thinning {
    /// A rule that tries about `rate` of all draws; of the experiments, a share of `plain_share` is spread evenly and the
    /// rest follows the predictor. `mean_power` is the mean of f^α over draws; it only sets the rate and may be rough.
    ///
    /// # Errors
    /// If a setting is out of its range.
    pub fn new(rate: f64, plain_share: f64, exponent: f64, mean_power: f64) -> Result<Thinning, Refusal> {
        let is_share = |v: f64| v > 0.0 && v <= 1.0;
        StatsError::within(is_share(rate), "experiments per draw", "a number above 0, at most 1", rate)?;
        let (what, expected) = ("plain share", "a number above 0, at most 1");
        StatsError::within(is_share(plain_share), what, expected, plain_share)?;
        StatsError::within((0.0..=4.0).contains(&exponent), "exponent", "a number from 0 to 4", exponent)?;
        StatsError::within(is_share(mean_power), "mean of the predictions", expected, mean_power)?;
        Ok(Thinning { floor: rate * plain_share, gain: rate * (1.0 - plain_share) / mean_power, exponent })
    }

    /// The smallest chance of any draw.
    pub fn floor(&self) -> f64 {
        self.floor
    }

    /// The chance of a draw with that prediction to be tried.
    pub fn chance(&self, predicted: f64) -> f64 {
        (self.floor + self.gain * predicted.powf(self.exponent)).min(1.0)
    }
}

/// The estimate of thinned experiments.
#[derive(Debug, Clone, PartialEq)]
pub struct HorvitzThompson {
    floor: f64,
    draws: usize,
    terms: Bounded,
    tried: Vec<Weighted>,
}

impl HorvitzThompson {
    /// No draws yet; no chance will be below `floor`.
    ///
    /// # Panics
    /// If the floor is not in (0, 1].
    pub fn new(floor: f64) -> HorvitzThompson {
        assert!(floor > 0.0 && floor <= 1.0, "expected a floor in (0, 1], found {floor}");
        HorvitzThompson { floor, draws: 0, terms: Bounded::new(1.0 / floor), tried: Vec::new() }
    }

    /// A draw that was not tried.
    pub fn skip(&mut self) {
        self.skip_many(1);
    }

    /// So many draws that were not tried.
    pub fn skip_many(&mut self, n: usize) {
        self.draws += n;
        self.terms.push_zeros(n);
    }

    /// A draw that was tried, with its chance.
    ///
    /// # Panics
    /// If the chance is below the floor or above 1.
    pub fn record(&mut self, chance: f64, failed: bool) {
        assert!(
            (self.floor..=1.0).contains(&chance),
            "expected a chance in [{}, 1], found {chance}",
            self.floor
        );
        let tried = Weighted { weight: 1.0 / chance, failed };
        self.draws += 1;
        self.terms.push(tried.term());
        self.tried.push(tried);
    }

    /// Experiments so far.
    pub fn experiments(&self) -> usize {
        self.tried.len()
    }

    /// Draws so far, tried or not.
    pub fn draws(&self) -> usize {
        self.draws
    }

    /// The experiments with their weights, in order; for [`Diagnostics`](super::Diagnostics).
    pub fn experiments_weighted(&self) -> &[Weighted] {
        &self.tried
    }

    /// The failure probability, valid whatever the predictor is worth and whenever one stops.
    ///
    /// # Errors
    /// If no experiment was run.
    pub fn estimate(&self, level: Level) -> Result<Estimate, Refusal> {
        StatsError::require("failure probability", 1, "experiments", self.experiments())?;
        let found = self.terms.estimate(level)?;
        Ok(Estimate { high: found.high.min(1.0), n: self.experiments(), ..found })
    }

    /// The failure probability with a normal interval: sharper, and only as good as the predictor.
    ///
    /// # Errors
    /// If the diagnostics of the weights warn.
    pub fn normal(&self, level: Level) -> Result<Estimate, Refusal> {
        normal(&self.tried, self.draws, 0.0, level)
    }
}

#[cfg(test)]
mod tests {
    use super::super::PLAIN_SHARE;
    use super::super::toy::{Toy, assert_covers, repetitions};
    use super::*;
    use offnominal_core::Rng;

    /// Estimates the risk of a toy by a predictor that knows its shape to the given power.
    fn run(toy: Toy, sharpness: f64, draws: usize, rate: f64, rng: &mut Rng) -> HorvitzThompson {
        let predict = |x: f64| (-toy.decay * sharpness * x).exp();
        let mean_power = 1.0 / (0.5 * toy.decay * sharpness);
        let rule = Thinning::new(rate, PLAIN_SHARE, 0.5, mean_power).unwrap();
        let mut found = HorvitzThompson::new(rule.floor());
        for _ in 0..draws {
            let x = rng.uniform();
            let chance = rule.chance(predict(x));
            if rng.uniform() < chance { found.record(chance, toy.fails(x, rng)) } else { found.skip() }
        }
        found
    }

    #[test]
    fn the_estimate_is_unbiased() {
        let toy = Toy { height: 0.5, decay: 50.0 };
        for sharpness in [1.0, 2.0] {
            let values: Vec<f64> = (0..repetitions() as u64)
                .map(|i| run(toy, sharpness, 4000, 0.1, &mut Rng::new(i)).estimate(Level::P95).unwrap().value)
                .collect();
            let mean = values.iter().sum::<f64>() / values.len() as f64;
            let variance = values.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / values.len() as f64;
            let error = (variance / values.len() as f64).sqrt();
            assert!((mean - toy.p()).abs() < 3.0 * error, "{sharpness}: {mean} is not {}", toy.p());
        }
    }

    #[test]
    fn the_interval_covers_whatever_the_predictor_is_worth() {
        for (toy, sharpness) in [
            (Toy { height: 0.5, decay: 50.0 }, 1.0),
            (Toy { height: 0.5, decay: 50.0 }, 3.0),
            (Toy { height: 0.05, decay: 50.0 }, 1.0),
        ] {
            assert_covers(toy.p(), |rng| run(toy, sharpness, 3000, 0.1, rng).estimate(Level::P95).unwrap());
        }
    }

    #[test]
    fn rare_failures_are_found_within_their_interval() {
        let toy = Toy { height: 0.2, decay: 2e5 };
        let found = run(toy, 1.0, 8_000_000, 1e-3, &mut Rng::new(1));
        let estimate = found.estimate(Level::P95).unwrap();
        assert!(estimate.covers(1e-6) && estimate.low > 5e-8, "{estimate:.9}");
        assert!(found.experiments() < 9000);
        let sharp = found.normal(Level::P95).unwrap();
        assert!(sharp.covers(1e-6) && sharp.high < 3e-6, "{sharp:.9}");
    }

    #[test]
    fn no_failure_seen_is_an_upper_bound() {
        let never = Toy { height: 0.0, decay: 50.0 };
        let found = run(never, 1.0, 20_000, 0.1, &mut Rng::new(1));
        let estimate = found.estimate(Level::P95).unwrap();
        assert!(estimate.value.is_sign_positive());
        assert!(estimate.value == 0.0 && estimate.low == 0.0 && estimate.high < 0.03, "{estimate:?}");
        assert!(found.normal(Level::P95).is_err());
    }

    #[test]
    fn a_rule_without_a_floor_is_refused() {
        let message = Thinning::new(0.1, 0.0, 0.5, 0.1).unwrap_err().to_string();
        assert_eq!(message, "plain share: expected a number above 0, at most 1, found 0");
    }
}

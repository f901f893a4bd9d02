//! A threshold that follows benign drift: wear, temperature, load.
//!
//! Where the nominal condition drifts, a threshold that was set once has more and more false alarms. Here it is set anew by the
//! last m nominal episodes, as somebody confirms them:
//!
//! value = min(x₍ₖ₎, v₀ + c (v₀ − x̃₀)),
//!
//! | symbol | meaning |
//! |--------|---------|
//! | x₍ₖ₎   | k-th smallest of the last m maxima of the statistic over an episode; k by the [`Promise`] |
//! | v₀, x̃₀ | the threshold of the fit, and the median of the maxima that set it |
//! | c      | the *tolerance*: how far it may rise, in units of the distance from a usual episode to an alarm |
//!
//! If nothing drifts, the promise is as good as that of a fit with m episodes. If something does, the share of false alarms is at
//! most α and the mean over the m episodes of the total variation distance between the episode to come and each of them. The
//! tolerance keeps a fault that grows slowly, and is taken for nominal, from being learned without end.
//!
//! Reference: Barber, Candès, Ramdas & Tibshirani, "Conformal prediction beyond exchangeability", Annals of Statistics 2023,
//! theorem 2, with equal weights. Deviates: the tolerance, which can only add alarms.

use crate::StatsError;
use crate::promise::Promise;

/// How a threshold follows drift.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Recalibration {
    /// Last episodes that set the threshold, m; at least as many as the promise needs are taken.
    pub memory: usize,
    /// How far the threshold may rise, c.
    pub tolerance: f64,
}

impl Default for Recalibration {
    fn default() -> Recalibration {
        Recalibration { memory: 50, tolerance: 3.0 }
    }
}

/// Where a threshold was when it was fitted.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Fitted {
    /// The threshold, v₀.
    pub value: f64,
    /// Median of the maxima of nominal episodes, x̃₀.
    pub median: f64,
}

/// A threshold after drift.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Recalibrated {
    /// The threshold.
    pub value: f64,
    /// Which of the maxima it would be, counted from 1.
    pub rank: usize,
    /// Episodes that set it.
    pub episodes: usize,
    /// Whether it would be higher but for the tolerance: something has drifted too far, or is broken.
    pub is_limited: bool,
}

impl Recalibration {
    /// The threshold, from the maxima of nominal episodes, the latest last.
    ///
    /// # Errors
    /// If a setting is out of range, or there are too few episodes for the promise.
    pub fn threshold(
        &self,
        promise: Promise,
        maxima: &[f64],
        fitted: Fitted,
    ) -> Result<Recalibrated, StatsError> {
        promise.check()?;
        let tolerance = self.tolerance;
        if !(tolerance >= 0.0 && tolerance.is_finite()) {
            return Err(StatsError::OutOfRange {
                what: "tolerance",
                expected: "a number from 0",
                found: tolerance,
            });
        }
        let needed = promise.min_episodes();
        StatsError::require("recalibration", needed, "nominal episodes", maxima.len())?;
        let n = self.memory.clamp(needed, maxima.len());
        let mut last = maxima[maxima.len() - n..].to_vec();
        last.sort_unstable_by(f64::total_cmp);
        let rank = promise.rank(n);
        let (wanted, most) = (last[rank - 1], fitted.value + tolerance * (fitted.value - fitted.median));
        Ok(Recalibrated { value: wanted.min(most), rank, episodes: n, is_limited: wanted > most })
    }
}

impl Fitted {
    /// A threshold and the maxima that set it.
    pub fn of(value: f64, maxima: &[f64]) -> Fitted {
        let mut sorted = maxima.to_vec();
        sorted.sort_unstable_by(f64::total_cmp);
        let median = sorted.get(sorted.len() / 2).copied().unwrap_or(value);
        Fitted { value, median: median.min(value) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use offnominal_core::Seed;

    const PROMISE: Promise = Promise { alpha: 0.05, confidence: None };

    fn recalibrated(memory: usize, tolerance: f64, maxima: &[f64]) -> Recalibrated {
        let fitted = Fitted { value: 10.0, median: 8.0 };
        Recalibration { memory, tolerance }.threshold(PROMISE, maxima, fitted).unwrap()
    }

    #[test]
    fn the_last_episodes_set_it_as_far_as_the_tolerance_goes() {
        let maxima: Vec<f64> = (1..=30).map(f64::from).collect();
        let far = recalibrated(20, 99.0, &maxima);
        assert_eq!(far, Recalibrated { value: 30.0, rank: 20, episodes: 20, is_limited: false });
        assert_eq!(recalibrated(1, 99.0, &maxima).episodes, 19, "what the promise needs");
        assert_eq!(recalibrated(99, 99.0, &maxima).episodes, 30, "what there is");
        let limited = recalibrated(20, 1.5, &maxima);
        assert!(limited.value == 13.0 && limited.is_limited);
        let falls = recalibrated(20, 0.0, &[1.0; 30]);
        assert!(falls.value == 1.0 && !falls.is_limited);
    }

    #[test]
    fn bad_settings_and_too_few_episodes_are_named() {
        let refused = |tolerance, n| {
            let fitted = Fitted { value: 1.0, median: 0.0 };
            let how = Recalibration { memory: 50, tolerance };
            how.threshold(PROMISE, &vec![0.0; n], fitted).unwrap_err().to_string()
        };
        assert_eq!(refused(-1.0, 30), "tolerance: expected a number from 0, found -1");
        assert_eq!(refused(1.0, 18), "recalibration: expected at least 19 nominal episodes, found 18");
        assert_eq!(Fitted::of(2.0, &[]), Fitted { value: 2.0, median: 2.0 });
    }

    /// Shares of false alarms of nominal episodes whose maxima rise by five standard deviations over 500 episodes: with the
    /// threshold of the fit, and with one that follows.
    fn shares(drift: f64) -> [f64; 2] {
        let (mut alarms, n_runs, n_episodes) = ([0_u32; 2], 60, 500);
        for run in 0..n_runs {
            let mut rng = Seed(run).child("drift").rng();
            let mut maxima: Vec<f64> = (0..100).map(|_| rng.normal()).collect();
            let fit = Recalibration { memory: 100, tolerance: 3.0 };
            let first = fit.threshold(PROMISE, &maxima, Fitted { value: 9.0, median: 0.0 }).unwrap().value;
            let (fitted, how) = (Fitted::of(first, &maxima), Recalibration::default());
            for i in 0..n_episodes {
                let now = rng.normal() + drift * f64::from(i) / f64::from(n_episodes);
                let follows = how.threshold(PROMISE, &maxima, fitted).unwrap().value;
                alarms = [alarms[0] + u32::from(now > first), alarms[1] + u32::from(now > follows)];
                maxima.push(now);
            }
        }
        alarms.map(|alarms| f64::from(alarms) / (n_runs as f64 * f64::from(n_episodes)))
    }

    #[test]
    fn a_threshold_that_follows_keeps_near_its_promise_and_a_fixed_one_does_not() {
        let [fixed, follows] = shares(5.0);
        assert!(fixed > 0.25 && follows < 0.1, "{fixed} {follows}");
        let [fixed, follows] = shares(0.0);
        assert!(fixed < 0.06 && follows < 0.06, "{fixed} {follows}");
    }
}

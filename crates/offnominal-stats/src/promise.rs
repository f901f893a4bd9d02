//! What a threshold promises of false alarms, and how far nominal episodes go towards it.
//!
//! A threshold that is the k-th smallest of n episode maxima has a share F of false alarms that depends on the n episodes:
//! F follows a Beta(n + 1 − k, k) law (with ties, fewer alarms). Two promises are usual:
//!
//! | promise         | says                                       | rank k                                      | episodes needed        |
//! |-----------------|--------------------------------------------|---------------------------------------------|------------------------|
//! | on average      | E F ≤ α over calibration sets              | ⌈(n + 1)(1 − α)⌉                            | ⌈1/α − 1⌉              |
//! | with confidence | P(F ≤ α) ≥ γ over calibration sets         | the smallest with P(Bin(n, 1 − α) ≥ k) ≤ 1 − γ | ⌈ln(1 − γ) / ln(1 − α)⌉ |
//!
//! A single calibration set that keeps to the first may well have F = 2α, for good; of those that keep to the second, a
//! share of 1 − γ exceeds α at all. The second is also called *training-conditional*.
//!
//! Reference: Vovk, "Conditional validity of inductive conformal predictors", ACML 2012, propositions 2a and 2b.

use crate::proportion::beta_quantile;
use crate::{Level, StatsError};
use offnominal_core::estimate::Estimate;
use std::fmt::{self, Display, Formatter};

/// How many nominal episodes may have an alarm.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Promise {
    /// Accepted share of nominal episodes with an alarm, between 0 and 1.
    pub alpha: f64,
    /// With which confidence over calibration sets, between 0 and 1; on average over them if there is none.
    pub confidence: Option<f64>,
}

impl Promise {
    /// At most a share of nominal episodes, on average over calibration sets.
    pub fn on_average(alpha: f64) -> Promise {
        Promise { alpha, confidence: None }
    }

    /// At most a share of nominal episodes, in a share `confidence` of calibration sets.
    pub fn with_confidence(alpha: f64, confidence: f64) -> Promise {
        Promise { alpha, confidence: Some(confidence) }
    }

    /// Insists on shares between 0 and 1.
    ///
    /// # Errors
    /// If one is none.
    pub fn check(&self) -> Result<(), StatsError> {
        StatsError::within_unit("share of false alarms", self.alpha)?;
        self.confidence.map_or(Ok(()), |confidence| StatsError::within_unit("confidence", confidence))
    }

    /// The fewest episodes of which the largest maximum keeps the promise.
    pub fn min_episodes(&self) -> usize {
        let needed = match self.confidence {
            None => 1.0 / self.alpha - 1.0,
            Some(confidence) => (-confidence).ln_1p() / (-self.alpha).ln_1p(),
        };
        // The subtrahend keeps rounding from asking for one more.
        (needed - 1e-9).ceil().max(1.0) as usize
    }

    /// Which of n sorted maxima is the threshold, counted from 1. With too few of them it is the last one.
    pub fn rank(&self, n: usize) -> usize {
        match self.confidence {
            None => {
                // As above: 20 × 0.05 is no less than 1.
                let alarms = (self.alpha * (n + 1) as f64 + 1e-9).floor() as usize;
                n + 1 - alarms.clamp(1, n.max(1))
            }
            Some(confidence) => {
                let keeps = |k: usize| beta_quantile((n + 1 - k) as f64, k as f64, confidence) <= self.alpha;
                // The share of false alarms falls with the rank.
                let ranks: Vec<usize> = (1..=n).collect();
                (ranks.partition_point(|&k| !keeps(k)) + 1).min(n)
            }
        }
    }
}

impl Display for Promise {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        // Four digits, as a hundred times 0.07 is not quite 7.
        let percent = |x: f64| format!("{:.3e}", 100.0 * x).parse().unwrap_or(100.0 * x);
        write!(out, "at most {} % of nominal episodes, ", percent(self.alpha))?;
        match self.confidence {
            None => write!(out, "on average over calibration sets"),
            Some(confidence) => write!(out, "in {} % of calibration sets", percent(confidence)),
        }
    }
}

/// The share of nominal episodes above the k-th smallest of n maxima, by its Beta law.
///
/// # Panics
/// If k is not among 1 … n.
pub fn false_alarms(k: usize, n: usize, level: Level) -> Estimate {
    assert!((1..=n).contains(&k), "the {k}-th of {n}");
    let (a, b) = ((n + 1 - k) as f64, k as f64);
    let interval = (beta_quantile(a, b, level.tail()), beta_quantile(a, b, 1.0 - level.tail()));
    level.estimate(a / (a + b), interval, n, "conformal-beta")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// P(Bin(n, 1 − α) ≥ k) by its sum.
    fn binomial_tail(n: usize, alpha: f64, k: usize) -> f64 {
        let term = |i: usize| {
            let choose: f64 = (1..=i).map(|j| ((n + 1 - j) as f64 / j as f64).ln()).sum();
            (choose + i as f64 * (1.0 - alpha).ln() + (n - i) as f64 * alpha.ln()).exp()
        };
        (k..=n).map(term).sum()
    }

    #[test]
    fn ranks_of_published_tables() {
        for (n, alpha, average, confident) in [
            (50, 0.1, 46, Some(49)),
            (100, 0.05, 96, Some(99)),
            (100, 0.1, 91, Some(96)),
            (200, 0.05, 191, Some(196)),
            (300, 0.01, 298, Some(300)),
            (500, 0.05, 476, Some(484)),
            (1000, 0.1, 901, Some(916)),
            (30, 0.05, 30, None),
        ] {
            assert_eq!(Promise::on_average(alpha).rank(n), average);
            let promise = Promise::with_confidence(alpha, 0.95);
            assert_eq!((n >= promise.min_episodes()).then(|| promise.rank(n)), confident, "{n} {alpha}");
        }
    }

    #[test]
    fn a_rank_with_confidence_is_the_smallest_that_keeps_the_promise() {
        for (n, alpha, confidence) in [(59, 0.05, 0.95), (60, 0.1, 0.8), (150, 0.03, 0.9), (400, 0.05, 0.99)]
        {
            let k = Promise::with_confidence(alpha, confidence).rank(n);
            assert!(binomial_tail(n, alpha, k) <= 1.0 - confidence, "{n} {alpha}: {k}");
            assert!(binomial_tail(n, alpha, k - 1) > 1.0 - confidence, "{n} {alpha}: {k} could be smaller");
        }
    }

    #[test]
    fn the_fewest_episodes_keep_the_promise_and_one_less_does_not() {
        let least = |confidence| [0.01, 0.05, 0.1].map(|alpha| Promise { alpha, confidence }.min_episodes());
        assert_eq!(least(None), [99, 19, 9]);
        assert_eq!(least(Some(0.95)), [299, 59, 29]);
        assert!(binomial_tail(59, 0.05, 59) <= 0.05 && binomial_tail(58, 0.05, 58) > 0.05);
    }

    #[test]
    fn what_is_promised_is_said() {
        assert_eq!(
            [Promise::on_average(0.07), Promise::with_confidence(0.05, 0.95)].map(|p| p.to_string()),
            [
                "at most 7 % of nominal episodes, on average over calibration sets",
                "at most 5 % of nominal episodes, in 95 % of calibration sets",
            ]
        );
        let refused = |promise: Promise| promise.check().unwrap_err().to_string();
        assert!(refused(Promise::with_confidence(0.05, 1.0)).contains("confidence"));
        assert!(refused(Promise::on_average(f64::NAN)).contains("share of false alarms"));
    }
}

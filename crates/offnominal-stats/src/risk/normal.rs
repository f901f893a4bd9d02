//! Intervals that trust importance weights: normal approximations, which the diagnostics of the weights may refuse.

use super::diagnostics::Diagnostics;
use super::refusal::Refusal;
use super::weighted::{Weighted, mean};
use crate::Level;
use offnominal_core::estimate::Estimate;

/// The normal approximation. `extra` is the standard error of what else is uncertain, such as a normalising constant.
///
/// # Errors
/// The first warning of the diagnostics: the standard error is then itself not to be trusted.
pub fn normal(sample: &[Weighted], n: usize, extra: f64, level: Level) -> Result<Estimate, Refusal> {
    if let Some(&warning) = Diagnostics::of(sample, n)?.warnings().first() {
        return Err(Refusal::Doubtful(warning));
    }
    let (value, error) = mean(sample, n, Weighted::term);
    let half = level.z() * error.hypot(extra);
    Ok(level.estimate(value, ((value - half).max(0.0), value + half), sample.len(), "weights-normal"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::StatsError;

    #[test]
    fn equal_weights_are_plain_counting() {
        let sample: Vec<Weighted> =
            (0..1000).map(|i| Weighted { weight: 1.0, failed: i % 20 == 0 }).collect();
        let plain = normal(&sample, 1000, 0.0, Level::P95).unwrap();
        assert!((plain.value - 0.05).abs() < 1e-12);
        let half = 1.959964 * (0.05_f64 * 0.95 / 999.0).sqrt();
        assert!((plain.high - 0.05 - half).abs() < 1e-6, "{plain}");
    }

    #[test]
    fn an_interval_from_few_failures_is_refused() {
        let sample: Vec<Weighted> = (0..100).map(|i| Weighted { weight: 1.0, failed: i < 3 }).collect();
        let message = normal(&sample, 100, 0.0, Level::P95).unwrap_err().to_string();
        assert_eq!(
            message,
            "the weights are not to be trusted: only 3 failures were seen, expected at least 5"
        );
        assert!(matches!(
            normal(&[], 0, 0.0, Level::P95).unwrap_err(),
            Refusal::Stats(StatsError::TooFew { .. })
        ));
    }
}

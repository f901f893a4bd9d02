//! Confidence levels and the quantiles that belong to them.

use crate::StatsError;
use offnominal_core::estimate::Estimate;
use statrs::distribution::{ContinuousCDF, Normal, StudentsT};

/// A confidence level, strictly between 0 and 1.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Level(f64);

impl Level {
    /// 95 %.
    pub const P95: Level = Level(0.95);

    /// The confidence level, a share and not a percentage.
    pub fn get(self) -> f64 {
        self.0
    }

    /// The probability left out at each side of a two-sided interval.
    pub fn tail(self) -> f64 {
        (1.0 - self.0) / 2.0
    }

    /// The level with half of the error: two intervals with it hold together at this one.
    pub fn halved(self) -> Level {
        Level(1.0 - self.tail())
    }

    /// The standard normal quantile of a two-sided interval: 1.96 for 95 %.
    pub fn z(self) -> f64 {
        normal_quantile(1.0 - self.tail())
    }

    /// Student's quantile of a two-sided interval with so many degrees of freedom.
    pub fn t(self, degrees: usize) -> f64 {
        let student = StudentsT::new(0.0, 1.0, degrees.max(1) as f64).expect("positive degrees of freedom");
        student.inverse_cdf(1.0 - self.tail())
    }

    /// An estimate at this level; the interval is widened to the value if it does not contain it.
    pub fn estimate(self, value: f64, (low, high): (f64, f64), n: usize, method: &str) -> Estimate {
        Estimate {
            value,
            low: low.min(value),
            high: high.max(value),
            level: self.0,
            n,
            method: method.into(),
        }
    }
}

impl TryFrom<f64> for Level {
    type Error = StatsError;

    fn try_from(level: f64) -> Result<Level, StatsError> {
        StatsError::within_unit("confidence level", level)?;
        Ok(Level(level))
    }
}

/// Φ⁻¹, the standard normal quantile.
pub(crate) fn normal_quantile(p: f64) -> f64 {
    Normal::standard().inverse_cdf(p)
}

/// Φ, the standard normal distribution function.
pub(crate) fn normal_cdf(z: f64) -> f64 {
    Normal::standard().cdf(z)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_match_the_tables() {
        // scipy 1.17.1: norm.ppf(.975), t.ppf(.975, 1), t.ppf(.975, 9), t.ppf(.95, 99)
        let close = |found: f64, want: f64| assert!((found - want).abs() < 1e-8, "{found} {want}");
        close(Level::P95.z(), 1.959963984540054);
        close(Level::P95.t(1), 12.706204736174694);
        close(Level::P95.t(9), 2.2621571627982053);
        close(Level(0.90).t(99), 1.6603911560169928);
    }

    #[test]
    fn impossible_levels_are_refused() {
        for bad in [0.0, 1.0, 95.0, f64::NAN] {
            assert!(Level::try_from(bad).is_err(), "{bad}");
        }
        assert_eq!(
            Level::try_from(95.0).unwrap_err().to_string(),
            "confidence level: expected a number between 0 and 1, found 95"
        );
    }
}

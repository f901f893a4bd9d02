//! A number with the interval that says how far it can be trusted.

use serde::{Deserialize, Serialize};
use std::fmt;

/// A value that never travels alone: point estimate, interval, confidence level, sample size and method.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Estimate {
    /// The point estimate.
    pub value: f64,
    /// Lower end of the interval.
    pub low: f64,
    /// Upper end of the interval.
    pub high: f64,
    /// Confidence level of the interval, such as 0.95.
    pub level: f64,
    /// Number of independent units (usually episodes) behind the value.
    pub n: usize,
    /// How the interval was made, such as `bootstrap` or `clopper-pearson`.
    pub method: String,
}

impl Estimate {
    /// Whether a value lies inside the interval.
    pub fn covers(&self, truth: f64) -> bool {
        self.low <= truth && truth <= self.high
    }
}

impl fmt::Display for Estimate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let digits = f.precision().unwrap_or(3);
        write!(f, "{:.digits$} [{:.digits$}, {:.digits$}]", self.value, self.low, self.high)
    }
}

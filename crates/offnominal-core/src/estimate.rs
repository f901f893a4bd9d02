//! A number with the interval that says how far it can be trusted.

use serde::{Deserialize, Deserializer, Serialize};
use std::fmt;

/// A value that never travels alone: point estimate, interval, confidence level, sample size and method.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Estimate {
    /// The point estimate.
    pub value: f64,
    /// Lower end of the interval; −∞, written as null in JSON, if there is none.
    #[serde(deserialize_with = "low_end")]
    #[cfg_attr(feature = "schema", schemars(with = "Option<f64>"))]
    pub low: f64,
    /// Upper end of the interval; ∞, written as null in JSON, if there is none.
    #[serde(deserialize_with = "high_end")]
    #[cfg_attr(feature = "schema", schemars(with = "Option<f64>"))]
    pub high: f64,
    /// Confidence level of the interval, such as 0.95.
    pub level: f64,
    /// Number of independent units (usually episodes) behind the value.
    pub n: usize,
    /// How the interval was made, such as `bootstrap` or `clopper-pearson`.
    pub method: String,
}

impl Estimate {
    /// Whether value and both ends are finite numbers.
    pub fn is_finite(&self) -> bool {
        [self.value, self.low, self.high].iter().all(|x| x.is_finite())
    }

    /// Whether a value lies inside the interval.
    pub fn covers(&self, truth: f64) -> bool {
        self.low <= truth && truth <= self.high
    }
}

/// JSON has no infinity and serde_json writes null for it, so null must be read as the missing end.
fn low_end<'de, D: Deserializer<'de>>(d: D) -> Result<f64, D::Error> {
    Ok(Option::deserialize(d)?.unwrap_or(f64::NEG_INFINITY))
}

fn high_end<'de, D: Deserializer<'de>>(d: D) -> Result<f64, D::Error> {
    Ok(Option::deserialize(d)?.unwrap_or(f64::INFINITY))
}

impl fmt::Display for Estimate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let digits = f.precision().unwrap_or(3);
        write!(f, "{:.digits$} [{:.digits$}, {:.digits$}]", self.value, self.low, self.high)
    }
}

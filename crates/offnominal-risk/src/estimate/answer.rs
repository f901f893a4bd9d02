//! An estimate in words, or why there is none.

use offnominal_core::estimate::Estimate;
use offnominal_stats::risk::Refusal;
use serde::{Deserialize, Serialize};
use std::fmt;

/// An estimate, or why there is none.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Answer {
    /// What is said, such as which interval it has.
    pub name: String,
    /// The failure probability.
    pub risk: Option<Estimate>,
    /// Why there is none.
    pub refused: Option<String>,
}

pub(super) fn answer(name: &str, found: &Result<Estimate, Refusal>) -> Answer {
    Answer {
        name: name.into(),
        risk: found.as_ref().ok().cloned(),
        refused: found.as_ref().err().map(ToString::to_string),
    }
}

impl fmt::Display for Answer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (&self.risk, &self.refused) {
            (Some(e), _) => {
                let [value, low, high] = [e.value, e.low, e.high].map(probability);
                write!(f, "{:<54} {value} [{low}, {high}]  {}", self.name, e.method)
            }
            (None, why) => write!(f, "{:<54} refused: {}", self.name, why.as_deref().unwrap_or_default()),
        }
    }
}

/// A probability with two digits.
pub fn probability(p: f64) -> String {
    if p == 0.0 || p >= 0.01 { format!("{p:.4}") } else { format!("{p:.1e}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_probabilities_keep_two_digits() {
        assert_eq!([0.0, 0.25, 3.14e-5].map(probability), ["0.0000", "0.2500", "3.1e-5"]);
    }
}

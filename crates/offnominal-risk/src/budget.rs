//! `risk budget`: how many episodes plain counting needs to know a failure probability within a factor.

use crate::request::defaults;
use anyhow::Result;
use offnominal_engine::context::Context;
use offnominal_stats::Level;
use offnominal_stats::risk::{self, Budget};
use serde::{Deserialize, Serialize};
use std::fmt;

/// What is to be known how well.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Request {
    /// Failure probability, above 0 and below 1.
    pub p: f64,
    /// The estimate is to lie between p / delta and delta · p; at least 1.01.
    #[serde(default = "delta")]
    pub delta: f64,
    /// Probability with which it is to, between 0 and 1.
    #[serde(default = "crate::request::level")]
    pub confidence: f64,
}

defaults! {
    delta: f64 = 3.0;
}

/// The episodes that are needed.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[serde(transparent)]
pub struct Report {
    /// The episodes.
    pub budget: Budget,
    #[serde(skip)]
    request: Request,
}

/// Computes the budget.
///
/// # Errors
/// If a number is out of its range.
pub fn run(request: &Request, _: &Context) -> Result<Report> {
    let confidence = Level::try_from(request.confidence)?;
    Ok(Report { budget: risk::budget(request.p, request.delta, confidence)?, request: *request })
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Request { p, delta, confidence } = self.request;
        let in_units = |episodes: u64| format!("{episodes} episodes ({:.2} / p)", episodes as f64 * p);
        writeln!(f, "within a factor of {delta} in {} % of all runs:", 100.0 * confidence)?;
        writeln!(f, "  first reached after {}", in_units(self.budget.first_reached))?;
        writeln!(f, "  always holds from {}", in_units(self.budget.always_holds))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn the_text_has_both_numbers_and_their_multiples_of_one_over_p() {
        let request = Request { p: 1e-3, delta: 3.0, confidence: 0.95 };
        let budget = Budget { first_reached: 4750, always_holds: 6300 };
        let text = Report { budget, request }.to_string();
        assert!(text.contains("factor of 3 in 95 %"), "{text}");
        assert!(
            text.contains("4750 episodes (4.75 / p)") && text.contains("6300 episodes (6.30 / p)"),
            "{text}"
        );
    }

    #[test]
    fn the_json_has_two_counts_and_wrong_requests_are_refused() {
        let run = |request| run(&serde_json::from_value(request).unwrap(), &Context::silent(0, 1));
        let found = json!(run(json!({ "p": 1e-3 })).unwrap());
        assert_eq!(found, json!(risk::budget(1e-3, 3.0, Level::P95).unwrap()));
        assert!(found["first_reached"].as_u64() < found["always_holds"].as_u64());
        let error = run(json!({ "p": 1e-3, "confidence": 1.5 })).unwrap_err().to_string();
        assert!(error.contains("confidence level: expected a number between 0 and 1, found 1.5"), "{error}");
        assert!(serde_json::from_value::<Request>(json!({ "p": 1e-3, "detla": 2 })).is_err());
    }
}

//! `risk budget`: how many episodes plain counting needs to know a failure probability within a factor.

use crate::request::LEVEL;
use clap::Args;

use anyhow::Result;
use offnominal_engine::context::Context;
use offnominal_stats::Level;
use offnominal_stats::risk;
use serde::Serialize;
use std::fmt;

/// What is to be known how well.
#[derive(Debug, Clone, Copy, PartialEq, Args)]
pub struct Request {
    /// Failure probability, above 0 and below 1
    #[arg(long, value_name = "P", allow_negative_numbers = true)]
    pub p: f64,
    /// Factor: the estimate lies between P / D and D P
    #[arg(long, default_value_t = 3.0, value_name = "D", allow_negative_numbers = true)]
    pub delta: f64,
    /// Probability of that
    #[arg(long, default_value_t = LEVEL, value_name = "C", allow_negative_numbers = true)]
    pub confidence: f64,
}

/// The episodes that are needed.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Report {
    /// The number from which on more never have less than the confidence.
    pub episodes: u64,
    #[serde(skip)]
    request: Request,
}

/// Computes the budget.
///
/// # Errors
/// If a number is out of its range.
pub fn run(request: &Request, _: &Context) -> Result<Report> {
    let confidence = Level::try_from(request.confidence)?;
    Ok(Report { episodes: risk::budget(request.p, request.delta, confidence)?, request: *request })
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Request { p, delta, confidence } = self.request;
        let (percent, units) = (100.0 * confidence, self.episodes as f64 * p);
        writeln!(
            f,
            "within a factor of {delta} in {percent} % of all runs: from {} episodes on ({units:.2} / p)",
            self.episodes
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use offnominal_work::cli;
    use serde_json::json;

    #[test]
    fn the_text_has_the_number_and_its_multiple_of_one_over_p() {
        let request = Request { p: 1e-3, delta: 3.0, confidence: 0.95 };
        let text = Report { episodes: 6300, request }.to_string();
        assert_eq!(text, "within a factor of 3 in 95 % of all runs: from 6300 episodes on (6.30 / p)\n");
    }

    #[test]
    fn the_json_has_the_count_and_wrong_requests_are_refused() {
        let run = |request| run(&cli::request(&request).unwrap(), &Context::silent(0, 1));
        let found = json!(run(json!({ "p": 1e-3 })).unwrap());
        assert_eq!(found, json!({ "episodes": risk::budget(1e-3, 3.0, Level::P95).unwrap() }));
        let error = run(json!({ "p": 1e-3, "confidence": 1.5 })).unwrap_err().to_string();
        assert!(error.contains("confidence level: expected a number between 0 and 1, found 1.5"), "{error}");
        assert!(cli::request::<Request>(&json!({ "p": 1e-3, "detla": 2 })).is_err());
    }
}

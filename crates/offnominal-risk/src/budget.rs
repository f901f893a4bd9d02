//! `risk budget`: how many episodes plain counting needs to know a failure probability within a factor, or to show that it
//! is small.

use crate::request::LEVEL;
use clap::Args;

use anyhow::{Result, bail};
use offnominal_engine::context::Context;
use offnominal_stats::Level;
use offnominal_stats::risk;
use serde::Serialize;
use std::fmt;

/// What is to be known how well.
#[derive(Debug, Clone, Copy, PartialEq, Args)]
pub struct Request {
    /// Failure probability, above 0 and below 1
    #[arg(long, value_name = "P", required_unless_present = "show_below", allow_negative_numbers = true)]
    pub p: Option<f64>,
    /// Factor: the estimate lies between P / D and D P
    #[arg(long, default_value_t = 3.0, value_name = "D", allow_negative_numbers = true)]
    pub delta: f64,
    /// Instead: episodes without a failure that show a probability of at most P
    #[arg(long, value_name = "P", conflicts_with_all = ["p", "delta"], allow_negative_numbers = true)]
    pub show_below: Option<f64>,
    /// Probability of that
    #[arg(long, default_value_t = LEVEL, value_name = "C", allow_negative_numbers = true)]
    pub confidence: f64,
}

/// The episodes that are needed.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Report {
    /// The number from which on more never have less than the confidence; with `show_below`, those without a failure
    /// after which the interval, two-sided as that of every estimate, lies below.
    pub episodes: u64,
    /// With `show_below`: the same for a one-sided bound.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub one_sided: Option<u64>,
    #[serde(skip)]
    request: Request,
}

/// Computes the budget.
///
/// # Errors
/// If a number is out of its range, or there is not exactly one probability.
pub fn run(request: &Request, _: &Context) -> Result<Report> {
    let (confidence, request) = (Level::try_from(request.confidence)?, *request);
    let (episodes, one_sided) = match (request.p, request.show_below) {
        (Some(p), None) => (risk::budget(p, request.delta, confidence)?, None),
        (None, Some(p)) => {
            let [one_sided, episodes] = risk::clean_episodes(p, confidence)?;
            (episodes, Some(one_sided))
        }
        _ => bail!("budget: expected either p or show below"),
    };
    Ok(Report { episodes, one_sided, request })
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Report { episodes, one_sided, request } = self;
        let percent = 100.0 * request.confidence;
        if let (Some(p), Some(one_sided)) = (request.show_below, one_sided) {
            writeln!(f, "at most {p} with {percent} % confidence: {episodes} episodes without a failure")?;
            return writeln!(f, "  {one_sided} where only the upper bound counts (one-sided)");
        }
        let (delta, units) = (request.delta, *episodes as f64 * request.p.unwrap_or_default());
        writeln!(
            f,
            "within a factor of {delta} in {percent} % of all runs: from {episodes} episodes on ({units:.2} / p)"
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
        let request = Request { p: Some(1e-3), delta: 3.0, show_below: None, confidence: 0.95 };
        let text = Report { episodes: 6300, one_sided: None, request }.to_string();
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

    #[test]
    fn clean_episodes_show_that_a_probability_is_small() {
        let asked = cli::request::<Request>(&json!({ "show_below": 1e-3 })).unwrap();
        let found = run(&asked, &Context::silent(0, 1)).unwrap();
        assert_eq!(json!(found), json!({ "episodes": 3688, "one_sided": 2995 }));
        let text = "at most 0.001 with 95 % confidence: 3688 episodes without a failure\n  \
                    2995 where only the upper bound counts (one-sided)\n";
        assert_eq!(found.to_string(), text);
        let both = cli::request::<Request>(&json!({ "show_below": 1e-3, "p": 1e-3 }));
        assert!(both.and_then(|asked| run(&asked, &Context::silent(0, 1))).is_err());
    }
}

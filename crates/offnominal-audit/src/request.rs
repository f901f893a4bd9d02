//! What is asked for.

use crate::depth_choice::DepthChoice;
use anyhow::{Result, ensure};
use clap::Args;
use offnominal_engine::catalogues;
use offnominal_engine::detector_choice::DetectorChoice;
use offnominal_engine::per_time::Span;
use offnominal_engine::request::within;
use offnominal_engine::request::{EnvId, POLICY};
use offnominal_work::cli::share;
use std::path::PathBuf;

/// A time in seconds; as a type of its own, so that nobody takes it for a number, which it is not read from.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Secs(pub f64);

/// The policy to audit, and how; the seed is that of the context.
#[derive(Debug, Clone, PartialEq, Args)]
pub struct Request {
    /// The environment.
    #[command(flatten)]
    pub env: EnvId,
    /// The policy.
    #[arg(long, help = POLICY)]
    pub policy: String,
    /// Time budget, such as 90s, 30m or 2h; it sets depth and counts
    #[arg(long, value_name = "TIME", default_value = "30m", value_parser = secs)]
    pub budget: Secs,
    /// glance, quick, standard or thorough, with counts such as quick,test=96,failures=368 [default: what fits the budget]
    #[arg(long, value_name = "DEPTH")]
    pub depth: Option<DepthChoice>,
    /// Another detector: id, or table such as '{ id = "knn", k = 3 }'; repeatable
    #[arg(long = "detector", value_name = "DETECTOR")]
    pub detectors: Vec<DetectorChoice>,
    /// Faults in place of those of the depth, comma-separated
    #[arg(long = "anomaly", value_name = "A,…", value_delimiter = ',')]
    pub anomalies: Vec<String>,
    /// Accepted share of nominal episodes with an alarm
    #[arg(long, default_value_t = 0.05, value_name = "SHARE", value_parser = share)]
    pub alpha: f64,
    /// Requirements such as 'auroc_matched(tiny) >= .8, risk <= 1e-2' (docs/howto/audit.md); else exit code 1
    #[arg(long, value_name = "RULES")]
    pub require: Option<String>,
    /// Output folder; an interrupted audit continues there
    #[arg(long, value_name = "DIR", default_value = "runs/audit")]
    pub out: PathBuf,
}

/// A time such as `90s`, `30m` or `2h`, in seconds.
fn secs(text: &str) -> Result<Secs, String> {
    match text.parse() {
        Ok(Span::Secs(secs)) => Ok(Secs(secs)),
        _ => Err(format!("expected a time such as 90s, 30m or 2h, found {text:?}")),
    }
}

/// Shortest and longest budget, in seconds.
const BUDGETS: (f64, f64) = (30.0, 7.0 * 86_400.0);

impl Request {
    /// Checks what can be checked before the environment is there.
    ///
    /// # Errors
    /// Names the field, what was expected and what was found.
    pub fn check(&self) -> Result<()> {
        within("budget in seconds", self.budget.0, BUDGETS.0..=BUDGETS.1)?;
        ensure!(
            (0.001..=0.5).contains(&self.alpha),
            "alpha: expected a number from 0.001 to 0.5, found {}",
            self.alpha
        );
        for choice in &self.detectors {
            catalogues::detectors().build(&choice.id, &choice.params)?;
        }
        Ok(())
    }

    /// The command that makes the same audit: the one that was given, with the depth that the budget led to.
    pub fn command(&self, given: &str, depth: &DepthChoice) -> String {
        match (given, &self.depth) {
            ("", _) | (_, Some(_)) => given.into(),
            (_, None) => format!("{given} --depth {depth}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use offnominal_work::cli;
    use serde_json::json;

    #[test]
    fn wrong_numbers_and_names_are_refused() {
        let refusal = |request: Request| request.check().unwrap_err().to_string();
        let base = || cli::request::<Request>(&json!({ "env": "sap-goal0", "policy": "tqc" })).unwrap();
        let text = refusal(Request { budget: Secs(1.0), ..base() });
        assert_eq!(text, "budget in seconds: expected 30 to 604800, found 1");
        let text = refusal(Request { alpha: f64::NAN, ..base() });
        assert_eq!(text, "alpha: expected a number from 0.001 to 0.5, found NaN");
        let text = refusal(Request { detectors: vec![DetectorChoice::named("kn")], ..base() });
        assert!(text.contains("did you mean \"knn\""), "{text}");
        assert!(base().check().is_ok());
    }

    #[test]
    fn times_are_read() {
        assert_eq!(["90s", "30m", "1.5h"].map(secs), [Ok(Secs(90.0)), Ok(Secs(1800.0)), Ok(Secs(5400.0))]);
        for wrong in ["", "m", "30", "-3m", "3y", "NaNm", "3µ"] {
            assert!(secs(wrong).is_err_and(|e| e.contains("30m or 2h")), "{wrong}");
        }
    }
}

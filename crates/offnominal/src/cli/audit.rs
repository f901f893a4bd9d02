//! `audit`: one policy in one simulator, by one command.

use crate::cli::{Common, Outcome};
use anyhow::Result;
use clap::Args;
use offnominal_audit::depth::Depth;
use offnominal_audit::request::{self, Request};
use offnominal_audit::run;
use offnominal_engine::detector_choice::DetectorChoice;
use offnominal_engine::rule_choice::Span;

use super::one_of::one_of;

/// What stands below the options.
const AFTER: &str = "The audit plays episodes, finds how strong each fault must be to cost the policy its score, tries detectors on \
these faults, fits a monitor, counts failures, and writes audit.html, audit.json, badge.svg and badge.json. It says what it \
plans before it starts, and goes on where it was stopped. The depth depends on the speed of the machine unless --depth gives \
it; the same depth and seed give the same numbers.

  offnominal audit --env sap-goal0 --policy tqc --budget 3m
  offnominal audit --env gymnasium:CartPole-v1 --policy ppo_cartpole.zip --require 'auroc_matched(tiny) >= .8, risk <= 1e-2'";

/// Arguments of `audit`.
#[derive(Debug, Args)]
#[command(after_help = AFTER)]
pub struct Audit {
    /// Environment id (see `list envs`), or `gymnasium:ID` for any environment of Gymnasium
    #[arg(long)]
    env: String,
    /// `tqc` for the one shipped with the environment, a name of `list policies`, the file of a policy of this program or
    /// another library, `module:name` of Python, `command:COMMAND`, or `random`
    #[arg(long)]
    policy: String,
    /// Time that it may take, such as 90s, 30m or 2h; it chooses the depth
    #[arg(long, value_name = "TIME", default_value = "30m", value_parser = secs)]
    budget: f64,
    /// How much is done, whatever it takes [default: the most that fits the budget]
    #[arg(long, value_parser = one_of::<Depth>())]
    depth: Option<Depth>,
    /// A detector beside those of the depth: an id, or a table such as '{ id = "knn", k = 3 }'; may be repeated
    #[arg(long = "detector", value_name = "DETECTOR")]
    detectors: Vec<DetectorChoice>,
    /// Faults (see `list anomalies`) in place of those of the depth, with commas between
    #[arg(long = "anomaly", value_name = "A,…", value_delimiter = ',')]
    anomalies: Vec<String>,
    /// Accepted share of nominal episodes with an alarm
    #[arg(long, default_value_t = request::alpha(), value_name = "SHARE", value_parser = crate::cli::common::share)]
    alpha: f64,
    /// What must hold, each with its whole interval; else the exit code is 1. Measures: auroc_matched, detection_rate
    /// (both also at a strength, as in `auroc_matched(tiny) >= .8`), false_alarm_rate, risk, success, return
    #[arg(long, value_name = "RULES")]
    require: Option<String>,
}

impl Audit {
    /// Audits, and prints what to do.
    ///
    /// # Errors
    /// If environment or policy cannot be had, or the budget is too small.
    pub fn run(self, common: &Common) -> Result<Outcome> {
        let Audit { env, policy, budget, depth, detectors, anomalies, alpha, require } = self;
        let (env, out) = (common.environment(&env)?, common.out_or("audit"));
        let request =
            Request { env, policy, budget_secs: budget, depth, detectors, anomalies, alpha, require, out };
        let found = run(&request, &common.context())?;
        common.print_in_order(&found)?;
        Ok(if found.is_acceptable() { Outcome::Done } else { Outcome::NotAcceptable })
    }
}

/// A time such as `90s`, `30m` or `2h`, in seconds.
fn secs(text: &str) -> Result<f64, String> {
    match text.parse() {
        Ok(Span::Secs(secs)) => Ok(secs),
        _ => Err(format!("expected a time such as 90s, 30m or 2h, found {text:?}")),
    }
}

#[cfg(test)]
mod tests {
    use super::secs;

    #[test]
    fn times_are_read() {
        assert_eq!(["90s", "30m", "1.5h"].map(secs), [Ok(90.0), Ok(1800.0), Ok(5400.0)]);
        for wrong in ["", "m", "30", "-3m", "3y", "NaNm", "3µ"] {
            assert!(secs(wrong).is_err_and(|e| e.contains("30m or 2h")), "{wrong}");
        }
    }
}

//! What is asked for.

use crate::depth::Depth;
use anyhow::{Result, ensure};
use offnominal_engine::catalogues;
use offnominal_engine::detector_choice::DetectorChoice;
use offnominal_engine::request::within;
use serde::Deserialize;
use std::path::PathBuf;

/// The policy to audit, and how; the seed is that of the context.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Request {
    /// The environment.
    pub env: String,
    /// The policy.
    pub policy: String,
    /// Time that the audit may take, in seconds; it chooses the depth.
    #[serde(default = "budget_secs")]
    pub budget_secs: f64,
    /// The depth, whatever it takes; if absent, the largest that fits the budget.
    #[serde(default)]
    pub depth: Option<Depth>,
    /// Detectors beside those of the depth.
    #[serde(default)]
    pub detectors: Vec<DetectorChoice>,
    /// The faults; if none is named, those of the depth.
    #[serde(default)]
    pub anomalies: Vec<String>,
    /// Accepted share of nominal episodes with an alarm.
    #[serde(default = "alpha")]
    pub alpha: f64,
    /// What must hold, such as `auroc_matched(tiny) >= .8, risk <= 1e-2`.
    #[serde(default)]
    pub require: Option<String>,
    /// The folder of everything that is written; an audit that was stopped goes on there.
    #[serde(default = "out")]
    pub out: PathBuf,
}

offnominal_engine::defaults! {
    budget_secs: f64 = 1800.0;
    alpha: f64 = 0.05;
    out: PathBuf = "runs/audit".into();
}

/// Shortest and longest budget, in seconds.
const BUDGETS: (f64, f64) = (30.0, 7.0 * 86_400.0);

impl Request {
    /// Of an environment and a policy, with what a request does not say.
    pub fn new(env: &str, policy: &str) -> Request {
        Request {
            env: env.into(),
            policy: policy.into(),
            budget_secs: budget_secs(),
            depth: None,
            detectors: vec![],
            anomalies: vec![],
            alpha: alpha(),
            require: None,
            out: out(),
        }
    }

    /// Checks what can be checked before the environment is there.
    ///
    /// # Errors
    /// Names the field, what was expected and what was found.
    pub fn check(&self) -> Result<()> {
        within("budget in seconds", self.budget_secs, BUDGETS.0..=BUDGETS.1)?;
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

    /// The command that makes the same audit.
    pub fn command(&self, seed: u64, depth: Depth) -> String {
        let depth: &str = depth.into();
        let mut command = format!(
            "offnominal audit --env '{}' --policy '{}' --depth {depth} --seed {seed} --alpha {}",
            self.env, self.policy, self.alpha
        );
        let mut add = |option: &str, value: &str| command.push_str(&format!(" --{option} '{value}'"));
        self.detectors.iter().for_each(|choice| add("detector", &choice.to_string()));
        self.anomalies.iter().for_each(|anomaly| add("anomaly", anomaly));
        self.require.iter().for_each(|rule| add("require", rule));
        command + &format!(" --out {}", self.out.display())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wrong_numbers_and_names_are_refused() {
        let refusal = |request: Request| request.check().unwrap_err().to_string();
        let base = || Request::new("sap-goal0", "tqc");
        let text = refusal(Request { budget_secs: 1.0, ..base() });
        assert_eq!(text, "budget in seconds: expected 30 to 604800, found 1");
        let text = refusal(Request { alpha: f64::NAN, ..base() });
        assert_eq!(text, "alpha: expected a number from 0.001 to 0.5, found NaN");
        let text = refusal(Request { detectors: vec![DetectorChoice::named("kn")], ..base() });
        assert!(text.contains("did you mean \"knn\""), "{text}");
        assert!(base().check().is_ok());
    }

    #[test]
    fn the_command_names_everything_that_the_result_depends_on() {
        let request = Request { anomalies: vec!["obs-noise".into()], ..Request::new("sap-goal0", "tqc") };
        assert_eq!(
            request.command(3, Depth::Quick),
            "offnominal audit --env 'sap-goal0' --policy 'tqc' --depth quick --seed 3 --alpha 0.05 \
             --anomaly 'obs-noise' --out runs/audit"
        );
    }
}

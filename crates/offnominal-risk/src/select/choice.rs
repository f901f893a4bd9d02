//! What choosing the policy with the lowest estimate is worth: how often fails what one would have chosen?
//!
//! Reference: Uesato et al., 2018, section 4.3 and figure 2.

use anyhow::{Context, Result, ensure};
use offnominal_files::dataset::PolicyName;
use serde::Deserialize;
use std::path::Path;

/// Which policy one would choose at a moment.
#[derive(Debug, Clone, PartialEq)]
pub struct Choice {
    /// Experiments that were made by then, with all policies.
    pub experiments: u64,
    /// Those with the lowest estimate; one of them by lot.
    pub policies: Vec<usize>,
}

/// Failure probabilities from a longer race without a predictor.
#[derive(Debug)]
pub struct Truth {
    risks: Vec<f64>,
}

/// What is read of the file of that race.
#[derive(Deserialize)]
struct File {
    env: String,
    method: String,
    policies: Vec<Row>,
}

#[derive(Deserialize)]
struct Row {
    policy: String,
    experiments: u64,
    failures: u64,
}

impl Truth {
    /// Reads the `select.json` of a longer race of the same policies, or of more.
    ///
    /// # Errors
    /// If the file cannot be read, belongs to another environment or to a race with a predictor, or lacks a policy.
    pub fn open(path: &Path, env: &str, policies: &[PolicyName]) -> Result<Truth> {
        Truth::of(&offnominal_files::read::json(path)?, env, policies)
            .with_context(|| path.display().to_string())
    }

    fn of(file: &File, env: &str, policies: &[PolicyName]) -> Result<Truth> {
        ensure!(file.env == env, "expected a race in {env}, found one in {}", file.env);
        ensure!(file.method == "plain", "expected a race without a predictor, found method {}", file.method);
        let risk = |name: &PolicyName| {
            let row = file.policies.iter().find(|row| row.policy == name.id);
            let row = row.with_context(|| format!("expected policy {}, found none", name.id))?;
            // As in the paper (appendix E.4): one that never failed is counted as if it had failed once.
            Ok(row.failures.max(1) as f64 / row.experiments as f64)
        };
        Ok(Truth { risks: policies.iter().map(risk).collect::<Result<_>>()? })
    }

    /// The failure probability of a choice.
    pub fn risk(&self, choice: &Choice) -> f64 {
        let of_each = choice.policies.iter().map(|&i| self.risks[i]);
        of_each.sum::<f64>() / choice.policies.len() as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names() -> Vec<PolicyName> {
        ["a", "b", "c"].map(|id| PolicyName { id: id.into(), digest: String::new() }).into()
    }

    const RACE: &str = r#"{"env": "toy", "method": "plain", "best": null, "policies": [
        {"policy": "a", "experiments": 1000, "failures": 0, "risk": null},
        {"policy": "b", "experiments": 1000, "failures": 3},
        {"policy": "c", "experiments": 100, "failures": 50}]}"#;

    #[test]
    fn ties_are_broken_by_lot_and_no_failure_counts_as_one() {
        let truth = Truth::of(&serde_json::from_str(RACE).unwrap(), "toy", &names()).unwrap();
        let risk = |policies: &[usize]| truth.risk(&Choice { experiments: 0, policies: policies.to_vec() });
        assert_eq!([risk(&[0]), risk(&[0, 1]), risk(&[2])], [1e-3, 2e-3, 0.5]);
    }

    #[test]
    fn another_race_is_refused() {
        let refusal = |text: &str, env: &str, names: &[PolicyName]| {
            Truth::of(&serde_json::from_str(text).unwrap(), env, names).unwrap_err().to_string()
        };
        assert!(refusal(RACE, "driving", &names()).contains("expected a race in driving, found one in toy"));
        let thinned = RACE.replace("plain", "thinned");
        assert!(refusal(&thinned, "toy", &names()).contains("found method thinned"));
        let more = [names(), vec![PolicyName { id: "d".into(), digest: String::new() }]].concat();
        assert!(refusal(RACE, "toy", &more).contains("expected policy d, found none"));
    }
}

//! Trials that others recorded: which policy, which task, and what came of it.

use anyhow::{Context as _, Result, bail, ensure};
use offnominal_core::limits::EPISODES;
use serde_json::{Map, Value};
use std::collections::BTreeSet;

/// Names of the arm in which nothing is perturbed.
pub const BENIGN: [&str; 5] = ["nominal", "benign", "clean", "control", "none"];

/// One trial of a policy.
#[derive(Debug, Clone, PartialEq)]
pub struct Trial {
    /// Its task; empty where there is only one.
    pub task: String,
    /// Its seed, scene or initial condition; none if nobody recorded it.
    pub seed: Option<String>,
    /// What was perturbed; none in a recording without conditions.
    pub condition: Option<String>,
    /// 1 for a success, 0 for none, what lies between for a part of one.
    pub outcome: f64,
}

/// What one policy did.
#[derive(Debug, Clone, PartialEq)]
pub enum Outcomes {
    /// Trials in the order of the recording.
    Trials(Vec<Trial>),
    /// Successes and trials, and nothing else.
    Counts(u64, u64),
}

/// A policy and its trials.
#[derive(Debug, Clone, PartialEq)]
pub struct Recording {
    /// Its name.
    pub policy: String,
    /// The file, or the counts.
    pub from: String,
    /// In words: `CSV`, `counts`, …
    pub format: &'static str,
    /// What it did.
    pub outcomes: Outcomes,
    /// What was left out or assumed while reading, in sentences.
    pub remarks: Vec<String>,
}

impl Recording {
    /// Number of trials.
    pub fn count(&self) -> u64 {
        match &self.outcomes {
            Outcomes::Trials(trials) => trials.len() as u64,
            Outcomes::Counts(_, n) => *n,
        }
    }

    /// Its trials; none of counts.
    pub fn trials(&self) -> &[Trial] {
        match &self.outcomes {
            Outcomes::Trials(trials) => trials,
            Outcomes::Counts(..) => &[],
        }
    }

    /// Refuses what cannot be compared.
    ///
    /// # Errors
    /// If there are no trials, one stands there twice, or only some have a seed or a condition.
    pub fn check(&self) -> Result<()> {
        let Outcomes::Trials(trials) = &self.outcomes else { return Ok(()) };
        let within = (1..=EPISODES).contains(&trials.len());
        ensure!(within, "policy {}: expected 1 to {EPISODES} trials, found {}", self.policy, trials.len());
        let mut seen = BTreeSet::new();
        for (i, trial) in trials.iter().enumerate() {
            let place = || format!("policy {}, trial {}", self.policy, i + 1);
            let alike = |what: &str, is: bool, first: bool| {
                let (expected, found) = if first { ("a", "none") } else { ("no", "one") };
                ensure!(
                    is == first,
                    "{}: expected {expected} {what} as in the trials before, found {found}",
                    place()
                );
                Ok(())
            };
            alike("seed", trial.seed.is_some(), trials[0].seed.is_some())?;
            alike("condition", trial.condition.is_some(), trials[0].condition.is_some())?;
            let Some(seed) = &trial.seed else { continue };
            let is_new = seen.insert((&trial.task, &trial.condition, seed));
            ensure!(is_new, "{}: expected each seed once in a task, found {seed} again", place());
        }
        Ok(())
    }
}

/// A success or partial credit, whatever a file writes for it.
///
/// # Errors
/// If it is something else.
pub fn outcome(field: &str, value: &Value) -> Result<f64> {
    let number = match value {
        Value::Bool(is) => Some(f64::from(*is)),
        Value::Number(number) => number.as_f64(),
        Value::String(text) => match text.trim().to_ascii_lowercase().as_str() {
            "true" => Some(1.0),
            "false" => Some(0.0),
            text => text.parse().ok(),
        },
        _ => None,
    };
    let fits = number.filter(|x| (0.0..=1.0).contains(x));
    fits.with_context(|| {
        format!("{field}: expected true, false, or a number from 0 to 1, found {}", shown(value))
    })
}

/// A name in a file, which may be a number; nothing where it is missing or empty.
///
/// # Errors
/// If it is neither text nor a whole number.
pub fn name(fields: &Map<String, Value>, field: &str) -> Result<Option<String>> {
    Ok(match fields.get(field) {
        None | Some(Value::Null) => None,
        Some(Value::String(text)) if text.is_empty() => None,
        Some(Value::String(text)) if text.len() <= 1000 => Some(text.clone()),
        Some(Value::Number(number)) if !number.is_f64() => Some(number.to_string()),
        Some(other) => bail!("{field}: expected a text or a whole number, found {}", shown(other)),
    })
}

/// A value as it stands in errors.
fn shown(value: &Value) -> String {
    match value {
        Value::Array(_) => "a list".into(),
        Value::Object(_) => "an object".into(),
        Value::Null => "nothing".into(),
        other => other.to_string().chars().take(60).collect(),
    }
}

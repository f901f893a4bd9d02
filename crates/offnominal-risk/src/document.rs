//! What a run leaves behind: `risk.json`, which the report shows and from which failures are replayed.

use crate::block::Spec;
use crate::curve::Curve;
use crate::{Atlas, Verdict};
use anyhow::{Context, Result};
use offnominal_core::Seed;
use offnominal_core::estimate::Estimate;
use offnominal_stats::risk::{Diagnostics, Refusal};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::path::Path;

/// Name of the file in a run's folder.
pub const FILE: &str = "risk.json";

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

/// A failure that can be replayed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Stored {
    /// The key of its randomness.
    pub key: Seed,
    /// The initial condition.
    pub x: Vec<f64>,
    /// Steps until it failed.
    pub steps: u64,
    /// Its part of the failure probability.
    pub share: f64,
    /// Number of its kind.
    pub kind: usize,
}

/// Everything that a run found.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Document {
    /// Which run it was.
    pub run: Spec,
    /// Draws of the world's initial conditions.
    pub draws: u64,
    /// Experiments.
    pub experiments: u64,
    /// Steps of all episodes.
    pub steps: u64,
    /// The failure probability.
    pub risk: Answer,
    /// The same by other intervals.
    pub others: Vec<Answer>,
    /// What the weights say of themselves.
    pub diagnostics: Value,
    /// What is doubtful.
    pub warnings: Vec<String>,
    /// How many episodes would have been enough; null with too few failures to say.
    pub curve: Value,
    /// The kinds of failures.
    pub kinds: Value,
    /// The failures.
    pub failures: Vec<Stored>,
}

impl Document {
    /// Puts together what was found.
    pub fn new(run: &Spec, verdict: &Verdict, atlas: &Atlas, curve: Option<&Curve>) -> Document {
        let warnings = verdict.diagnostics.iter().flat_map(Diagnostics::warnings);
        let stored = |(i, (f, share)): (usize, &(crate::Failure, f64))| Stored {
            key: f.key,
            x: f.x.clone(),
            steps: f.steps,
            share: *share,
            kind: atlas.kind_of[i],
        };
        Document {
            run: run.clone(),
            draws: verdict.draws,
            experiments: verdict.experiments,
            steps: verdict.steps,
            risk: answer("failure probability", &verdict.risk),
            others: verdict.others.iter().map(|(name, found)| answer(name, found)).collect(),
            diagnostics: verdict.diagnostics.as_ref().map_or(Value::Null, diagnostics),
            warnings: warnings.map(|w| w.to_string()).collect(),
            curve: json!(curve),
            kinds: json!(atlas.kinds),
            failures: verdict.failures.iter().enumerate().map(stored).collect(),
        }
    }

    /// Reads the file of a run.
    ///
    /// # Errors
    /// If it cannot be read, or is none.
    pub fn read(folder: &Path) -> Result<Document> {
        let path = folder.join(FILE);
        let text =
            std::fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
        serde_json::from_str(&text).with_context(|| path.display().to_string())
    }
}

fn answer(name: &str, found: &Result<Estimate, Refusal>) -> Answer {
    Answer {
        name: name.into(),
        risk: found.as_ref().ok().cloned(),
        refused: found.as_ref().err().map(ToString::to_string),
    }
}

fn diagnostics(found: &Diagnostics) -> Value {
    json!({
        "failures": found.failures,
        "effective_failures": found.effective,
        "largest_share": found.largest_share,
        "largest_weight": found.largest_weight,
        "mean_weight": found.mean_weight,
        "pareto_shape": found.tail,
        "drift": found.drift,
    })
}

//! The header of a probe's file: what was fitted, on what, and when it raises an alarm.

use offnominal_core::estimate::Estimate;
use offnominal_files::provenance::Provenance;
use serde::{Deserialize, Serialize};
use std::fmt::{self, Display, Formatter};

/// What was fitted, on what, and when it raises an alarm.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct About {
    /// Version of the format of monitors' files, in which it is kept.
    pub format: u32,
    /// Version of the program, without which scores may have other bits.
    pub engine: String,
    /// Version of this header.
    pub probe: u32,
    /// What made it.
    pub made: Provenance,
    /// The detector.
    pub detector: String,
    /// Signals that it reads, in their order.
    pub signals: Vec<String>,
    /// Width of the embeddings that it reads; 0 if it reads none.
    pub embedding: usize,
    /// Actions of each chunk that are executed, where a step does not say it.
    pub executed: Option<usize>,
    /// Share of a task's successes that may have an alarm, on average.
    pub alpha: f64,
    /// Each task, in the order of the names.
    pub tasks: Vec<TaskAbout>,
    /// Share of the held-out failures that have an alarm; missing if there are none with a threshold.
    pub detected: Option<Estimate>,
}

/// What is known of a task.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TaskAbout {
    /// Its name.
    pub name: String,
    /// Rollouts that the detector learned from.
    pub learned: usize,
    /// Of them failed.
    pub failed: usize,
    /// Successes that were held out for the threshold.
    pub successes: usize,
    /// Whose successes set the threshold.
    pub from: Origin,
    /// An alarm is a score above it.
    pub threshold: Option<f64>,
}

/// Whose successes set a threshold.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Origin {
    /// Those of the task: the promise holds within it.
    Own,
    /// Those of all tasks that have too few: the promise holds over these together.
    Pooled,
    /// Nobody's: there is no threshold, no alarm and no promise.
    None,
}

impl Origin {
    fn word(self) -> &'static str {
        match self {
            Origin::Own => "own",
            Origin::Pooled => "pooled",
            Origin::None => "none",
        }
    }
}

impl Display for About {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let percent = (1e6 * self.alpha).round() / 1e4;
        writeln!(f, "{}: reads {}", self.detector, reads(self))?;
        writeln!(f, "at most {percent} % of a task's successes have an alarm, on average")?;
        let width = self.tasks.iter().map(|task| task.name.chars().count()).max().unwrap_or(0).clamp(4, 60);
        write!(f, "{:<width$}  learned  failed  held out  threshold", "task")?;
        for task in &self.tasks {
            let TaskAbout { name, learned, failed, successes, from, threshold } = task;
            let threshold = threshold.map_or("–".into(), |t| format!("{t:.6}"));
            let from = from.word();
            write!(f, "\n{name:<width$}  {learned:>7}  {failed:>6}  {successes:>8}  {threshold} ({from})")?;
        }
        if let Some(Estimate { value, low, high, n, .. }) = &self.detected {
            write!(f, "\nalarms in {value:.3} [{low:.3}, {high:.3}] of {n} held-out failures")?;
        }
        Ok(())
    }
}

fn reads(about: &About) -> String {
    let embedding = (about.embedding > 0).then(|| format!("an embedding of {}", about.embedding));
    let all: Vec<String> = about.signals.iter().cloned().chain(embedding).collect();
    if all.is_empty() { "nothing but task and step".into() } else { all.join(", ") }
}

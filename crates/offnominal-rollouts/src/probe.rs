//! A failure probe: a fitted detector with a threshold for each task, as one file, which watches a policy while it acts.
//!
//! ```no_run
//! # fn main() -> anyhow::Result<()> {
//! use offnominal_rollouts::probe::{Probe, Rollout};
//! let probe = Probe::open("runs/rollouts/probe.safetensors".as_ref())?;
//! let mut watcher = probe.begin(&Rollout { task: "stack the cups", ..Rollout::default() })?;
//! # let policy = || serde_json::Map::new();
//! // What the policy predicts, as a step of a recording: { "chunk": [[…], …], "executed": 5 }.
//! let verdict = watcher.step(&policy())?;
//! if verdict.alarm == Some(true) {
//!     println!("step {}: {} is above {:?}", verdict.step, verdict.score, verdict.threshold);
//! }
//! # Ok(())
//! # }
//! ```

mod about;
mod file;
pub mod fit;
pub mod watch;

use crate::detector::{Detector, Fitted, Scorer, Seen, Shape, Start};
use crate::read::Settings;
use crate::read::step::Steps;
use anyhow::{Context as _, Result, ensure};
use offnominal_core::archive::Archive;
use serde::Serialize;
use serde_json::{Map, Value};
use std::path::Path;

pub use about::{About, Origin, TaskAbout};
pub use file::{FORMAT, digest_error};

/// A fitted detector and when it raises an alarm.
pub struct Probe {
    about: About,
    fitted: Box<dyn Fitted>,
}

/// What is known of a rollout that is to be watched.
#[derive(Debug, Clone, Copy, Default)]
pub struct Rollout<'a> {
    /// The name of its task.
    pub task: &'a str,
    /// How many rollouts came before, on which random scores depend.
    pub number: usize,
    /// Actions of each chunk that are executed before the next one, where a step does not say it; that of the fit if none.
    pub executed: Option<usize>,
    /// An embedding of the instruction, for a task that the probe does not know and a detector that reads instructions.
    pub instruction: Option<&'a [f32]>,
}

/// What is said of a step.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Verdict {
    /// Its number: 0, 1, …
    pub step: usize,
    /// How likely the detector finds a failure; the larger, the likelier.
    pub score: f64,
    /// The threshold of the task; none if the task has no promise.
    pub threshold: Option<f64>,
    /// Whether the score is above it; none without a threshold.
    pub alarm: Option<bool>,
}

impl Probe {
    /// Opens a file of [`fit`].
    ///
    /// # Errors
    /// If it cannot be read, is damaged, was edited, or is of another version.
    pub fn open(path: &Path) -> Result<Probe> {
        let bytes = offnominal_files::read::bytes(path)?;
        Probe::decode(&bytes).with_context(|| path.display().to_string())
    }

    /// Reads the bytes of a file.
    ///
    /// # Errors
    /// As [`Probe::open`].
    pub fn decode(bytes: &[u8]) -> Result<Probe> {
        let (about, archive) = file::decode(bytes)?;
        let detector: Detector = about.detector.parse().context("detector")?;
        let shape = Shape { signals: &about.signals, n_tasks: about.tasks.len(), embedding: about.embedding };
        let fitted = detector.load(&archive.reader(0, 0), &shape)?;
        Ok(Probe { about, fitted })
    }

    /// The bytes of its file; the same probe always gives the same bytes.
    pub fn encode(&self) -> Vec<u8> {
        let mut archive = Archive::default();
        self.fitted.save(&mut archive.writer());
        file::encode(&self.about, &archive)
    }

    /// What was fitted, on what, and when it raises an alarm.
    pub fn about(&self) -> &About {
        &self.about
    }

    /// A rollout begins. A task that the probe does not know gets scores, and no alarm: no threshold would promise anything.
    ///
    /// # Errors
    /// If the detector reads instructions, and has none of the task.
    pub fn begin(&self, rollout: &Rollout<'_>) -> Result<Watcher> {
        let known = self.about.tasks.iter().position(|task| task.name == rollout.task);
        let start = Start { task: known, number: rollout.number, instruction: rollout.instruction };
        let scorer = self.fitted.begin(&start).with_context(|| format!("task {:?}", rollout.task))?;
        let executed = rollout.executed.or(self.about.executed);
        Ok(Watcher {
            scorer,
            threshold: known.and_then(|task| self.about.tasks[task].threshold),
            signals: self.about.signals.clone(),
            embedding: self.about.embedding,
            steps: Steps::new(executed, Settings::default()),
            values: Vec::new(),
            step: 0,
            is_refused: false,
        })
    }
}

/// A rollout that is watched.
pub struct Watcher {
    scorer: Box<dyn Scorer>,
    threshold: Option<f64>,
    signals: Vec<String>,
    embedding: usize,
    steps: Steps,
    values: Vec<f64>,
    step: usize,
    /// Whether the last step could not be read.
    is_refused: bool,
}

impl Watcher {
    /// The threshold of its task; none without a promise.
    pub fn threshold(&self) -> Option<f64> {
        self.threshold
    }

    /// The next step, with the fields of a step of a recording.
    ///
    /// # Errors
    /// If a field is not what it should be, or a signal is missing that the detector reads. Another rollout has to begin then:
    /// a detector that has not seen a step cannot go on.
    pub fn step(&mut self, fields: &Map<String, Value>) -> Result<Verdict> {
        ensure!(
            !self.is_refused,
            "expected the beginning of a rollout after a step that was refused, found a step"
        );
        let found = self.read(fields);
        self.is_refused = found.is_err();
        found
    }

    fn read(&mut self, fields: &Map<String, Value>) -> Result<Verdict> {
        self.steps.add(fields, |_| false).with_context(|| format!("step {}", self.step))?;
        self.values.clear();
        for signal in &self.signals {
            let value = self.steps.last(signal).with_context(|| {
                let found = self.steps.names().join(", ");
                format!("step {}: expected the signal {signal:?}, found {found}", self.step)
            })?;
            self.values.push(value);
        }
        let (expected, embedding) = (self.embedding, self.steps.last_embedding());
        let embedding = if expected == 0 { &[] } else { embedding };
        ensure!(
            embedding.len() == expected,
            "step {}: expected an embedding of {expected} numbers, found {}",
            self.step,
            embedding.len()
        );
        let score = self.scorer.step(Seen { signals: &self.values, embedding });
        self.verdict(score)
    }

    /// The next step, whose signals are those of [`About::signals`], in the same order.
    ///
    /// # Errors
    /// If there are more or fewer numbers than the detector reads, or the score is not finite.
    pub fn seen(&mut self, signals: &[f64], embedding: &[f32]) -> Result<Verdict> {
        let (expected, found) = ((self.signals.len(), self.embedding), (signals.len(), embedding.len()));
        ensure!(
            expected == found,
            "expected {} signals and an embedding of {} numbers, found {} and {}",
            expected.0,
            expected.1,
            found.0,
            found.1
        );
        let score = self.scorer.step(Seen { signals, embedding });
        self.verdict(score)
    }

    fn verdict(&mut self, score: f64) -> Result<Verdict> {
        let step = self.step;
        ensure!(
            score.is_finite(),
            "step {step}: expected a finite score, found {score}; are the signals sound?"
        );
        self.step += 1;
        let threshold = self.threshold;
        Ok(Verdict { step, score, threshold, alarm: threshold.map(|threshold| score > threshold) })
    }
}

#[cfg(test)]
mod tests;

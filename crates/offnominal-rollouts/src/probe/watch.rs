//! `rollouts watch`: what a probe says of recorded rollouts, step by step.

use super::{Probe, Rollout, Verdict};
use crate::judge::instructions;
use crate::read::{self, Settings};
use crate::rollout::Rollouts;
use anyhow::{Context as _, Result, ensure};
use offnominal_work::context::Context;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::PathBuf;

/// What is watched, by what.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Request {
    /// The file of the probe.
    pub probe: PathBuf,
    /// Files with rollouts, and folders of them; they need no outcome.
    pub files: Vec<PathBuf>,
    /// Actions of each chunk that are executed, where a file does not say it; as in the fit if not given.
    #[serde(default)]
    pub executed: Option<usize>,
    /// Embeddings of the instructions of tasks that the probe does not know.
    #[serde(default)]
    pub instructions: Option<PathBuf>,
}

/// A step of a rollout, and what the probe says of it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Line<'a> {
    /// The name of the rollout.
    pub rollout: &'a str,
    /// The name of its task.
    pub task: &'a str,
    /// What is said.
    #[serde(flatten)]
    pub verdict: Verdict,
}

/// What was said of a rollout.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Watched {
    /// Its name.
    pub rollout: String,
    /// Its task.
    pub task: String,
    /// The threshold of the task; none without a promise.
    pub threshold: Option<f64>,
    /// The score of each step.
    pub scores: Vec<f64>,
    /// The first step with an alarm, if there is one.
    pub alarm: Option<usize>,
}

/// What was said of all rollouts.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Report {
    /// Each rollout, in the order of the files.
    pub rollouts: Vec<Watched>,
}

/// Watches all rollouts, and returns what was said.
///
/// # Errors
/// As [`each_step`].
pub fn run(request: &Request, context: &Context) -> Result<Report> {
    let mut rollouts: Vec<Watched> = Vec::new();
    each_step(request, context, |line| {
        let Line { rollout, task, verdict } = line;
        if verdict.step == 0 {
            let (rollout, task) = (rollout.to_string(), task.to_string());
            let threshold = verdict.threshold;
            rollouts.push(Watched { rollout, task, threshold, scores: vec![], alarm: None });
        }
        let now = rollouts.last_mut().expect("a rollout begins with step 0");
        now.scores.push(verdict.score);
        if verdict.alarm == Some(true) {
            now.alarm.get_or_insert(verdict.step);
        }
        Ok(())
    })?;
    Ok(Report { rollouts })
}

/// Watches all rollouts, and passes on each step as it is scored.
///
/// # Errors
/// If a file cannot be read, a rollout lacks what the probe reads, or a step cannot be passed on.
pub fn each_step(
    request: &Request,
    context: &Context,
    mut pass_on: impl FnMut(&Line<'_>) -> Result<()>,
) -> Result<()> {
    let probe = Probe::open(&request.probe)?;
    let instructions = request.instructions.as_deref().map_or(Ok(BTreeMap::new()), instructions)?;
    let executed = request.executed.or(probe.about.executed);
    let data = read::read(&request.files, Settings { executed, are_watched: true })?;
    let places = places(&probe, &data)?;
    for (number, rollout) in data.rollouts.iter().enumerate() {
        context.check()?;
        let task = data.tasks[rollout.task].as_str();
        let instruction = instructions.get(task).map(Vec::as_slice);
        let mut watcher = probe.begin(&Rollout { task, number, executed, instruction })?;
        for step in 0..rollout.steps() {
            let signals: Vec<f64> = places.iter().map(|&place| rollout.signals[place][step]).collect();
            let width = probe.about.embedding;
            let verdict = watcher.seen(&signals, &rollout.embeddings[step * width..(step + 1) * width]);
            let verdict = verdict.with_context(|| format!("rollout {:?} of {task:?}", rollout.name))?;
            pass_on(&Line { rollout: &rollout.name, task, verdict })?;
        }
    }
    Ok(())
}

/// Places of the signals that the probe reads.
fn places(probe: &Probe, data: &Rollouts) -> Result<Vec<usize>> {
    let (expected, found) = (probe.about.embedding, data.embedding);
    ensure!(
        expected == 0 || expected == found,
        "expected rollouts with embeddings of {expected} numbers, found {found}"
    );
    probe.about.signals.iter().map(|signal| data.signal(signal)).collect()
}

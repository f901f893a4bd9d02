//! What the network reads of rollouts: two signals, the time, and instructions of tasks.

use super::{net, signals};
use crate::detector::Lesson;
use crate::rollout::Rollouts;
use anyhow::{Context as _, Result};

/// The time is measured in so many steps.
const CLOCK: f64 = 100.0;

/// What the network reads of rollouts.
pub(super) struct Inputs {
    /// Place, mean and deviation over all steps of each signal that is read.
    signals: Vec<(usize, f64, f64)>,
    /// What tasks say: one row of each task, all of one length.
    instructions: Vec<Vec<f32>>,
}

impl Inputs {
    /// Measured on the rollouts that are learned from.
    pub(super) fn of(lesson: &Lesson<'_>) -> Result<Inputs> {
        let moments = |signal: usize| {
            let values = || lesson.part.train.iter().flat_map(|&i| &lesson.data.rollouts[i].signals[signal]);
            let n = values().count() as f64;
            let mean = values().sum::<f64>() / n;
            (signal, mean, (values().map(|v| (v - mean).powi(2)).sum::<f64>() / n).sqrt() + 1e-7)
        };
        let signals = signals(lesson.data)?.into_iter().map(moments).collect();
        Ok(Inputs { signals, instructions: instructions(lesson)? })
    }

    /// x_t of each step of a rollout, `[steps, INPUTS]`.
    pub(super) fn rows(&self, data: &Rollouts, rollout: usize) -> Vec<f32> {
        let r = &data.rollouts[rollout];
        let mut rows = Vec::with_capacity(r.steps() * net::INPUTS);
        for step in 0..r.steps() {
            let z =
                |&(place, mean, deviation): &(usize, f64, f64)| (r.signals[place][step] - mean) / deviation;
            rows.extend(self.signals.iter().map(|signal| z(signal) as f32));
            rows.push((step as f64 / CLOCK) as f32);
        }
        rows
    }

    /// What the instruction of a task says.
    pub(super) fn instruction(&self, task: usize) -> &[f32] {
        &self.instructions[task]
    }
}

/// The embedding of each task's instruction, or its number as a unit vector.
fn instructions(lesson: &Lesson<'_>) -> Result<Vec<Vec<f32>>> {
    let (tasks, known) = (&lesson.data.tasks, lesson.instructions);
    let n = tasks.len();
    if known.is_empty() {
        let unit = |task: usize| (0..n).map(|other| f32::from(u8::from(other == task))).collect();
        return Ok((0..n).map(unit).collect());
    }
    let of = |task: &String| {
        let found = known.get(task).cloned();
        found.with_context(|| format!("actprobe: expected an embedding of the task {task:?}, found none"))
    };
    tasks.iter().map(of).collect()
}

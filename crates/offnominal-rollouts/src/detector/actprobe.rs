//! ActProbe's probe (arXiv 2606.08508), trained anew from its description: an LSTM and an MLP that read two signals of the
//! chunks and the time, and begin with what the task's instruction says.
//!
//! With x_t = [z(magnitude), z(consistency error), t / 100], z by mean and deviation of all steps that are learned from:
//!
//! | part | shape | parameters |
//! |---|---|---|
//! | instruction | D → 16, ReLU | 16 D + 16 |
//! | h₀ and s₀ of the LSTM | 16 → 32 each | 1,088 |
//! | LSTM | 3 → 32, its output dropped with probability .4 in training | 4,736 |
//! | MLP on \[h_t, x_t\] | 35 → 16 → 8 → 1, ReLU, then a logistic function | 721 |
//!
//! With D = 1,024 these are 22,945. Every step of a rollout has the rollout's outcome as its label, so long rollouts weigh
//! more. Training minimises the cross entropy by AdamW (rate 1e-3 on a cosine over 400 passes, decay 1e-4, gradients cut at
//! norm 1, 64 rollouts at once); each five passes it ranks the held-out rollouts by `task-max` ¼, keeps the best network, and
//! stops after 50 passes without a better one. The signals are called `acm` and `tce`, or `action_norm` and `chunk_mse`.
//!
//! Deviates: without embeddings of instructions D is the number of tasks and the instruction is the task's number; weights
//! are drawn by our generator, so a seed gives other ones than PyTorch's.

mod net;
mod training;

use super::{Fitted, Lesson};
use crate::rollout::Rollouts;
use anyhow::{Context as _, Result, ensure};
pub use net::Probe;
use std::collections::BTreeMap;

/// Steps that a rollout must have to be learned from.
const FEWEST_STEPS: usize = 5;

/// What the network reads of rollouts.
#[derive(Debug, Clone)]
pub struct Inputs {
    /// Places of the two signals.
    signals: [usize; 2],
    /// Mean and deviation of each.
    scale: [(f64, f64); 2],
    /// The instruction of each task.
    instructions: Vec<Vec<f32>>,
}

impl Inputs {
    /// Measures the signals of the rollouts that are learned from.
    ///
    /// # Errors
    /// If there are no such signals, or the instruction of a task is missing.
    fn of(lesson: &Lesson<'_>) -> Result<Inputs> {
        let data = lesson.data;
        let named = |names: [&str; 2]| {
            let found = data.signals.iter().position(|signal| names.contains(&signal.as_str()));
            found.with_context(|| {
                format!("actprobe: expected a signal {} or {}, found neither", names[0], names[1])
            })
        };
        let signals = [named(["acm", "action_norm"])?, named(["tce", "chunk_mse"])?];
        let moments = |signal: usize| {
            let values = || lesson.part.train.iter().flat_map(|&i| &data.rollouts[i].signals[signal]);
            let n = values().count() as f64;
            let mean = values().sum::<f64>() / n;
            (mean, (values().map(|v| (v - mean).powi(2)).sum::<f64>() / n).sqrt() + 1e-7)
        };
        Ok(Inputs {
            signals,
            scale: signals.map(moments),
            instructions: instructions(data, lesson.instructions)?,
        })
    }

    /// x_t of each step, `[steps, 3]`.
    fn rows(&self, data: &Rollouts, rollout: usize) -> Vec<f32> {
        let r = &data.rollouts[rollout];
        let z = |k: usize, t: usize| {
            let (mean, deviation) = self.scale[k];
            ((r.signals[self.signals[k]][t] - mean) / deviation) as f32
        };
        (0..r.steps()).flat_map(|t| [z(0, t), z(1, t), t as f32 / 100.0]).collect()
    }

    /// What the instruction of a rollout's task says.
    fn instruction(&self, data: &Rollouts, rollout: usize) -> &[f32] {
        &self.instructions[data.rollouts[rollout].task]
    }
}

/// The embedding of each task's instruction, or its number as a unit vector.
fn instructions(data: &Rollouts, known: &BTreeMap<String, Vec<f32>>) -> Result<Vec<Vec<f32>>> {
    let n = data.tasks.len();
    let unit = |task: usize| (0..n).map(|other| f32::from(u8::from(other == task))).collect();
    if known.is_empty() {
        return Ok((0..n).map(unit).collect());
    }
    let found = data.tasks.iter().map(|task| {
        known
            .get(task)
            .cloned()
            .with_context(|| format!("actprobe: expected an embedding of the task {task:?}, found none"))
    });
    found.collect()
}

/// Trains the network.
pub(super) fn fit(lesson: &Lesson<'_>) -> Result<Box<dyn Fitted>> {
    let inputs = Inputs::of(lesson)?;
    let is_long = |i: &&usize| lesson.data.rollouts[**i].steps() >= FEWEST_STEPS;
    let train: Vec<usize> = lesson.part.train.iter().filter(is_long).copied().collect();
    ensure!(!train.is_empty(), "actprobe: expected rollouts of at least {FEWEST_STEPS} steps, found none");
    let probe = Probe::new(inputs.instructions[0].len());
    let params = training::train(&probe, &inputs, lesson, &train)?;
    Ok(Box::new(move |data: &Rollouts, i: usize| {
        let rows = inputs.rows(data, i);
        probe.scores(&params, inputs.instruction(data, i), &rows)
    }))
}

//! What becomes of a detector that has learned: it scores rollouts step by step, and is kept as named lists of numbers.

use crate::rollout::Rollouts;
use anyhow::Result;
use offnominal_core::archive::Writer;

/// What is known when a rollout begins.
#[derive(Debug, Clone, Copy, Default)]
pub struct Start<'a> {
    /// Number of its task among the tasks of the data that the detector was fitted on; none for another task.
    pub task: Option<usize>,
    /// Number of the rollout, on which random scores depend.
    pub number: usize,
    /// An embedding of its instruction, for a task that is not among those.
    pub instruction: Option<&'a [f32]>,
}

/// What is seen at one step.
#[derive(Debug, Clone, Copy)]
pub struct Seen<'a> {
    /// Its signals, in the order of the data.
    pub signals: &'a [f64],
    /// What the policy's encoder made of the observation; nothing if the data have no embeddings.
    pub embedding: &'a [f32],
}

/// A rollout in progress.
pub trait Scorer: Send {
    /// The score of the next step.
    fn step(&mut self, seen: Seen<'_>) -> f64;
}

impl<F: FnMut(Seen<'_>) -> f64 + Send> Scorer for F {
    fn step(&mut self, seen: Seen<'_>) -> f64 {
        self(seen)
    }
}

/// A fitted detector. Whoever judges it and whoever watches a policy with it gets its scores from the same steps, so they
/// have the same bits.
pub trait Fitted: Send + Sync {
    /// A rollout begins.
    ///
    /// # Errors
    /// If the detector needs the instruction of the task, and neither has it nor gets it.
    fn begin(&self, start: &Start<'_>) -> Result<Box<dyn Scorer>>;

    /// Writes what was learned.
    fn save(&self, to: &mut Writer<'_>);

    /// The score at each step of a recorded rollout; one at step k depends on steps 0 … k only.
    ///
    /// # Panics
    /// If its task has no instruction, which a fit on the same data excludes.
    fn scores(&self, data: &Rollouts, rollout: usize) -> Vec<f64> {
        let r = &data.rollouts[rollout];
        let start = Start { task: Some(r.task), number: rollout, instruction: None };
        let mut scorer = self.begin(&start).expect("tasks of the data have instructions");
        let mut signals = vec![0.0; r.signals.len()];
        let step = |k: usize| {
            signals.iter_mut().zip(&r.signals).for_each(|(to, signal)| *to = signal[k]);
            let embedding = &r.embeddings[k * data.embedding..][..data.embedding];
            scorer.step(Seen { signals: &signals, embedding })
        };
        (0..r.steps()).map(step).collect()
    }
}

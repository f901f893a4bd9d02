//! Detectors that need no training: baselines, and signals with an accumulator.

use super::{Fitted, Lesson};
use crate::rollout::Rollouts;
use offnominal_core::Seed;

/// Weight of a new value in the exponentially weighted mean.
const EWMA: f64 = 0.1;

/// What is made of a signal up to a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Accumulator {
    /// The value at the step.
    Last,
    /// The largest so far.
    Max,
    /// The mean so far.
    Mean,
    /// The sum so far.
    Sum,
    /// The exponentially weighted mean.
    Ewma,
}

impl Accumulator {
    /// Its name in a detector.
    pub fn name(self) -> &'static str {
        match self {
            Accumulator::Last => "last",
            Accumulator::Max => "max",
            Accumulator::Mean => "mean",
            Accumulator::Sum => "sum",
            Accumulator::Ewma => "ewma",
        }
    }

    /// The accumulator of that name.
    pub fn named(name: &str) -> Option<Accumulator> {
        let all = [Accumulator::Max, Accumulator::Mean, Accumulator::Sum, Accumulator::Ewma];
        all.into_iter().find(|accumulator| accumulator.name() == name)
    }

    /// What becomes of values.
    pub fn of(self, values: &[f64]) -> Vec<f64> {
        let (mut state, mut n) = (None, 0.0);
        let next = |&x: &f64| {
            n += 1.0;
            let before = state.unwrap_or(match self {
                Accumulator::Sum | Accumulator::Mean => 0.0,
                _ => x,
            });
            let now = match self {
                Accumulator::Last => x,
                Accumulator::Max => x.max(before),
                Accumulator::Sum | Accumulator::Mean => before + x,
                Accumulator::Ewma => (1.0 - EWMA) * before + EWMA * x,
            };
            state = Some(now);
            if self == Accumulator::Mean { now / n } else { now }
        };
        values.iter().map(next).collect()
    }
}

/// The number of the step.
pub(super) fn clock() -> Box<dyn Fitted> {
    Box::new(|data: &Rollouts, i: usize| (0..data.rollouts[i].steps()).map(|step| step as f64).collect())
}

/// Uniform numbers of the rollout's own stream.
pub(super) fn random(seed: Seed) -> Box<dyn Fitted> {
    Box::new(move |data: &Rollouts, i: usize| {
        let mut rng = seed.child("random").child(i).rng();
        (0..data.rollouts[i].steps()).map(|_| rng.uniform()).collect()
    })
}

/// The share of failures of the task among the rollouts that are learned from, or of all tasks if the task is not among
/// them. Where nothing is learned from, it is the share among the judged rollouts themselves: what a row knows that was told
/// the outcomes of all tasks, and nothing else.
pub(super) fn task_prior(lesson: &Lesson<'_>) -> Box<dyn Fitted> {
    let n = lesson.data.tasks.len();
    let (mut failures, mut all) = (vec![0.0; n], vec![0.0; n]);
    let part = lesson.part;
    for &i in if part.train.is_empty() { &part.test } else { &part.train } {
        let r = &lesson.data.rollouts[i];
        failures[r.task] += f64::from(u8::from(r.fails));
        all[r.task] += 1.0;
    }
    let overall = failures.iter().sum::<f64>() / all.iter().sum::<f64>().max(1.0);
    Box::new(move |data: &Rollouts, i: usize| {
        let r = &data.rollouts[i];
        let share = if all[r.task] > 0.0 { failures[r.task] / all[r.task] } else { overall };
        vec![share; r.steps()]
    })
}

/// A signal by its place.
pub(super) fn signal(accumulator: Accumulator, place: usize) -> Box<dyn Fitted> {
    Box::new(move |data: &Rollouts, i: usize| accumulator.of(&data.rollouts[i].signals[place]))
}

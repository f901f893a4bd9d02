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
    /// How often it has turned: grown after it shrank, or shrunk after it grew.
    Reversals,
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
            Accumulator::Reversals => "reversals",
        }
    }

    /// The accumulator of that name.
    pub fn named(name: &str) -> Option<Accumulator> {
        use Accumulator::{Ewma, Max, Mean, Reversals, Sum};
        [Max, Mean, Sum, Ewma, Reversals].into_iter().find(|accumulator| accumulator.name() == name)
    }

    /// What becomes of values, step by step.
    pub fn of(self, values: &[f64]) -> Vec<f64> {
        if self == Accumulator::Reversals {
            return reversals(values);
        }
        let mut so_far = None;
        let next = |(step, &x): (usize, &f64)| {
            let before = so_far.unwrap_or(match self {
                Accumulator::Sum | Accumulator::Mean => 0.0,
                _ => x,
            });
            let now = match self {
                // Turns are counted above.
                Accumulator::Last | Accumulator::Reversals => x,
                Accumulator::Max => x.max(before),
                Accumulator::Sum | Accumulator::Mean => before + x,
                Accumulator::Ewma => (1.0 - EWMA) * before + EWMA * x,
            };
            so_far = Some(now);
            if self == Accumulator::Mean { now / (step + 1) as f64 } else { now }
        };
        values.iter().enumerate().map(next).collect()
    }
}

/// Turns so far; where nothing changes, the direction is that of the last change.
fn reversals(values: &[f64]) -> Vec<f64> {
    let (mut last, mut is_growing, mut turns) = (values.first().copied().unwrap_or(0.0), None, 0.0);
    let next = |&x: &f64| {
        if x != last {
            let grows = x > last;
            turns += f64::from(u8::from(is_growing.replace(grows).is_some_and(|before| before != grows)));
        }
        last = x;
        turns
    };
    values.iter().map(next).collect()
}

/// The number of the step.
pub(super) struct Clock;

impl Fitted for Clock {
    fn scores(&self, data: &Rollouts, rollout: usize) -> Vec<f64> {
        (0..data.rollouts[rollout].steps()).map(|step| step as f64).collect()
    }
}

/// Uniform numbers of the rollout's own stream.
pub(super) struct Random(pub(super) Seed);

impl Fitted for Random {
    fn scores(&self, data: &Rollouts, rollout: usize) -> Vec<f64> {
        let mut rng = self.0.child("random").child(rollout).rng();
        (0..data.rollouts[rollout].steps()).map(|_| rng.uniform()).collect()
    }
}

/// The share of failures of the task among the rollouts that are learned from, or of all tasks if the task is not among
/// them. Where nothing is learned from, it is the share among the judged rollouts themselves: what a row knows that was told
/// the outcomes of all tasks, and nothing else.
pub(super) struct TaskPrior {
    /// Of each task.
    shares: Vec<f64>,
}

impl TaskPrior {
    pub(super) fn fit(lesson: &Lesson<'_>) -> TaskPrior {
        let n = lesson.data.tasks.len();
        let (mut failures, mut all) = (vec![0.0; n], vec![0.0; n]);
        let part = lesson.part;
        for &i in if part.train.is_empty() { &part.test } else { &part.train } {
            let r = &lesson.data.rollouts[i];
            failures[r.task] += f64::from(u8::from(r.fails));
            all[r.task] += 1.0;
        }
        let overall = failures.iter().sum::<f64>() / all.iter().sum::<f64>().max(1.0);
        let share = |task: usize| if all[task] > 0.0 { failures[task] / all[task] } else { overall };
        TaskPrior { shares: (0..n).map(share).collect() }
    }
}

impl Fitted for TaskPrior {
    fn scores(&self, data: &Rollouts, rollout: usize) -> Vec<f64> {
        let r = &data.rollouts[rollout];
        vec![self.shares[r.task]; r.steps()]
    }
}

/// A signal by its place.
pub(super) struct Signal {
    pub(super) accumulator: Accumulator,
    pub(super) place: usize,
}

impl Fitted for Signal {
    fn scores(&self, data: &Rollouts, rollout: usize) -> Vec<f64> {
        self.accumulator.of(&data.rollouts[rollout].signals[self.place])
    }
}

/// The negative of another.
pub(super) struct Negative(pub(super) Box<dyn Fitted>);

impl Fitted for Negative {
    fn scores(&self, data: &Rollouts, rollout: usize) -> Vec<f64> {
        self.0.scores(data, rollout).into_iter().map(|score| -score).collect()
    }
}

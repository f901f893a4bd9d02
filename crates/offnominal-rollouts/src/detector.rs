//! What tells a failing rollout from a succeeding one, step by step, from signals known until that step only.
//!
//! | detector | score at a step | learns from |
//! |---|---|---|
//! | `clock` | the number of the step | nothing |
//! | `random` | a uniform random number | nothing |
//! | `task-prior` | the share of failures of the task, the same at every step | outcomes |
//! | `SIGNAL` | the signal | nothing |
//! | `max(SIGNAL)`, `mean(SIGNAL)`, `sum(SIGNAL)` | largest, mean and sum so far | nothing |
//! | `ewma(SIGNAL)` | exponentially weighted mean, e ← .9 e + .1 x from the first value on | nothing |
//! | `reversals(SIGNAL)` | how often the signal has turned | nothing |
//! | `-DETECTOR` | the negative | as the detector |
//! | `actprobe` | probability of failure by an LSTM and an MLP ([`actprobe`]) | outcomes |
//! | `hazard`, `hazard(SIGNAL, …)` | probability that it fails from here on ([`hazard`]) | outcomes |
//! | `odds(DETECTOR, …)` | the mean of the log odds of several probabilities, as a probability | as the detectors |
//!
//! A row of `clock`, `task-prior` and `random` stands in every table: the first shows what time alone is worth, the second
//! what the task alone is worth, the third what many rows are worth to a maximum.

pub mod actprobe;
mod features;
pub mod hazard;
mod name;
mod odds;
mod plain;

use crate::rollout::Rollouts;
use crate::split::Part;
use anyhow::{Result, ensure};
use offnominal_core::Seed;
use offnominal_work::context::Context;
use serde::Deserialize;
use std::collections::BTreeMap;

pub use plain::Accumulator;

/// A detector that can be fitted; in requests it is its name.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub enum Detector {
    /// The number of the step.
    Clock,
    /// A random number.
    Random,
    /// The share of failures of the task.
    TaskPrior,
    /// A signal and what is made of it.
    Signal(Accumulator, String),
    /// The negative of another.
    Negative(Box<Detector>),
    /// ActProbe's network.
    ActProbe,
    /// Odds of failing from here on, by signals; by the usual ones if none are named.
    Hazard(Vec<String>),
    /// What several probabilities say together.
    Odds(Vec<Detector>),
}

/// What every table begins with.
pub const BASELINES: [Detector; 3] = [Detector::Clock, Detector::TaskPrior, Detector::Random];

/// What a detector gets to learn from.
pub struct Lesson<'a> {
    /// All rollouts.
    pub data: &'a Rollouts,
    /// Which of them may be learned from.
    pub part: &'a Part,
    /// An embedding of each task's instruction, by its name; may be empty.
    pub instructions: &'a BTreeMap<String, Vec<f32>>,
    /// Root of everything random.
    pub seed: Seed,
    /// Who sees the progress.
    pub context: &'a Context,
}

/// A fitted detector.
pub trait Fitted {
    /// The score at each step of a rollout; one at step k depends on steps 0 … k only.
    fn scores(&self, data: &Rollouts, rollout: usize) -> Vec<f64>;
}

impl Detector {
    /// Learns.
    ///
    /// # Errors
    /// If there is no such signal, or nothing to learn from.
    pub fn fit(&self, lesson: &Lesson<'_>) -> Result<Box<dyn Fitted>> {
        if self.learns() {
            let n = lesson.part.train.len();
            ensure!(
                n > 0,
                "{self}: expected rollouts to learn from, found none; a split says which those are"
            );
        }
        Ok(match self {
            Detector::Clock => Box::new(plain::Clock),
            Detector::Random => Box::new(plain::Random(lesson.seed)),
            Detector::TaskPrior => Box::new(plain::TaskPrior::fit(lesson)),
            Detector::Signal(accumulator, signal) => {
                Box::new(plain::Signal { accumulator: *accumulator, place: lesson.data.signal(signal)? })
            }
            Detector::Negative(of) => Box::new(plain::Negative(of.fit(lesson)?)),
            Detector::ActProbe => Box::new(actprobe::ActProbe::fit(lesson)?),
            Detector::Hazard(signals) => Box::new(hazard::Hazard::fit(signals, lesson)?),
            Detector::Odds(all) => {
                Box::new(odds::Odds(all.iter().map(|of| of.fit(lesson)).collect::<Result<_>>()?))
            }
        })
    }

    /// Whether it needs rollouts to learn from.
    pub fn learns(&self) -> bool {
        match self {
            Detector::Clock | Detector::Random | Detector::TaskPrior | Detector::Signal(..) => false,
            Detector::Negative(of) => of.learns(),
            Detector::Odds(all) => all.iter().any(Detector::learns),
            Detector::ActProbe | Detector::Hazard(_) => true,
        }
    }

    /// Whether its score is a probability to fail.
    pub fn is_probability(&self) -> bool {
        use Detector::{ActProbe, Hazard, Odds, TaskPrior};
        matches!(self, TaskPrior | ActProbe | Hazard(_) | Odds(_))
    }
}

#[cfg(test)]
mod tests;

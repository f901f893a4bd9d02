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
//! | `-DETECTOR` | the negative | as the detector |
//! | `band(DETECTOR)` | functional band: (score − mean) / deviation of the successes that run at the step | successes |
//! | `and(DETECTOR, DETECTOR)` | the smaller of two ranks among the largest scores of successes | successes |
//! | `knn` | distance of the embedding to the fifth nearest of successes | successes |
//! | `rnd` | what a network that learned a random one on successes does not know of the embedding | successes |
//! | `flow` | how far a flow that was learned on successes carries the embedding from the middle (logpZO) | successes |
//! | `actprobe`, `actprobe(5)` | probability of failure by an LSTM and an MLP ([`actprobe`]), or by the mean logit of five | outcomes |
//! | `hazard`, `hazard(SIGNAL, …)` | probability that it fails from here on ([`hazard`]) | outcomes |
//! | `survival` | the same, by networks that read how both ends come nearer ([`survival`]) | outcomes, and when they come |
//! | `odds(DETECTOR, …)` | the mean of the log odds of several probabilities, as a probability | as the detectors |
//! | `mil` | what networks find telling of the steps so far ([`mil`]) | outcomes |
//!
//! A row of `clock`, `task-prior` and `random` stands in every table: the first shows what time alone is worth, the second
//! what the task alone is worth, the third what many rows are worth to a maximum.

pub mod actprobe;
mod band;
mod embeddings;
mod features;
mod fitted;
mod flow;
pub mod hazard;
mod knn;
mod matched;
pub mod mil;
mod name;
mod odds;
mod plain;
pub mod recurrent;
mod rnd;
pub mod survival;

use crate::rollout::Rollouts;
use crate::split::Part;
use anyhow::{Context as _, Result, ensure};
use offnominal_core::Seed;
use offnominal_core::archive::Reader;
use offnominal_work::context::Context;
use serde::Deserialize;
use std::collections::BTreeMap;

pub use fitted::{Fitted, Scorer, Seen, Start};
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
    /// Another by the successes at each step.
    Band(Box<Detector>),
    /// Both of two.
    And(Box<Detector>, Box<Detector>),
    /// The fifth nearest embedding.
    Knn,
    /// Random network distillation of embeddings.
    Rnd,
    /// A flow of embeddings to noise.
    Flow,
    /// So many of ActProbe's networks, each from a seed of its own.
    ActProbe(usize),
    /// Odds of failing from here on, by signals; by the usual ones if none are named.
    Hazard(Vec<String>),
    /// Competing risks by networks.
    Survival,
    /// Telling steps by networks.
    Mil,
    /// What several probabilities say together.
    Odds(Vec<Detector>),
}

/// What a saved detector was fitted on.
#[derive(Debug, Clone, Copy)]
pub struct Shape<'a> {
    /// Names of the signals.
    pub signals: &'a [String],
    /// Number of tasks.
    pub n_tasks: usize,
    /// Width of an embedding; 0 if there are none.
    pub embedding: usize,
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
            Detector::Band(of) => Box::new(band::Band::fit(of.fit(lesson)?, lesson)?),
            Detector::And(a, b) => Box::new(band::And::fit([a.fit(lesson)?, b.fit(lesson)?], lesson)?),
            Detector::Knn => Box::new(knn::Knn::fit(lesson)?),
            Detector::Rnd => Box::new(rnd::Rnd::fit(lesson)?),
            Detector::Flow => Box::new(flow::Flow::fit(lesson)?),
            Detector::ActProbe(members) => Box::new(actprobe::ActProbe::fit(*members, lesson)?),
            Detector::Hazard(signals) => Box::new(hazard::Hazard::fit(signals, lesson)?),
            Detector::Survival => Box::new(survival::Survival::fit(lesson)?),
            Detector::Mil => Box::new(mil::Mil::fit(lesson)?),
            Detector::Odds(all) => {
                Box::new(odds::Odds(all.iter().map(|of| of.fit(lesson)).collect::<Result<_>>()?))
            }
        })
    }

    /// Reads back what [`Fitted::save`] wrote, of data with these signals, so many tasks and embeddings of a width.
    ///
    /// # Errors
    /// If something is missing, or cannot be right.
    pub fn load(&self, from: &Reader<'_>, shape: &Shape<'_>) -> Result<Box<dyn Fitted>> {
        let Shape { signals, n_tasks, embedding } = *shape;
        let place = |name: &String| {
            let found = signals.iter().position(|signal| signal == name);
            found.with_context(|| format!("{self}: expected the signal {name:?}, found {signals:?}"))
        };
        let inner = |of: &Detector, from: Reader<'_>| of.load(&from, shape);
        if matches!(self, Detector::Knn | Detector::Rnd | Detector::Flow) {
            ensure!(embedding > 0, "{self}: expected embeddings, found none");
        }
        Ok(match self {
            Detector::Clock => Box::new(plain::Clock),
            Detector::Random => Box::new(plain::Random::load(from)?),
            Detector::TaskPrior => Box::new(plain::TaskPrior::load(from, n_tasks)?),
            Detector::Signal(accumulator, signal) => {
                Box::new(plain::Signal { accumulator: *accumulator, place: place(signal)? })
            }
            Detector::Negative(of) => Box::new(plain::Negative(inner(of, from.part("of"))?)),
            Detector::Band(of) => Box::new(band::Band::load(inner(of, from.part("of"))?, from)?),
            Detector::And(a, b) => {
                let of = |k: usize, of: &Detector| inner(of, from.part(k).part("of"));
                Box::new(band::And::load([of(0, a)?, of(1, b)?], from)?)
            }
            Detector::Knn => Box::new(knn::Knn::load(from, embedding)?),
            Detector::Rnd => Box::new(rnd::Rnd::load(from, embedding)?),
            Detector::Flow => Box::new(flow::Flow::load(from, embedding)?),
            Detector::ActProbe(_) => Box::new(actprobe::ActProbe::load(from, n_tasks, signals.len())?),
            Detector::Hazard(_) => Box::new(hazard::Hazard::load(from, n_tasks, signals.len())?),
            Detector::Survival => Box::new(survival::Survival::load(from, n_tasks, signals.len())?),
            Detector::Mil => Box::new(mil::Mil::load(from, n_tasks, signals.len())?),
            Detector::Odds(all) => {
                let each = all.iter().enumerate().map(|(k, of)| inner(of, from.part(k)));
                Box::new(odds::Odds(each.collect::<Result<_>>()?))
            }
        })
    }

    /// Places of the signals that it reads, in ascending order.
    ///
    /// # Errors
    /// If there is no such signal.
    pub fn reads(&self, data: &Rollouts) -> Result<Vec<usize>> {
        let mut found = match self {
            Detector::Signal(_, signal) => vec![data.signal(signal)?],
            Detector::Negative(of) | Detector::Band(of) => of.reads(data)?,
            Detector::And(a, b) => [a.reads(data)?, b.reads(data)?].concat(),
            Detector::Hazard(signals) => features::read_signals(data, signals)?,
            Detector::Survival | Detector::Mil => features::read_signals(data, &[])?,
            Detector::ActProbe(_) => actprobe::signals(data)?,
            Detector::Odds(all) => all.iter().map(|of| of.reads(data)).collect::<Result<Vec<_>>>()?.concat(),
            Detector::Clock | Detector::Random | Detector::TaskPrior => vec![],
            Detector::Knn | Detector::Rnd | Detector::Flow => vec![],
        };
        found.sort_unstable();
        found.dedup();
        Ok(found)
    }

    /// Whether it reads embeddings.
    pub fn reads_embeddings(&self) -> bool {
        match self {
            Detector::Negative(of) | Detector::Band(of) => of.reads_embeddings(),
            Detector::And(a, b) => a.reads_embeddings() || b.reads_embeddings(),
            Detector::Odds(all) => all.iter().any(Detector::reads_embeddings),
            of => matches!(of, Detector::Knn | Detector::Rnd | Detector::Flow),
        }
    }

    /// Whether it needs rollouts to learn from.
    pub fn learns(&self) -> bool {
        match self {
            Detector::Clock | Detector::Random | Detector::TaskPrior | Detector::Signal(..) => false,
            Detector::Negative(of) => of.learns(),
            Detector::Odds(all) => all.iter().any(Detector::learns),
            _ => true,
        }
    }

    /// Whether its score is a probability to fail.
    pub fn is_probability(&self) -> bool {
        use Detector::{ActProbe, Hazard, Odds, Survival, TaskPrior};
        matches!(self, TaskPrior | ActProbe(_) | Hazard(_) | Survival | Odds(_))
    }
}

#[cfg(test)]
pub(crate) mod tests;

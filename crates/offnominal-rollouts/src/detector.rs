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
mod odds;
mod plain;
pub mod recurrent;
mod rnd;
pub mod survival;

use crate::rollout::Rollouts;
use crate::split::Part;
use anyhow::{Context as _, Result, bail, ensure};
use offnominal_core::Seed;
use offnominal_core::archive::Reader;
use offnominal_work::context::Context;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::fmt::{self, Display, Formatter};
use std::str::FromStr;

pub use fitted::{Fitted, Scorer, Seen, Start};
pub use plain::Accumulator;

/// Bytes of a detector's name.
const LONGEST: usize = 4096;
/// Levels of detectors in detectors.
const MOST_LEVELS: usize = 4;
/// Detectors, or networks, that are asked together.
const MOST_TOGETHER: usize = 10;

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

    fn parse(text: &str, level: usize) -> Result<Detector> {
        ensure!(level < MOST_LEVELS, "expected at most {MOST_LEVELS} levels of detectors, found more");
        let text = text.trim();
        if let Some(of) = text.strip_prefix('-') {
            return Ok(Detector::Negative(Box::new(Detector::parse(of, level + 1)?)));
        }
        let inner = |of: &str| Detector::parse(of, level + 1).map(Box::new);
        let Some((name, rest)) = text.split_once('(') else {
            return Ok(match text {
                "clock" => Detector::Clock,
                "random" => Detector::Random,
                "task-prior" => Detector::TaskPrior,
                "knn" => Detector::Knn,
                "rnd" => Detector::Rnd,
                "flow" => Detector::Flow,
                "actprobe" => Detector::ActProbe(1),
                "hazard" => Detector::Hazard(vec![]),
                "survival" => Detector::Survival,
                "mil" => Detector::Mil,
                "" => bail!("expected a detector, found nothing"),
                signal => Detector::Signal(Accumulator::Last, signal.into()),
            });
        };
        let of = rest.strip_suffix(')').with_context(|| format!("{text:?}: expected ) at the end"))?;
        match name {
            "band" => Ok(Detector::Band(inner(of)?)),
            "and" => {
                let [a, b] = list(of)[..] else { bail!("{text:?}: expected two detectors") };
                Ok(Detector::And(inner(a)?, inner(b)?))
            }
            "odds" => {
                let all = list(of).into_iter().map(|of| Detector::parse(of, level + 1));
                let all: Vec<Detector> = all.collect::<Result<_>>()?;
                ensure!(
                    (2..=MOST_TOGETHER).contains(&all.len()),
                    "{text:?}: expected 2 to {MOST_TOGETHER} detectors"
                );
                let other = all.iter().find(|of| !of.is_probability());
                other.map_or(Ok(()), |of| bail!("{text:?}: expected probabilities to fail, found {of}"))?;
                Ok(Detector::Odds(all))
            }
            "actprobe" => {
                let members = of.trim().parse().ok().filter(|n| (2..=MOST_TOGETHER).contains(n));
                let expected = || format!("{text:?}: expected actprobe of 2 to {MOST_TOGETHER} networks");
                Ok(Detector::ActProbe(members.with_context(expected)?))
            }
            "hazard" if !of.contains(['(', ')']) => {
                Ok(Detector::Hazard(of.split(',').map(|signal| signal.trim().into()).collect()))
            }
            other => match (Accumulator::named(other), of.contains(['(', ')', ','])) {
                (Some(accumulator), false) => Ok(Detector::Signal(accumulator, of.trim().into())),
                _ => bail!(
                    "{text:?}: expected max, mean, sum or ewma of a signal, band(…), and(…, …) or odds(…, …)"
                ),
            },
        }
    }
}

/// What stands between the commas that are in no brackets.
fn list(text: &str) -> Vec<&str> {
    let (mut level, mut from, mut found) = (0, 0, Vec::new());
    for (at, c) in text.char_indices() {
        level += i32::from(c == '(') - i32::from(c == ')');
        if c == ',' && level == 0 {
            found.push(&text[from..at]);
            from = at + 1;
        }
    }
    found.push(&text[from..]);
    found
}

impl FromStr for Detector {
    type Err = anyhow::Error;

    fn from_str(text: &str) -> Result<Detector> {
        ensure!(
            text.len() <= LONGEST,
            "expected a detector of at most {LONGEST} bytes, found {}",
            text.len()
        );
        Detector::parse(text, 0)
    }
}

impl TryFrom<String> for Detector {
    type Error = anyhow::Error;

    fn try_from(text: String) -> Result<Detector> {
        text.parse()
    }
}

impl Display for Detector {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Detector::Clock => write!(f, "clock"),
            Detector::Random => write!(f, "random"),
            Detector::TaskPrior => write!(f, "task-prior"),
            Detector::Signal(Accumulator::Last, signal) => write!(f, "{signal}"),
            Detector::Signal(accumulator, signal) => write!(f, "{}({signal})", accumulator.name()),
            Detector::Negative(of) => write!(f, "-{of}"),
            Detector::Band(of) => write!(f, "band({of})"),
            Detector::And(a, b) => write!(f, "and({a},{b})"),
            Detector::Knn => write!(f, "knn"),
            Detector::Rnd => write!(f, "rnd"),
            Detector::Flow => write!(f, "flow"),
            Detector::ActProbe(1) => write!(f, "actprobe"),
            Detector::ActProbe(members) => write!(f, "actprobe({members})"),
            Detector::Survival => write!(f, "survival"),
            Detector::Mil => write!(f, "mil"),
            Detector::Odds(all) => {
                write!(f, "odds({})", all.iter().map(Detector::to_string).collect::<Vec<_>>().join(","))
            }
            Detector::Hazard(signals) if signals.is_empty() => write!(f, "hazard"),
            Detector::Hazard(signals) => write!(f, "hazard({})", signals.join(",")),
        }
    }
}

#[cfg(test)]
pub(crate) mod tests;

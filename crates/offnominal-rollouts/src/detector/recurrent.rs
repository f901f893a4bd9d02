//! Networks with a memory that read a rollout step by step: an LSTM, and an MLP that reads its state and the step.
//!
//! At each step t the network reads x_t: signals, the mean so far of signals, and the time, as far as a detector wants them.
//! Its first state may come from the instruction of the task. Several networks, trained from different seeds, may stand for
//! one detector, whose score is made from the mean of what comes out of them.

pub mod net;
mod training;

use super::features::{Features, FeaturesSoFar};
use super::{Lesson, Seen, Start};
use crate::rollout::Rollouts;
use anyhow::{Context as _, Result, ensure};
use net::{Net, Work};
use offnominal_core::Seed;
use offnominal_core::archive::{ArchiveError, Reader, Writer};
use offnominal_core::limits::{COLUMNS, MEMBERS};
use std::sync::Arc;
pub(super) use training::Objective;

/// Steps that a rollout must have to be learned from.
const FEWEST_STEPS: usize = 5;
/// The time is measured in so many steps.
const CLOCK: f64 = 100.0;

/// How networks are trained: AdamW at a rate that falls as a cosine, with gradients cut at norm 1; from time to time it looks
/// at the held-out rollouts, and the network that was best on them is kept.
pub(super) struct Recipe {
    /// Passes over the rollouts.
    pub(super) epochs: usize,
    /// Rollouts of a gradient step.
    pub(super) batch: usize,
    pub(super) rate: f64,
    /// Decoupled decay of weights.
    pub(super) decay: f64,
    /// Share of the LSTM's output that is dropped.
    pub(super) dropout: f64,
    /// Passes from one look at the held-out rollouts to the next.
    pub(super) look: usize,
    /// Passes without a better network after which training stops.
    pub(super) patience: usize,
}

/// What a network reads of rollouts.
#[derive(Debug, Clone)]
pub(super) struct Inputs {
    /// Places of signals that are read as they are, in deviations from the mean of all steps.
    now: Vec<usize>,
    /// Mean and deviation of each.
    scale: Vec<(f64, f64)>,
    /// Means so far.
    so_far: Option<Features>,
    /// Whether the time is read.
    has_clock: bool,
    instructions: Instructions,
}

/// What tasks say.
#[derive(Debug, Clone, Default)]
pub(super) struct Instructions {
    /// One of each task, all of one length; nothing if none are read.
    rows: Vec<Vec<f32>>,
    /// Whether they are embeddings, and not numbers of tasks.
    are_embeddings: bool,
}

impl Inputs {
    /// Signals as they are.
    pub(super) fn new(lesson: &Lesson<'_>, now: Vec<usize>, instructions: Instructions) -> Inputs {
        let moments = |&signal: &usize| {
            let values = || lesson.part.train.iter().flat_map(|&i| &lesson.data.rollouts[i].signals[signal]);
            let n = values().count() as f64;
            let mean = values().sum::<f64>() / n;
            (mean, (values().map(|v| (v - mean).powi(2)).sum::<f64>() / n).sqrt() + 1e-7)
        };
        let scale = now.iter().map(moments).collect();
        Inputs { now, scale, so_far: None, has_clock: false, instructions }
    }

    pub(super) fn with_clock(self) -> Inputs {
        Inputs { has_clock: true, ..self }
    }

    /// With the mean so far of signals, in deviations from the rollouts that run at the step.
    pub(super) fn with_means(self, lesson: &Lesson<'_>, signals: Vec<usize>) -> Inputs {
        Inputs { so_far: Some(Features::of(lesson.data, &lesson.part.train, signals)), ..self }
    }

    /// Numbers of x_t.
    pub(super) fn len(&self) -> usize {
        self.now.len() + self.so_far.as_ref().map_or(0, Features::len) + usize::from(self.has_clock)
    }

    fn begin(&self) -> InputsSoFar {
        let so_far = self.so_far.as_ref().map(Features::begin);
        InputsSoFar {
            now: self.now.clone(),
            scale: self.scale.clone(),
            so_far,
            clock: self.has_clock.then_some(0),
        }
    }

    /// x_t of each step of a recorded rollout, `[steps, inputs]`.
    fn rows(&self, data: &Rollouts, rollout: usize) -> Vec<f32> {
        let (r, mut inputs, mut rows) = (&data.rollouts[rollout], self.begin(), Vec::new());
        (0..r.steps()).for_each(|k| inputs.next(|signal| r.signals[signal][k], &mut rows));
        rows
    }

    /// What the instruction of a task says.
    fn instruction(&self, task: usize) -> &[f32] {
        self.instructions.rows.get(task).map_or(&[], Vec::as_slice)
    }

    fn save(&self, to: &mut Writer<'_>) {
        to.put("signals", &self.now.iter().map(|&signal| signal as u64).collect::<Vec<_>>());
        let (means, deviations): (Vec<f64>, Vec<f64>) = self.scale.iter().copied().unzip();
        to.put("means", &means);
        to.put("deviations", &deviations);
        to.put("has-clock", &[u64::from(self.has_clock)]);
        to.put("has-means", &[u64::from(self.so_far.is_some())]);
        self.so_far.iter().for_each(|so_far| so_far.save(&mut to.part("so-far")));
        to.put("are-embeddings", &[u64::from(self.instructions.are_embeddings)]);
        to.put("instructions", &self.instructions.rows.concat());
    }

    fn load(from: &Reader<'_>, n_tasks: usize, n_signals: usize) -> Result<Inputs, ArchiveError> {
        let signals: &[u64] = from.list("signals")?;
        let is_known = signals.len() <= n_signals && signals.iter().all(|&s| s < n_signals as u64);
        from.require(
            is_known,
            "signals",
            format!("at most {n_signals} numbers below {n_signals}"),
            "others",
        )?;
        let means = from.exactly::<f64>("means", signals.len())?;
        let deviations = from.exactly::<f64>("deviations", signals.len())?;
        from.require(deviations.iter().all(|&d| d > 0.0), "deviations", "numbers above zero", "others")?;
        let numbers: &[f32] = from.list("instructions")?;
        let width = numbers.len() / n_tasks.max(1);
        let is_rows = numbers.len() == width * n_tasks;
        from.require(is_rows, "instructions", format!("{n_tasks} rows of one length"), numbers.len())?;
        let rows = numbers.chunks_exact(width.max(1)).map(<[f32]>::to_vec).collect();
        let has_means = from.one::<u64>("has-means")? > 0;
        let so_far = has_means.then(|| Features::load(&from.part("so-far"), n_signals)).transpose()?;
        Ok(Inputs {
            now: signals.iter().map(|&signal| signal as usize).collect(),
            scale: means.iter().copied().zip(deviations.iter().copied()).collect(),
            so_far,
            has_clock: from.one::<u64>("has-clock")? > 0,
            instructions: Instructions { rows, are_embeddings: from.one::<u64>("are-embeddings")? > 0 },
        })
    }
}

/// What a network reads of a rollout in progress.
struct InputsSoFar {
    now: Vec<usize>,
    scale: Vec<(f64, f64)>,
    so_far: Option<FeaturesSoFar>,
    clock: Option<usize>,
}

impl InputsSoFar {
    /// Appends x_t of the next step, whose signals are given by their places.
    fn next(&mut self, signal: impl Fn(usize) -> f64, to: &mut Vec<f32>) {
        let z =
            |(&place, (mean, deviation)): (&usize, &(f64, f64))| ((signal(place) - mean) / deviation) as f32;
        to.extend(self.now.iter().zip(&self.scale).map(z));
        if let Some(so_far) = &mut self.so_far {
            to.extend(so_far.next(&signal).into_iter().map(|z| z as f32));
        }
        if let Some(step) = &mut self.clock {
            to.push((*step as f64 / CLOCK) as f32);
            *step += 1;
        }
    }
}

impl Instructions {
    /// The embedding of each task's instruction, or its number as a unit vector.
    pub(super) fn of(lesson: &Lesson<'_>, detector: &str) -> Result<Instructions> {
        let (tasks, known) = (&lesson.data.tasks, lesson.instructions);
        let n = tasks.len();
        let unit = |task: usize| (0..n).map(|other| f32::from(u8::from(other == task))).collect();
        if known.is_empty() {
            return Ok(Instructions { rows: (0..n).map(unit).collect(), are_embeddings: false });
        }
        let found = tasks.iter().map(|task| {
            known.get(task).cloned().with_context(|| {
                format!("{detector}: expected an embedding of the task {task:?}, found none")
            })
        });
        Ok(Instructions { rows: found.collect::<Result<_>>()?, are_embeddings: true })
    }

    /// Numbers of one.
    fn width(&self) -> usize {
        self.rows.first().map_or(0, Vec::len)
    }

    /// That of the task of a rollout that begins. A task without a number of its own is none of them.
    fn at(&self, start: &Start<'_>) -> Result<Vec<f32>> {
        let width = self.width();
        match (start.task.and_then(|task| self.rows.get(task)), start.instruction) {
            (Some(known), _) => Ok(known.clone()),
            (None, Some(given)) if self.are_embeddings => {
                let found = given.len();
                ensure!(
                    found == width,
                    "instruction: expected an embedding of {width} numbers, found {found}"
                );
                Ok(given.to_vec())
            }
            (None, _) if self.are_embeddings => {
                anyhow::bail!(
                    "expected an embedding of the instruction of a task that was not learned from, found none"
                )
            }
            _ => Ok(vec![0.0; width]),
        }
    }
}

/// Trained networks with what they read.
#[derive(Debug, Clone)]
pub(super) struct Trained {
    inputs: Inputs,
    net: Net,
    members: Vec<Arc<[f32]>>,
}

/// What a network is, but for what it reads.
pub(super) struct Design {
    pub(super) hidden: usize,
    pub(super) head: &'static [usize],
    pub(super) outputs: usize,
    /// Networks that are trained, each from a seed of its own.
    pub(super) members: usize,
}

impl Design {
    fn net(&self, inputs: &Inputs) -> Net {
        Net::new(net::Sizes {
            instruction: inputs.instructions.width(),
            inputs: inputs.len(),
            hidden: self.hidden,
            head: self.head.to_vec(),
            outputs: self.outputs,
        })
    }

    /// Trains networks; the first one draws from `seed`, and the others from its children.
    pub(super) fn train(
        &self,
        inputs: Inputs,
        how: (&Recipe, &dyn Objective),
        lesson: &Lesson<'_>,
        seed: Seed,
    ) -> Result<Trained> {
        let net = self.net(&inputs);
        let train = long_enough(lesson)?;
        let member = |k: usize| {
            let mut rng = if k == 0 { seed.rng() } else { seed.child(k).rng() };
            Ok(training::train(&net, how, &inputs, lesson, &train, &mut rng)?.into())
        };
        let members = (0..self.members).map(member).collect::<Result<_>>()?;
        Ok(Trained { inputs, net, members })
    }

    /// Reads what [`Trained::save`] wrote.
    pub(super) fn load(
        &self,
        from: &Reader<'_>,
        n_tasks: usize,
        n_signals: usize,
    ) -> Result<Trained, ArchiveError> {
        let inputs = Inputs::load(&from.part("inputs"), n_tasks, n_signals)?;
        let n = inputs.len();
        from.require((1..=COLUMNS).contains(&n), "inputs", format!("1 to {COLUMNS} numbers of a step"), n)?;
        let net = self.net(&inputs);
        let n = from.one::<u64>("members")?;
        from.require((1..=MEMBERS as u64).contains(&n), "members", format!("1 to {MEMBERS}"), n)?;
        let member = |k: u64| Ok(from.exactly(&format!("network.{k}"), net.n_params())?.into());
        let members = (0..n).map(member).collect::<Result<_, ArchiveError>>()?;
        Ok(Trained { inputs, net, members })
    }
}

/// Rollouts that have enough steps to be learned from.
fn long_enough(lesson: &Lesson<'_>) -> Result<Vec<usize>> {
    let is_long = |i: &&usize| lesson.data.rollouts[**i].steps() >= FEWEST_STEPS;
    let train: Vec<usize> = lesson.part.train.iter().filter(is_long).copied().collect();
    ensure!(!train.is_empty(), "expected rollouts of at least {FEWEST_STEPS} steps, found none");
    Ok(train)
}

impl Trained {
    pub(super) fn save(&self, to: &mut Writer<'_>) {
        self.inputs.save(&mut to.part("inputs"));
        to.put("members", &[self.members.len() as u64]);
        self.members.iter().enumerate().for_each(|(k, params)| to.put(&format!("network.{k}"), params));
    }

    /// A rollout begins.
    pub(super) fn begin(&self, start: &Start<'_>) -> Result<InProgress> {
        let instruction = self.inputs.instructions.at(start)?;
        let begun = |params: &Arc<[f32]>| {
            let mut work = self.net.work(1, 1);
            self.net.begin(params, &instruction, &mut work);
            (Arc::clone(params), work)
        };
        let members = self.members.iter().map(begun).collect();
        Ok(InProgress { net: self.net.clone(), inputs: self.inputs.begin(), members, x: Vec::new() })
    }
}

/// Networks that read a rollout in progress.
pub(super) struct InProgress {
    net: Net,
    inputs: InputsSoFar,
    members: Vec<(Arc<[f32]>, Work)>,
    x: Vec<f32>,
}

impl InProgress {
    /// What comes out at the next step, as a mean over the networks.
    pub(super) fn step(&mut self, seen: Seen<'_>) -> Vec<f64> {
        self.x.clear();
        self.inputs.next(|signal| seen.signals[signal], &mut self.x);
        let (n, mut mean) = (self.members.len() as f64, vec![0.0; self.net.sizes().outputs]);
        for (params, work) in &mut self.members {
            let out = self.net.forward(params, &self.x, work, None);
            mean.iter_mut().zip(out).for_each(|(mean, &out)| *mean += f64::from(out) / n);
        }
        mean
    }
}

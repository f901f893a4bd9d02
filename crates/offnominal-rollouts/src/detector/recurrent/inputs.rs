//! What a network reads of rollouts: signals, means so far, the time, and instructions of tasks.

use crate::detector::features::{Features, FeaturesSoFar, load_signals};
use crate::detector::{Lesson, Start};
use crate::rollout::Rollouts;
use anyhow::{Context as _, Result, ensure};
use offnominal_core::archive::{ArchiveError, Reader, Writer};

/// The time is measured in so many steps.
const CLOCK: f64 = 100.0;

/// What a network reads of rollouts.
#[derive(Debug, Clone)]
pub(in crate::detector) struct Inputs {
    /// Places of signals that are read as they are, in deviations from the mean of all steps.
    now: Vec<usize>,
    /// Mean and deviation of each.
    scale: Vec<(f64, f64)>,
    /// Means so far.
    so_far: Option<Features>,
    /// Whether the time is read.
    has_clock: bool,
    pub(super) instructions: Instructions,
}

/// What tasks say.
#[derive(Debug, Clone, Default)]
pub(in crate::detector) struct Instructions {
    /// One of each task, all of one length; nothing if none are read.
    rows: Vec<Vec<f32>>,
    /// Whether they are embeddings, and not numbers of tasks.
    are_embeddings: bool,
}

impl Inputs {
    /// Signals as they are.
    pub(in crate::detector) fn new(
        lesson: &Lesson<'_>,
        now: Vec<usize>,
        instructions: Instructions,
    ) -> Inputs {
        let moments = |&signal: &usize| {
            let values = || lesson.part.train.iter().flat_map(|&i| &lesson.data.rollouts[i].signals[signal]);
            let n = values().count() as f64;
            let mean = values().sum::<f64>() / n;
            (mean, (values().map(|v| (v - mean).powi(2)).sum::<f64>() / n).sqrt() + 1e-7)
        };
        let scale = now.iter().map(moments).collect();
        Inputs { now, scale, so_far: None, has_clock: false, instructions }
    }

    pub(in crate::detector) fn with_clock(self) -> Inputs {
        Inputs { has_clock: true, ..self }
    }

    /// With the mean so far of signals, in deviations from the rollouts that run at the step.
    pub(in crate::detector) fn with_means(self, lesson: &Lesson<'_>, signals: Vec<usize>) -> Inputs {
        Inputs { so_far: Some(Features::of(lesson.data, &lesson.part.train, signals)), ..self }
    }

    /// Numbers of x_t.
    pub(in crate::detector) fn len(&self) -> usize {
        self.now.len() + self.so_far.as_ref().map_or(0, Features::len) + usize::from(self.has_clock)
    }

    pub(super) fn begin(&self) -> InputsSoFar {
        let so_far = self.so_far.as_ref().map(Features::begin);
        InputsSoFar {
            now: self.now.clone(),
            scale: self.scale.clone(),
            so_far,
            clock: self.has_clock.then_some(0),
        }
    }

    /// x_t of each step of a recorded rollout, `[steps, inputs]`.
    pub(super) fn rows(&self, data: &Rollouts, rollout: usize) -> Vec<f32> {
        let (r, mut inputs, mut rows) = (&data.rollouts[rollout], self.begin(), Vec::new());
        (0..r.steps()).for_each(|k| inputs.next(|signal| r.signals[signal][k], &mut rows));
        rows
    }

    /// What the instruction of a task says.
    pub(super) fn instruction(&self, task: usize) -> &[f32] {
        self.instructions.rows.get(task).map_or(&[], Vec::as_slice)
    }

    pub(super) fn save(&self, to: &mut Writer<'_>) {
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

    pub(super) fn load(from: &Reader<'_>, n_tasks: usize, n_signals: usize) -> Result<Inputs, ArchiveError> {
        let signals = load_signals(from, n_signals)?;
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
            now: signals,
            scale: means.iter().copied().zip(deviations.iter().copied()).collect(),
            so_far,
            has_clock: from.one::<u64>("has-clock")? > 0,
            instructions: Instructions { rows, are_embeddings: from.one::<u64>("are-embeddings")? > 0 },
        })
    }
}

/// What a network reads of a rollout in progress.
pub(super) struct InputsSoFar {
    now: Vec<usize>,
    scale: Vec<(f64, f64)>,
    so_far: Option<FeaturesSoFar>,
    clock: Option<usize>,
}

impl InputsSoFar {
    /// Appends x_t of the next step, whose signals are given by their places.
    pub(super) fn next(&mut self, signal: impl Fn(usize) -> f64, to: &mut Vec<f32>) {
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
    pub(in crate::detector) fn of(lesson: &Lesson<'_>, detector: &str) -> Result<Instructions> {
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
    pub(super) fn width(&self) -> usize {
        self.rows.first().map_or(0, Vec::len)
    }

    /// That of the task of a rollout that begins. A task without a number of its own is none of them.
    pub(super) fn at(&self, start: &Start<'_>) -> Result<Vec<f32>> {
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

//! Networks with a memory that read a rollout step by step: an LSTM, and an MLP that reads its state and the step.
//!
//! At each step t the network reads x_t: signals, the mean so far of signals, and the time, as far as a detector wants them.
//! Its first state may come from the instruction of the task. Several networks, trained from different seeds, may stand for
//! one detector, whose score is made from the mean of what comes out of them.

mod inputs;
pub mod net;
mod training;

use super::{Lesson, Seen, Start};
use anyhow::{Result, ensure};
use inputs::InputsSoFar;
pub(super) use inputs::{Inputs, Instructions};
use net::{Net, Work};
use offnominal_core::Seed;
use offnominal_core::archive::{ArchiveError, Reader, Writer};
use offnominal_core::limits::{COLUMNS, MEMBERS};
use std::sync::Arc;
pub(super) use training::Objective;

/// Steps that a rollout must have to be learned from.
const FEWEST_STEPS: usize = 5;
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

//! From episodes to an ensemble of trained dynamics models, and the buffers to ask them about a transition.

use super::one_step::{Rows, Units};
use super::training::{Model, Training};
use offnominal_core::Rng;
use offnominal_core::detector::{FitError, Signals, Transition, check};
use offnominal_nets::{Mlp, Workspace};
use std::sync::Arc;

/// Rows that are scored at once when a whole episode is given.
const BLOCK: usize = 64;

/// Units and rows of episodes that were found sound.
pub(crate) struct Data {
    pub units: Units,
    pub train: Rows,
    pub validation: Rows,
}

impl Data {
    /// Checks the episodes and measures them. Validation episodes are read only where early stopping needs them.
    pub fn new(
        train: &[Signals<'_>],
        validation: &[Signals<'_>],
        training: &Training,
    ) -> Result<Data, FitError> {
        check(train, 1)?;
        let validation = if training.patience.is_some() { validation } else { &[] };
        if training.patience.is_some() {
            check(validation, 1)?;
            check(&[train, validation].concat(), 1)?;
        }
        let units = Units::fit(train);
        Ok(Data { train: units.rows(train), validation: units.rows(validation), units })
    }

    /// Every row once.
    pub fn all_rows(&self) -> Vec<u32> {
        (0..self.train.episodes.last().map_or(0, |e| e.end)).collect()
    }

    /// The rows of as many episodes as there are, drawn with replacement.
    pub fn bootstrap(&self, rng: &mut Rng) -> Vec<u32> {
        let episodes = &self.train.episodes;
        let drawn: Vec<u32> =
            episodes.iter().flat_map(|_| episodes[rng.below(episodes.len())].clone()).collect();
        // Where some episodes are empty all draws may be.
        if drawn.is_empty() { self.all_rows() } else { drawn }
    }

    /// Trains one model from the parameters given.
    pub fn train(
        &self,
        training: &Training,
        model: &mut dyn Model,
        mut params: Vec<f32>,
        mut sample: Vec<u32>,
        rng: &mut Rng,
    ) -> Result<Vec<f32>, FitError> {
        training.run(model, &mut params, (&self.train, &mut sample), &self.validation, rng)?;
        Ok(params)
    }
}

/// Trained networks of one shape, ready to be asked. Forks share the parameters.
#[derive(Clone)]
pub(crate) struct Ensemble {
    shared: Arc<Trained>,
    work: Workspace,
    inputs: Vec<f32>,
    targets: Vec<f32>,
}

struct Trained {
    units: Units,
    net: Mlp,
    members: Vec<Vec<f32>>,
}

impl Ensemble {
    pub fn new(units: Units, net: Mlp, members: Vec<Vec<f32>>) -> Ensemble {
        let (inputs, targets) = (vec![0.0; BLOCK * units.n_inputs()], vec![0.0; BLOCK * units.n_targets()]);
        let work = net.workspace(BLOCK);
        Ensemble { shared: Arc::new(Trained { units, net, members }), work, inputs, targets }
    }

    /// Asks every member about one transition: `answer` gets the member's index, its output and the target.
    pub fn ask(&mut self, seen: &Transition<'_>, answer: &mut dyn FnMut(usize, &[f32], &[f32])) {
        self.ask_block(std::iter::once(*seen), &mut |_, member, output, target| {
            answer(member, output, target)
        });
    }

    /// Asks about at most [`BLOCK`] transitions at once: `answer` gets the index of the transition first. The rows of a
    /// batch have the bits they would have alone.
    fn ask_block<'a>(
        &mut self,
        seen: impl Iterator<Item = Transition<'a>>,
        answer: &mut dyn FnMut(usize, usize, &[f32], &[f32]),
    ) {
        let Trained { units, net, members } = &*self.shared;
        let (n_inputs, n_targets) = (units.n_inputs(), units.n_targets());
        let mut n = 0;
        for seen in seen.take(BLOCK) {
            units.input(&seen, &mut self.inputs[n * n_inputs..(n + 1) * n_inputs]);
            units.target(&seen, &mut self.targets[n * n_targets..(n + 1) * n_targets]);
            n += 1;
        }
        for (member, params) in members.iter().enumerate() {
            let outputs = net.forward(params, &self.inputs[..n * n_inputs], &mut self.work);
            let rows = outputs.chunks_exact(net.outputs()).zip(self.targets.chunks_exact(n_targets));
            rows.enumerate().for_each(|(row, (output, target))| answer(row, member, output, target));
        }
    }

    /// Asks about every step of an episode: `answer` gets the step, the member, its output and the target.
    pub fn ask_episode(&mut self, seen: &Signals<'_>, answer: &mut dyn FnMut(usize, usize, &[f32], &[f32])) {
        for start in (0..seen.len()).step_by(BLOCK) {
            let block = (start..seen.len().min(start + BLOCK)).map(|t| seen.transition(t));
            self.ask_block(block, &mut |row, member, output, target| {
                answer(start + row, member, output, target);
            });
        }
    }
}

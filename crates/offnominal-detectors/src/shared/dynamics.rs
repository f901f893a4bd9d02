//! From episodes to an ensemble of trained dynamics models, and the buffers to ask them about a transition.

use super::one_step::{Rows, Units};
use super::prelude::*;
use super::saved;
use super::scale::Constant;
use super::training::{Model, Training};
use offnominal_nets::{Mlp, Workspace};

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
    pub fn new(nominal: Nominal<'_>, training: &Training, constant: Constant) -> Result<Data, FitError> {
        let validation = training.validation(nominal)?;
        let units = Units::fit(nominal.train, constant);
        Ok(Data { train: units.rows(nominal.train), validation: units.rows(validation), units })
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
        (mut params, mut sample): (Vec<f32>, Vec<u32>),
        rng: &mut Rng,
        progress: FitProgress<'_>,
    ) -> Result<Vec<f32>, FitError> {
        training.run(model, &mut params, (&self.train, &mut sample), &self.validation, rng, progress)?;
        Ok(params)
    }
}

/// The answer of a member about a step.
pub(crate) struct Answer<'a> {
    /// Which step of those asked about.
    pub step: usize,
    /// Which member.
    pub member: usize,
    /// What the network puts out.
    pub output: &'a [f32],
    /// What would have been right.
    pub target: &'a [f32],
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

    /// Writes units and parameters.
    pub fn save(&self, to: &mut Writer<'_>) {
        self.shared.units.save(&mut to.part("units"));
        for (m, params) in self.shared.members.iter().enumerate() {
            to.part("member").part(m).put("params", params);
        }
    }

    /// Reads so many members; `net` is their shape, given the units.
    pub fn load(
        from: &Reader<'_>,
        members: usize,
        net: impl FnOnce(&Units) -> Result<Mlp, ArchiveError>,
    ) -> Result<Ensemble, ArchiveError> {
        let units = Units::load(&from.part("units"))?;
        let net = net(&units)?;
        let member = |m| saved::params(&from.part("member").part(m), &net);
        let members = (0..members).map(member).collect::<Result<_, _>>()?;
        Ok(Ensemble::new(units, net, members))
    }

    /// Asks every member about one transition, the only step; members answer in order.
    pub fn ask(&mut self, seen: &Transition<'_>, visit: &mut dyn FnMut(Answer<'_>)) {
        self.ask_block(0, std::iter::once(*seen), visit);
    }

    /// Writes the observation that the members, on average, expect after an action.
    pub fn expect(&mut self, obs: &[f32], action: &[f32], next_obs: &mut [f32]) {
        let Trained { units, net, members } = &*self.shared;
        let (input, mean) = (&mut self.inputs[..units.n_inputs()], &mut self.targets[..units.n_targets()]);
        units.input(&Transition { obs, action, next_obs: obs }, input);
        mean.fill(0.0);
        for params in members {
            let output = net.forward(params, input, &mut self.work);
            mean.iter_mut().zip(output).for_each(|(mean, x)| *mean += x / members.len() as f32);
        }
        next_obs.copy_from_slice(obs);
        units.advance(mean, next_obs);
    }

    /// Asks every member about every step of an episode; the members answer in order about each step.
    pub fn ask_episode(&mut self, seen: &Signals<'_>, visit: &mut dyn FnMut(Answer<'_>)) {
        for start in (0..seen.len()).step_by(BLOCK) {
            let steps = start..seen.len().min(start + BLOCK);
            self.ask_block(start, steps.map(|t| seen.transition(t)), visit);
        }
    }

    /// Asks about at most [`BLOCK`] transitions at once, whose rows have the bits they would have alone.
    fn ask_block<'a>(
        &mut self,
        start: usize,
        seen: impl Iterator<Item = Transition<'a>>,
        visit: &mut dyn FnMut(Answer<'_>),
    ) {
        let Trained { units, net, members } = &*self.shared;
        let (n_inputs, n_targets) = (units.n_inputs(), units.n_targets());
        let mut n = 0;
        for seen in seen {
            units.input(&seen, &mut self.inputs[n * n_inputs..(n + 1) * n_inputs]);
            units.target(&seen, &mut self.targets[n * n_targets..(n + 1) * n_targets]);
            n += 1;
        }
        for (member, params) in members.iter().enumerate() {
            let outputs = net.forward(params, &self.inputs[..n * n_inputs], &mut self.work);
            let rows = outputs.chunks_exact(net.outputs()).zip(self.targets.chunks_exact(n_targets));
            for (row, (output, target)) in rows.enumerate() {
                visit(Answer { step: start + row, member, output, target });
            }
        }
    }
}

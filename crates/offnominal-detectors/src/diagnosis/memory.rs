//! The last transitions of an episode, and their residuals.

use super::{HISTORY, Known, response, signature};
use crate::shared::marginal::Marginal;
use crate::shared::prelude::*;
use crate::shared::residual::Residual;

/// The last [`HISTORY`] transitions, overwritten in turn.
#[derive(Clone)]
pub(super) struct Memory {
    widths: [usize; 2],
    /// `[HISTORY, obs + action + obs]`.
    ring: Vec<f32>,
    /// What of them was not read, `[HISTORY, obs + obs]`.
    missing: Vec<bool>,
    /// Steps since the episode began.
    pub n: usize,
}

impl Memory {
    /// Nothing, of observations and actions of these widths.
    pub fn new(widths: [usize; 2]) -> Memory {
        let [obs, act] = widths;
        Memory {
            widths,
            ring: vec![0.0; HISTORY * (2 * obs + act)],
            missing: vec![false; HISTORY * 2 * obs],
            n: 0,
        }
    }

    /// One step more.
    pub fn observe(&mut self, seen: &Transition<'_>) {
        let ([obs, act], place) = (self.widths, self.n % HISTORY);
        let len = 2 * obs + act;
        self.missing[place * 2 * obs..][..2 * obs].fill(false);
        let row = &mut self.ring[place * len..][..len];
        row[..obs].copy_from_slice(seen.obs);
        row[obs..obs + act].copy_from_slice(seen.action);
        row[obs + act..].copy_from_slice(seen.next_obs);
        self.n += 1;
    }

    /// One step more, with gaps that were filled.
    pub fn observe_partial(&mut self, step: &Partial<'_>) {
        let (obs, place) = (self.widths[0], self.n % HISTORY);
        self.observe(&step.seen);
        let (before, after) = self.missing[place * 2 * obs..][..2 * obs].split_at_mut(obs);
        before.copy_from_slice(step.missing_before);
        after.copy_from_slice(step.missing_after);
    }

    /// What is remembered, oldest first, each with its number in the episode.
    fn steps(&self) -> impl Iterator<Item = (usize, Partial<'_>)> {
        let ([obs, act], first) = (self.widths, self.n.saturating_sub(HISTORY));
        (first..self.n).map(move |step| {
            let len = 2 * obs + act;
            let (before, rest) = self.ring[step % HISTORY * len..][..len].split_at(obs);
            let (action, after) = rest.split_at(act);
            let (missing_before, missing_after) =
                self.missing[step % HISTORY * 2 * obs..][..2 * obs].split_at(obs);
            let seen = Transition { obs: before, action, next_obs: after };
            (step, Partial { seen, missing_before, missing_after })
        })
    }
}

/// Residuals of remembered steps, oldest first, with what was read and commanded in standard units; all room is allocated
/// once.
#[derive(Clone)]
pub(super) struct ResidualHistory {
    /// `[n, d]`.
    pub z: Vec<f64>,
    /// `[n, actions]`.
    pub commands: Vec<f64>,
    /// `[n, inputs]`.
    pub inputs: Vec<f32>,
    pub self_information: Vec<f64>,
    marginal: Marginal,
    pub signature: signature::Scratch,
    pub response: response::Scratch,
    /// Whitened residuals since the onset.
    pub w: Vec<f64>,
}

impl ResidualHistory {
    /// Room for residuals of an ensemble.
    pub fn new(residual: &Residual, known: &Known) -> ResidualHistory {
        let d = residual.width();
        let room = |n: usize| Vec::with_capacity(HISTORY * n);
        ResidualHistory {
            z: room(d),
            commands: room(residual.act_width()),
            inputs: Vec::with_capacity(HISTORY * residual.inputs().len()),
            self_information: room(1),
            marginal: Marginal::new(d),
            signature: known.signature.scratch(),
            response: known.response.scratch(),
            w: room(d),
        }
    }

    /// Looks at all that is remembered.
    pub fn look_back(&mut self, memory: &Memory, residual: &mut Residual, known: &Known) {
        let d = residual.width();
        self.z.clear();
        self.commands.clear();
        self.inputs.clear();
        self.self_information.clear();
        for (step, partial) in memory.steps() {
            let from = self.z.len();
            self.z.resize(from + d, 0.0);
            residual.of_partial(&partial, &known.whitener, &mut self.marginal, &mut self.z[from..]);
            residual.commands(&mut self.commands);
            self.inputs.extend_from_slice(residual.inputs());
            let length = self.signature.length(&known.whitener, &self.z[from..]);
            self.self_information.push(known.self_information(step, self.marginal.rescaled(length)));
        }
    }
}

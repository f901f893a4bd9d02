//! What a run is to a model: states and commands, one row per step, over as many episodes as it had.

use crate::ShiftError;
use serde::{Deserialize, Serialize};

/// What a model reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Inputs {
    /// States and commands.
    StatesAndActions,
    /// States alone.
    States,
}

/// A run of a policy. Where an episode ended, the next one begins in the next row, as in the publication.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Stream {
    /// Observations `[n, obs]`.
    pub states: Vec<f32>,
    /// Commands `[n, act]`.
    pub actions: Vec<f32>,
    /// Widths of the two.
    pub widths: (usize, usize),
}

impl Stream {
    /// An empty run of an environment with these widths.
    pub fn new(obs_width: usize, act_width: usize) -> Stream {
        Stream { widths: (obs_width, act_width), ..Stream::default() }
    }

    /// Steps.
    pub fn len(&self) -> usize {
        self.states.len() / self.widths.0.max(1)
    }

    /// Whether there is no step.
    pub fn is_empty(&self) -> bool {
        self.states.is_empty()
    }

    /// Adds a step.
    ///
    /// # Panics
    /// If the widths are not those of the run.
    pub fn push(&mut self, state: &[f32], action: &[f32]) {
        assert_eq!((state.len(), action.len()), self.widths, "widths of a step");
        self.states.extend_from_slice(state);
        self.actions.extend_from_slice(action);
    }
}

/// The widths that all runs share.
pub(crate) fn widths(streams: &[Stream]) -> Result<(usize, usize), ShiftError> {
    let none = ShiftError::TooFew { what: "runs", needed: 2, found: streams.len() };
    let first = streams.first().ok_or(none)?.widths;
    match streams.iter().find(|s| s.widths != first) {
        Some(other) => {
            Err(ShiftError::Width { expected: first.0 + first.1, found: other.widths.0 + other.widths.1 })
        }
        None => Ok(first),
    }
}

//! Policies that other libraries trained: an observation through a chain of layers to an action, without anything drawn.
//!
//! | part                | what it does                                                                          |
//! |---------------------|---------------------------------------------------------------------------------------|
//! | [`Input`]           | normalises, stacks the last frames, turns grey levels and integers into numbers          |
//! | [`Layer`]           | dense, convolution or LSTM, and a function of each of its outputs                       |
//! | [`Output`]          | takes the last outputs to the action: squashed, cut at the bounds, choices, or yes and no |
//!
//! The state of an LSTM and the stack of frames are zero when an episode begins.
//! Readers of files ([`crate::sb3`], [`crate::cleanrl`], [`crate::rsl_rl`]) make them; a file of their own keeps them.

mod activation;
mod command;
mod design;
mod encoder;
mod file;
mod pass;

pub use activation::Activation;
pub use design::{Design, Encoding, Input, Kind, Layer, Normalised, Output};

use crate::normaliser::Normalisation;
use command::Command;
use encoder::Encoder;
use offnominal_core::prelude::*;
use offnominal_core::spec::EnvSpec;
use offnominal_nets::TensorError;
use pass::Pass;

/// Why layers are no policy for an environment.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum NetworkError {
    /// The file is none of ours, or was changed.
    #[error(transparent)]
    File(#[from] TensorError),
    /// A part does not fit the others, or the environment.
    #[error("{what}: expected {expected}, found {found}")]
    Unfit {
        /// The part.
        what: String,
        /// What fits.
        expected: String,
        /// What is there.
        found: String,
    },
}

impl NetworkError {
    pub(crate) fn unfit(what: &str, expected: impl ToString, found: impl ToString) -> NetworkError {
        NetworkError::Unfit { what: what.into(), expected: expected.to_string(), found: found.to_string() }
    }
}

/// A policy of layers.
#[derive(Debug, Clone)]
pub struct Network {
    env: String,
    algorithm: String,
    design: Design,
    normalisation: Option<Normalisation>,
    /// The numbers of each layer.
    params: Vec<Vec<f32>>,
    encoder: Encoder,
    pass: Pass,
    command: Command,
}

impl Network {
    /// A policy for the given environment of layers with these numbers ([`Kind::shapes`] gives their order).
    ///
    /// # Errors
    /// If the parts do not fit one another or the environment, or ask for too much.
    pub fn new(
        spec: &EnvSpec,
        algorithm: &str,
        design: Design,
        params: Vec<Vec<f32>>,
        normalisation: Option<Normalisation>,
    ) -> Result<Network, NetworkError> {
        design.check()?;
        design.check_numbers(&params)?;
        design.check_environment(spec)?;
        let encoder = Encoder::new(&design.input, normalisation.as_ref())?;
        let command = Command::new(&design.output, spec)?;
        let pass = Pass::new(&design.layers);
        let (env, algorithm) = (spec.id.clone(), algorithm.to_string());
        Ok(Network { env, algorithm, design, normalisation, params, encoder, pass, command })
    }

    /// The algorithm that trained it.
    pub fn algorithm(&self) -> &str {
        &self.algorithm
    }

    /// Its parts.
    pub fn design(&self) -> &Design {
        &self.design
    }
}

impl Policy for Network {
    fn reset(&mut self) {
        self.encoder.reset();
        self.pass.reset();
    }

    fn act(&mut self, obs: &[f32], action: &mut [f32], _: &mut Rng) {
        let seen = self.encoder.see(obs);
        let outputs = self.pass.run(&self.design.layers, &self.params, seen);
        self.command.write(outputs, action);
    }

    fn fork(&self) -> Box<dyn Policy> {
        Box::new(self.clone())
    }
}

#[cfg(test)]
mod tests;

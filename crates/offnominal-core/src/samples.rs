//! Samples of a policy's output: several predictions for one observation, and the features they are made of.
//!
//! A network with dropout or dropconnect predicts as often as it is asked to, each time with other units or weights; an
//! ensemble predicts once with each member. The spread of the predictions measures the policy's uncertainty. Detectors
//! read [`PolicySamples`] and know nothing of networks; policies give them and know nothing of detectors.

use crate::Rng;

/// A copy of a policy that gives its single predictions. Nothing that is done with it changes how the policy acts.
pub trait PolicySamples: Send + Sync {
    /// How many numbers of which kind it gives.
    fn shape(&self) -> Shape;

    /// Predicts for an observation. After warm-up this neither fails nor allocates.
    ///
    /// # Panics
    /// If the observation does not have the width that the policy reads.
    fn predict(&mut self, obs: &[f32], rng: &mut Rng) -> Predictions<'_>;

    /// An independent copy, for another thread.
    fn fork(&self) -> Box<dyn PolicySamples>;
}

/// The sizes of [`Predictions`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shape {
    /// Numbers per observation.
    pub obs: usize,
    /// M, the predictions made at a time; 1 if all would be the same.
    pub predictions: usize,
    /// Networks that make them in turn: prediction i is of member i modulo this number.
    pub members: usize,
    /// Outputs of a network.
    pub heads: usize,
    /// Numbers per action.
    pub actions: usize,
    /// Width of the penultimate layer; 0 if there is none.
    pub features: usize,
    /// Whether the outputs are the values of choices, of which the action is the one of the largest.
    pub is_choice: bool,
}

/// M predictions for one observation, row-major.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Predictions<'a> {
    /// Outputs of the network, `[M, heads]`: the value of each choice, or each real action before tanh, or before it is cut.
    pub heads: &'a [f32],
    /// The action that each prediction alone would give to the environment, `[M, actions]`.
    pub actions: &'a [f32],
    /// What the last layer reads, `[M, features]`: the penultimate features.
    pub features: &'a [f32],
}

/// Why a policy does not give the samples that were asked for.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum SamplesError {
    /// It gives none.
    #[error("the policy shows nothing but its actions; expected a trained network")]
    Opaque,
    /// It refused, for the stated reason.
    #[error("{0}")]
    Refused(String),
    /// It gives others.
    #[error("expected a policy {expected}, found one {found}")]
    Unfit {
        /// What is needed.
        expected: String,
        /// What the policy has.
        found: String,
    },
}

impl Shape {
    /// Requires predictions that differ.
    ///
    /// # Errors
    /// If the policy has a single one.
    pub fn disagrees(&self) -> Result<(), SamplesError> {
        let found = "without stochastic layers, whose predictions are all the same";
        let expected = "with dropout, dropconnect or the members of an ensemble";
        let error = || SamplesError::Unfit { expected: expected.into(), found: found.into() };
        (self.predictions > 1).then_some(()).ok_or_else(error)
    }
}

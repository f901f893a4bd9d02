//! What a learning algorithm must offer to the training loop.

use crate::replay::Batch;
use offnominal_core::Rng;
use offnominal_nets::{Net, TensorError, Tensors};

/// An off-policy algorithm: the networks, their optimisers, and one gradient step.
///
/// Observations arrive normalised; actions are in [−1, 1], those of a linear output also beyond, or the index of a
/// choice. Environments, buffers and files are somebody else's.
pub trait Learner: Send {
    /// Writes an action that explores, after so many steps in the environment.
    fn explore(&mut self, obs: &[f32], action: &mut [f32], step: u64, rng: &mut Rng);

    /// How much it explores after so many steps in the environment: the deviation of the noise on its actions, the
    /// share of random choices, or the weight of the entropy.
    fn noise(&self, step: u64) -> f64;

    /// Improves by one gradient step with the given learning rate; allocates nothing.
    fn update(&mut self, batch: &Batch, lr: f64, rng: &mut Rng) -> Losses;

    /// The network whose output, through its activation, is the action without exploration, or whose largest output is
    /// the choice; and its parameters.
    fn actor(&self) -> (Net, Vec<f32>);

    /// Everything that an exact continuation needs.
    fn save(&self, into: &mut Tensors);

    /// Continues from what was saved.
    ///
    /// # Errors
    /// If a tensor is missing or has the wrong shape. The learner is then in an unspecified, but valid, state.
    fn load(&mut self, from: &Tensors) -> Result<(), TensorError>;
}

/// What one gradient step reports.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Losses {
    /// Mean loss of the critics.
    pub critic: f64,
    /// Loss of the actor.
    pub actor: f64,
    /// Weight of the entropy; 0 where the algorithm has none.
    pub temperature: f64,
    /// Mean entropy of the policy, estimated from its samples.
    pub entropy: f64,
    /// Mean value that the critics give to the policy's own actions.
    pub value: f64,
}

//! Why a training run cannot begin or go on.

use crate::actor::ActorError;
use crate::config::ConfigError;
use crate::learner::Commands;
use offnominal_core::catalogue::BuildError;
use offnominal_nets::TensorError;

/// Why a training run cannot begin or go on.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TrainError {
    /// The recipe is wrong.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// There is no such algorithm.
    #[error(transparent)]
    Algorithm(#[from] BuildError),
    /// The algorithm cannot learn the commands of the world.
    #[error("world {env}: {algorithm} expects {expected}; those for the others are: {able}")]
    Commands {
        /// The world.
        env: String,
        /// The algorithm.
        algorithm: &'static str,
        /// What it can learn.
        expected: Commands,
        /// The algorithms that learn other commands.
        able: String,
    },
    /// The world cannot be copied, so it can be neither evaluated aside nor restored.
    #[error("world {env} cannot be copied; training needs copies")]
    NoCopies {
        /// The world.
        env: String,
    },
    /// A checkpoint is malformed.
    #[error(transparent)]
    Tensors(#[from] TensorError),
    /// The best actor in a checkpoint is malformed.
    #[error("best actor: {0}")]
    Best(#[from] ActorError),
    /// The state in a checkpoint is malformed.
    #[error("state of the checkpoint: {0}")]
    State(#[from] serde_json::Error),
    /// A checkpoint does not fit the world or itself.
    #[error("checkpoint: expected {expected}, found {found}")]
    Mismatch {
        /// The rule in words.
        expected: String,
        /// What the checkpoint has.
        found: String,
    },
}

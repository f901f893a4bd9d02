//! Why a training run cannot begin or go on.

use crate::actor::ActorError;
use crate::config::ConfigError;
use offnominal_nets::TensorError;

/// Why a training run cannot begin or go on.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TrainError {
    /// The recipe is wrong.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// The environment cannot be copied, so it can be neither evaluated aside nor restored.
    #[error("environment {0} cannot be copied; training needs copies")]
    NoCopies(String),
    /// A checkpoint is malformed, or does not fit the environment.
    #[error(transparent)]
    Tensors(#[from] TensorError),
    /// The best actor in a checkpoint is malformed.
    #[error("best actor: {0}")]
    Best(#[from] ActorError),
}

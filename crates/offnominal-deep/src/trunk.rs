//! What all networks begin with: maps of features, finer and coarser.

use crate::pass::Pass;
use crate::residual::Residual;
use crate::small::Small;
use crate::xception::Xception;
use burn_tensor::Tensor;

/// What a trunk makes of a batch of images.
pub struct Maps {
    /// At a quarter of the size, for what has edges.
    pub low: Tensor<4>,
    /// One stage before the last, for an auxiliary loss.
    pub middle: Tensor<4>,
    /// At an eighth of the size or coarser, for what has meaning.
    pub high: Tensor<4>,
}

/// How many channels these have.
#[derive(Debug, Clone, Copy)]
pub struct Channels {
    /// Of the fine map.
    pub low: usize,
    /// Of the map before the last.
    pub middle: usize,
    /// Of the coarse map.
    pub high: usize,
}

/// A trunk.
#[derive(Debug, Clone)]
pub enum Trunk {
    /// Ours.
    Small(Box<Small>),
    /// ResNet-50, dilated.
    Residual(Residual),
    /// Xception-65.
    Xception(Box<Xception>),
}

impl Trunk {
    /// How many channels its maps have.
    pub fn channels(&self) -> Channels {
        match self {
            Trunk::Small(_) => crate::small::CHANNELS,
            Trunk::Residual(_) => crate::residual::CHANNELS,
            Trunk::Xception(_) => crate::xception::CHANNELS,
        }
    }

    /// The maps of a batch.
    pub fn forward(&self, x: Tensor<4>, pass: &mut Pass) -> Maps {
        match self {
            Trunk::Small(trunk) => trunk.forward(x, pass),
            Trunk::Residual(trunk) => trunk.forward(x, pass),
            Trunk::Xception(trunk) => trunk.forward(x, pass),
        }
    }
}

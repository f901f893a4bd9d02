//! What scores images: nearest neighbours of features, and a model of how patches change under an action.
//!
//! Each detector here stands on a [`Backbone`](offnominal_nets::vision::Backbone), whoever trained it; which one, and
//! where its weights are, is decided by whoever builds the detector.

mod bank;
mod baselines;
mod commands;
mod components;
mod dynamics;
mod encoding;
mod fused;
mod latent;
mod memory;
mod moments;
mod monitor;
mod neighbours;
mod patch_knn;
mod regression;

pub use baselines::{ImageClock, ImageRandom};
pub use dynamics::{DynamicsShape, PatchDynamics};
pub use fused::PatchFusion;
pub use neighbours::{FrameKnn, Metric};
pub use patch_knn::{PatchKnn, Pooling};

#[cfg(test)]
mod tests;

use offnominal_core::prelude::*;

/// The image detectors that need no weights; whoever has some adds to these.
pub const BASELINES: &[Entry<dyn ImageDetector>] = &[baselines::CLOCK, baselines::RANDOM];

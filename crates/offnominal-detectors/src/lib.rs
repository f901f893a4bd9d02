//! What scores: one detector per file.
//!
//! A detector is a file here and two lines below; everything else (commands, configuration, documentation, the
//! conformance run) reads [`ALL`].

mod clock;
mod isolation_forest;
mod knn;
mod mlp_dm;
mod pe_dm;
mod random;
mod shared;

pub use clock::Clock;
pub use isolation_forest::IsolationForest;
pub use knn::Knn;
pub use mlp_dm::MlpDm;
pub use pe_dm::{PeDm, Score};
pub use random::Random;
pub use shared::ranges::{Fraction, Hidden};
pub use shared::training::Training;

use offnominal_core::prelude::*;

/// Every built-in detector, in the order in which reports list them: the baselines first.
pub const ALL: &[Entry<dyn Detector>] =
    &[clock::ENTRY, random::ENTRY, knn::ENTRY, isolation_forest::ENTRY, mlp_dm::ENTRY, pe_dm::ENTRY];

/// The built-in detectors, to which an outside crate adds its own with [`Catalogue::with`].
pub fn catalogue() -> Catalogue<dyn Detector> {
    Catalogue::new("detector", ALL)
}

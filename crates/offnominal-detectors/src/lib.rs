//! What scores: one detector per file.
//!
//! A detector is a file here and two lines below; everything else (commands, configuration, documentation, the
//! conformance run) reads [`ALL`].

mod clock;
mod cusum;
mod e_process;
mod ensemble_dm;
mod fusion;
mod isolation_forest;
mod knn;
mod knn_transition;
mod mlp_dm;
mod ocsvm;
mod offnominal;
mod pe_dm;
mod random;
mod residual_window;
mod shared;

pub use clock::Clock;
pub use cusum::Cusum;
pub use e_process::EProcess;
pub use ensemble_dm::EnsembleDm;
pub use fusion::{Fusion, Several};
pub use isolation_forest::IsolationForest;
pub use knn::Knn;
pub use knn_transition::KnnTransition;
pub use mlp_dm::MlpDm;
pub use ocsvm::Ocsvm;
pub use offnominal::Offnominal;
pub use pe_dm::{PeDm, Score};
pub use random::Random;
pub use residual_window::ResidualWindow;
pub use shared::inner::Inner;
pub use shared::ranges::{Fraction, Hidden, Positive};
pub use shared::training::Training;

use offnominal_core::prelude::*;

/// Every built-in detector, in the order in which reports list them: the baselines first.
pub const ALL: &[Entry<dyn Detector>] = &[
    clock::ENTRY,
    random::ENTRY,
    knn::ENTRY,
    isolation_forest::ENTRY,
    ocsvm::ENTRY,
    mlp_dm::ENTRY,
    pe_dm::ENTRY,
    knn_transition::ENTRY,
    ensemble_dm::ENTRY,
    residual_window::ENTRY,
    cusum::ENTRY,
    e_process::ENTRY,
    fusion::ENTRY,
    offnominal::ENTRY,
];

/// The built-in detectors, to which an outside crate adds its own with [`Catalogue::with`].
pub fn catalogue() -> Catalogue<dyn Detector> {
    Catalogue::new("detector", ALL)
}

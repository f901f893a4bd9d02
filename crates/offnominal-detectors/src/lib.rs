//! What scores: one detector per file.
//!
//! A detector is a file here and two lines below; everything else (commands, configuration, documentation, the
//! tests of the laws) reads [`ALL`].

mod clock;
mod cusum;
pub mod diagnosis;
mod disagreement;
mod e_process;
mod ensemble_dm;
mod feature_knn;
mod feature_mahalanobis;
mod fusion;
pub mod images;
mod isolation_forest;
mod knn;
mod knn_transition;
mod lstm_dm;
mod mlp_dm;
mod multistep_dm;
mod ocsvm;
mod offnominal;
mod pe_dm;
pub mod pixel;
mod random;
mod residual_window;
mod riqn;
mod rnd;
mod shared;

pub use clock::Clock;
pub use cusum::Cusum;
pub use disagreement::{Disagreement, Measure, Panel};
pub use e_process::EProcess;
pub use ensemble_dm::EnsembleDm;
pub use feature_knn::FeatureKnn;
pub use feature_mahalanobis::FeatureMahalanobis;
pub use fusion::{Fusion, Several};
pub use isolation_forest::IsolationForest;
pub use knn::Knn;
pub use knn_transition::KnnTransition;
pub use lstm_dm::LstmDm;
pub use mlp_dm::MlpDm;
pub use multistep_dm::MultistepDm;
pub use ocsvm::Ocsvm;
pub use offnominal::Offnominal;
pub use pe_dm::{PeDm, Score};
pub use random::Random;
pub use residual_window::ResidualWindow;
pub use riqn::Riqn;
pub use rnd::Rnd;
pub use shared::inner::Inner;
pub use shared::ranges::{Fraction, Hidden, Positive};
pub use shared::sequences::SequenceTraining;
pub use shared::training::Training;

use offnominal_core::prelude::*;

/// Every built-in detector, in the order in which reports list them: the baselines first.
pub const ALL: &[Entry<dyn Detector>] = &[
    clock::ENTRY,
    random::ENTRY,
    knn::ENTRY,
    isolation_forest::ENTRY,
    ocsvm::ENTRY,
    riqn::ENTRY,
    mlp_dm::ENTRY,
    lstm_dm::ENTRY,
    pe_dm::ENTRY,
    knn_transition::ENTRY,
    ensemble_dm::ENTRY,
    multistep_dm::ENTRY,
    residual_window::ENTRY,
    cusum::ENTRY,
    e_process::ENTRY,
    fusion::ENTRY,
    offnominal::ENTRY,
    rnd::ENTRY,
    disagreement::ENTRY,
    feature_mahalanobis::ENTRY,
    feature_knn::ENTRY,
];

/// The built-in detectors, to which an outside crate adds its own with [`Catalogue::with`].
pub fn catalogue() -> Catalogue<dyn Detector> {
    Catalogue::new("detector", ALL)
}

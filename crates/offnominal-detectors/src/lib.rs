//! What scores: one detector per file.
//!
//! A detector is a file here and two lines below, `mod` and an item of `detectors!`; everything else (commands,
//! configuration, documentation, the tests of the laws) reads [`ALL`].

mod clock;
mod cusum;
pub mod diagnosis;
mod disagreement;
mod dpca;
mod e_process;
mod ensemble_dm;
mod feature_knn;
mod feature_mahalanobis;
mod flow_density;
mod fusion;
pub mod images;
mod isolation_forest;
mod knn;
mod knn_transition;
mod lstm_dm;
mod mewma;
mod mlp_dm;
mod multistep_dm;
mod ocsvm;
mod panel;
mod pe_dm;
pub mod pixel;
mod random;
mod residual_views;
mod residual_window;
mod riqn;
mod rnd;
mod running_mean;
mod shared;

pub use clock::Clock;
pub use cusum::Cusum;
pub use disagreement::{Disagreement, Measure, Measurements};
pub use dpca::Dpca;
pub use e_process::EProcess;
pub use ensemble_dm::EnsembleDm;
pub use feature_knn::FeatureKnn;
pub use feature_mahalanobis::FeatureMahalanobis;
pub use flow_density::FlowDensity;
pub use fusion::{Combine, Fusion, Several};
pub use isolation_forest::IsolationForest;
pub use knn::Knn;
pub use knn_transition::KnnTransition;
pub use lstm_dm::LstmDm;
pub use mewma::{Mewma, Statistic};
pub use mlp_dm::MlpDm;
pub use multistep_dm::MultistepDm;
pub use ocsvm::Ocsvm;
pub use panel::Panel;
pub use pe_dm::{PeDm, Score};
pub use random::Random;
pub use residual_views::ResidualViews;
pub use residual_window::ResidualWindow;
pub use riqn::Riqn;
pub use rnd::Rnd;
pub use running_mean::RunningMean;
pub use shared::beginning::Reference;
pub use shared::inner::Inner;
pub use shared::ranges::{Fraction, Hidden, Positive, Rate};
pub use shared::recipe::{Described, Field};
pub use shared::sequences::SequenceTraining;
pub use shared::training::Training;

use offnominal_core::prelude::*;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

/// Lists the detectors once: their entries, and the parameters of each with their defaults.
macro_rules! detectors {
    ($($file:ident::$recipe:ident),* $(,)?) => {
        /// Every built-in detector, in the order in which reports list them: the baselines first.
        pub const ALL: &[Entry<dyn Detector>] = &[$($file::ENTRY),*];

        /// The default parameters of each, in the order of [`ALL`].
        ///
        /// # Panics
        /// If the defaults, written and read again, are others; the tests of this crate call it.
        pub fn defaults() -> Vec<Value> {
            vec![$(read_again(&$file::$recipe::default())),*]
        }

        /// The parameters of each, in the order of [`ALL`].
        pub fn fields() -> Vec<Vec<Field>> {
            use shared::recipe::{Probe, Undescribed as _};
            vec![$(Probe::<$file::$recipe>::default().fields()),*]
        }
    };
}

detectors![
    clock::Clock,
    random::Random,
    knn::Knn,
    isolation_forest::IsolationForest,
    ocsvm::Ocsvm,
    mewma::Mewma,
    dpca::Dpca,
    riqn::Riqn,
    mlp_dm::MlpDm,
    lstm_dm::LstmDm,
    pe_dm::PeDm,
    knn_transition::KnnTransition,
    ensemble_dm::EnsembleDm,
    multistep_dm::MultistepDm,
    residual_window::ResidualWindow,
    flow_density::FlowDensity,
    cusum::Cusum,
    e_process::EProcess,
    running_mean::RunningMean,
    fusion::Fusion,
    residual_views::ResidualViews,
    panel::Panel,
    rnd::Rnd,
    disagreement::Disagreement,
    feature_mahalanobis::FeatureMahalanobis,
    feature_knn::FeatureKnn,
];

/// The detector to begin with, on machines and in simulators. Configurations may call it `default`.
pub const DEFAULT: &str = panel::ENTRY.id;

/// A recipe as configuration, which read again must be the same.
fn read_again<T>(recipe: &T) -> Value
where
    T: Detector + Default + Serialize + DeserializeOwned + PartialEq,
{
    let written = serde_json::to_value(recipe).expect("a recipe is plain data");
    let read = |value| serde_json::from_value::<T>(value).expect("a recipe reads what it writes");
    assert!(read(written.clone()) == *recipe && read(serde_json::json!({})) == *recipe, "{written}");
    written
}

/// The parameters of a built-in detector with every default, those of the detectors inside it too: what a file says of its
/// detector must mean the same when a later program has other defaults. Those of another detector are given back.
pub fn complete(id: &str, params: &Value) -> Value {
    let Some(at) = ALL.iter().position(|entry| entry.id == id) else { return params.clone() };
    let mut all = defaults().swap_remove(at);
    overlay(&mut all, params);
    if let Some(inner) = all.get_mut("inner") {
        complete_inner(inner);
    }
    all
}

/// What is given in place of what stands there, table by table; a detector takes the place of another one as a whole.
fn overlay(all: &mut Value, given: &Value) {
    match (all, given) {
        (Value::Object(all), Value::Object(given)) if !given.contains_key("id") => {
            given
                .iter()
                .for_each(|(name, value)| overlay(all.entry(name.clone()).or_insert(Value::Null), value));
        }
        (all, given) => *all = given.clone(),
    }
}

/// The same of one detector inside another, or of lists of them.
fn complete_inner(inner: &mut Value) {
    if let Value::Array(all) = inner {
        return all.iter_mut().for_each(complete_inner);
    }
    let id = inner.as_str().or_else(|| inner["id"].as_str()).unwrap_or_default().to_string();
    let mut params = inner.as_object().cloned().unwrap_or_default();
    params.remove("id");
    let mut all = complete(&id, &params.into());
    all["id"] = id.into();
    *inner = all;
}

/// The built-in detectors, to which an outside crate adds its own with [`Catalogue::with`].
pub fn catalogue() -> Catalogue<dyn Detector> {
    Catalogue::new("detector", ALL)
}

/// What the README shows is code that runs.
#[doc = include_str!("../README.md")]
#[cfg(doctest)]
struct Readme;

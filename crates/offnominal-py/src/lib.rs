//! The engine as a Python extension module, `offnominal._engine`.
//!
//! This crate is a border: it reads NumPy arrays and JSON, checks them, and hands slices to the engine without the
//! interpreter's lock. What users see (Gymnasium environments, detector classes, tables) is Python, in
//! `python/offnominal`.

mod anomaly_spec;
mod arrays;
mod call;
mod campaign;
mod chunks;
mod detectors;
mod environment;
mod episodes;
mod error;
mod faults;
mod forks;
mod images;
mod infos;
mod lane;
mod logs;
mod own;
mod policy;
mod pool;
mod progress;
mod scores;
mod watch;

use pyo3::prelude::*;

/// What the Python package is made of.
#[pymodule]
mod _engine {
    #[pymodule_export]
    use crate::call::{call, commands, end_hosts, give_environment};
    #[pymodule_export]
    use crate::campaign::{Campaign, digest};
    #[pymodule_export]
    use crate::chunks::ChunkSignals;
    #[pymodule_export]
    use crate::detectors::{Monitor, check_detector, detectors, fit, recipes};
    #[pymodule_export]
    use crate::environment::{Environment, anomalies, environments};
    #[pymodule_export]
    use crate::episodes::{Recording, collect, load};
    #[pymodule_export]
    use crate::faults::Faults;
    #[pymodule_export]
    use crate::images::{ImageMonitorOf, check_image_detector, fit_images, image_detectors};
    #[pymodule_export]
    use crate::logs::{propose_mapping, read_logs};
    #[pymodule_export]
    use crate::own::{give_detector, give_policy};
    #[pymodule_export]
    use crate::policy::{Policy, policies};
    #[pymodule_export]
    use crate::pool::Pool;
    #[pymodule_export]
    use crate::scores::{landmark_auc, nominal_threshold};
    #[pymodule_export]
    use crate::watch::{Watch, fit_watch, main, write};
    #[pymodule_export]
    const VERSION: &str = env!("CARGO_PKG_VERSION");

    /// Detectors written in Python are one more entry of the catalogue.
    #[pymodule_init]
    fn init(_module: &pyo3::Bound<'_, pyo3::types::PyModule>) -> pyo3::PyResult<()> {
        let extras = offnominal_engine::catalogues::Extras {
            detectors: vec![crate::own::ENTRY],
            image_detectors: offnominal_pixels::IMAGE_DETECTORS.to_vec(),
            ..Default::default()
        };
        offnominal_engine::catalogues::extend(extras).map_err(crate::error::raised)
    }
}

//! The engine as a Python extension module, `offnominal._engine`.
//!
//! This crate is a border: it reads NumPy arrays and JSON, checks them, and hands slices to the engine without the
//! interpreter's lock. What users see (Gymnasium environments, detector classes, tables) is Python, in `python/offnominal`.

mod arrays;
mod detectors;
mod episodes;
mod error;
mod fault;
mod lane;
mod policy;
mod pool;
mod world;

use pyo3::prelude::*;

/// What the Python package is made of.
#[pymodule]
mod _engine {
    #[pymodule_export]
    use crate::detectors::{Monitor, check_detector, detectors, fit};
    #[pymodule_export]
    use crate::episodes::{Recording, collect, evaluate, load};
    #[pymodule_export]
    use crate::policy::{Policy, policies};
    #[pymodule_export]
    use crate::pool::Pool;
    #[pymodule_export]
    use crate::world::{World, anomalies, worlds};
    #[pymodule_export]
    const VERSION: &str = env!("CARGO_PKG_VERSION");
}

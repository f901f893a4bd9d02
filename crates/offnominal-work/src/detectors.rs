//! Detectors by name: what is built in, and what a program around this library adds.

use anyhow::{Result, ensure};
use offnominal_core::detector::Detector;
use offnominal_core::{Catalogue, Entry};
use std::sync::OnceLock;

static OWN: OnceLock<Vec<Entry<dyn Detector>>> = OnceLock::new();

/// Adds to the catalogue of this process, once and before anything is looked up.
///
/// # Errors
/// If the catalogue of this process is fixed already.
pub fn extend(own: Vec<Entry<dyn Detector>>) -> Result<()> {
    ensure!(OWN.set(own).is_ok(), "expected one extension of the catalogue of detectors, found a second");
    Ok(())
}

/// The detectors.
pub fn catalogue() -> Catalogue<dyn Detector> {
    let built_in = Catalogue::new("detector", offnominal_detectors::ALL);
    OWN.get_or_init(Vec::new).iter().fold(built_in, |all, entry| all.with(*entry))
}

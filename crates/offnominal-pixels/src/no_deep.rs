//! In place of what needs automatic differentiation in a build without it: errors that tell how to get it.

use crate::choice::NetworkChoice;
use crate::data_set::DataSet;
use crate::net::Net;
use anyhow::{Result, bail};
use offnominal_core::Seed;
use offnominal_deep::Design;
use offnominal_engine::context::Context;
use offnominal_engine::device::Device;
use offnominal_files::checkpoint::Checkpoint;
use offnominal_nets::Tensors;
use std::path::Path;

/// What is missing.
const ADVICE: &str = "this build trains no convolutional networks, and computes only small ones on the processor: build it with \
                      cargo build --release --features deep";

/// None.
///
/// # Errors
/// Always.
pub fn open(_: &Tensors, _: Device) -> Result<Net> {
    bail!(ADVICE)
}

/// None.
///
/// # Errors
/// Always.
pub fn named(_: &Design, _: &Tensors) -> Result<Net> {
    bail!(ADVICE)
}

/// None.
///
/// # Errors
/// Always.
pub fn import(_: &Path, _: Vec<String>) -> Result<Net> {
    bail!(ADVICE)
}

/// Trains none.
///
/// # Errors
/// Always.
pub fn train(
    _: &DataSet,
    _: &NetworkChoice,
    _: Seed,
    _: &mut Checkpoint,
    _: &Context,
) -> Result<(Tensors, serde_json::Value)> {
    bail!(ADVICE)
}

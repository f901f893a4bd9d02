//! In place of convolutional networks in a build without them: errors that tell how to get them.

use crate::choice::NetworkChoice;
use crate::data_set::DataSet;
use crate::output::NetworkOutput;
use anyhow::{Result, bail};
use offnominal_core::{Rng, Seed};
use offnominal_engine::context::Context;
use offnominal_engine::device::Device;
use offnominal_files::checkpoint::Checkpoint;
use offnominal_nets::Tensors;
use std::path::Path;

/// What is missing.
const ADVICE: &str =
    "this build has no convolutional networks: build it with cargo build --release --features deep";

/// A network that there is none of.
#[derive(Debug, Clone)]
pub enum Net {}

#[allow(missing_docs, reason = "as in the build that has them")]
impl Net {
    pub fn open(_: &Tensors, _: Device) -> Result<Net> {
        bail!(ADVICE)
    }

    pub fn import(_: &Path, _: Vec<String>) -> Result<Net> {
        bail!(ADVICE)
    }

    pub fn named(_: &Path, _: &NetworkChoice, _: &[String]) -> Result<Net> {
        bail!(ADVICE)
    }

    pub fn classes(&self) -> &[String] {
        match *self {}
    }

    pub fn drops_units(&self) -> bool {
        match *self {}
    }

    pub fn has_confidence(&self) -> bool {
        match *self {}
    }

    pub fn to_tensors(&self) -> Tensors {
        match *self {}
    }

    pub fn recipe(&self) -> serde_json::Value {
        match *self {}
    }

    pub fn forward(&self, _: &[u8], _: [usize; 4], _: &mut Rng) -> NetworkOutput {
        match *self {}
    }
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
) -> Result<(Net, serde_json::Value)> {
    bail!(ADVICE)
}

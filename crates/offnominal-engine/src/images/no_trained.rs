//! In place of trained networks in a build without them: says how to get them.

use crate::context::Context;
use crate::device::Device;
use anyhow::{Result, bail};
use offnominal_core::catalogue::BuildError;
use offnominal_core::prelude::*;
use offnominal_files::checkpoint::Checkpoint;
use offnominal_nets::Tensors;
use serde_json::Value;

/// What is missing.
pub const ADVICE: &str =
    "this build has no networks that look at images: build it with cargo build --release --features deep";

/// A detector that there is none of.
pub fn detector(_: &str, _: &Value) -> Result<Box<dyn ImageDetector>, BuildError> {
    Err(BuildError::Missing(ADVICE.into()))
}

/// The values of a network that there is none of.
pub fn preset(_: &str, _: &Value) -> Option<Value> {
    None
}

/// A fitted network that there is none of.
pub enum Fitted {}

#[allow(missing_docs, reason = "as in the build that has them")]
impl Fitted {
    pub fn fit(
        _: (&str, &Value),
        _: Device,
        _: [&[Video]; 2],
        _: &mut Rng,
        _: &mut Checkpoint,
        _: &Context,
    ) -> Result<Fitted> {
        bail!(ADVICE)
    }

    pub fn open(_: &Tensors, _: Device) -> Result<Fitted> {
        bail!(ADVICE)
    }

    pub fn to_tensors(&self) -> Tensors {
        match *self {}
    }

    pub fn side(&self) -> Result<usize> {
        match *self {}
    }

    pub fn n_learned(&self) -> usize {
        match *self {}
    }

    pub fn monitor(&mut self) -> &mut dyn ImageScorer {
        match *self {}
    }
}

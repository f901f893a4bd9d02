//! The worlds, one file or folder each, and their catalogue.

pub mod sap;

use offnominal_core::prelude::*;

/// Every built-in world, in the order in which reports list them.
pub const ENVS: &[Entry<dyn Env>] = &[sap::GOAL0, sap::GOAL1, sap::GOAL2];

/// The catalogue of the built-in worlds.
pub fn catalogue() -> Catalogue<dyn Env> {
    Catalogue::new("world", ENVS)
}

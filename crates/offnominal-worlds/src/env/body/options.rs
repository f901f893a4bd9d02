//! What can be chosen about a body when its environment is made.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The parameters of an environment of bodies; `{}` gives the nominal body.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct Options {
    /// Parameters that differ from nominal, by name: `{"thigh-length": 0.5}`.
    pub set: BTreeMap<String, f64>,
    /// What the numbers of lengths mean.
    pub reading: Reading,
    /// What becomes of the mass.
    pub mass: Mass,
    /// What the fall test compares with.
    pub fall: Fall,
}

/// What the numbers of lengths mean.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Reading {
    /// Lengths of limbs in m.
    #[default]
    True,
    /// The numbers of the publication's tables 4 to 7, which are heights at which limbs begin, half lengths, or
    /// components.
    PaperLiteral,
}

/// What becomes of the mass of a limb that grows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Mass {
    /// It follows the volume.
    #[default]
    ByVolume,
    /// It does, and then all are scaled so that the body weighs what the nominal one weighs.
    FixedTotal,
}

/// What the fall test compares with.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Fall {
    /// The body's own height at the start.
    #[default]
    Relative,
    /// The nominal body's.
    Absolute,
}

//! The tables of noise that travel with the binary.

use crate::shipped_worlds::shipped_worlds;

/// The levels that have tables, from little to much.
pub const LEVELS: &[&str] = &["datasheet", "rough"];

/// The sensors that every table knows.
pub(super) const SENSORS: &str = include_str!("../../../../noise/sensors.toml");

macro_rules! worlds {
    ($($env:literal),* $(,)?) => {
        &[
            $(("datasheet", $env, include_str!(concat!("../../../../noise/datasheet/", $env, ".toml"))),)*
            $(("rough", $env, include_str!(concat!("../../../../noise/rough/", $env, ".toml"))),)*
        ]
    };
}

/// Level, environment and text of each table.
pub(super) const WORLDS: &[(&str, &str, &str)] = shipped_worlds!(worlds:);

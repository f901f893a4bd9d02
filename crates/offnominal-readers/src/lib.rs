//! Every reader of outside bytes as one function, for fuzzers and for a mutation run that needs no fuzzer.
//!
//! A [`Target`] is a reader with the format of what it reads. It must accept or refuse any bytes: without panic, in
//! bounded memory and time. `fuzz/` makes a fuzz target of each; the program `mutate` of this crate changes the seeds in
//! `fuzz/corpus` as their formats allow ([`mutate`]), so that mutants get past the first check, and reports those that a
//! reader does not survive.
//!
//! No shipped program depends on this crate.

pub mod mutate;
pub mod read;
#[cfg(feature = "count")]
pub mod run;
pub mod seeds;
mod targets;

pub use targets::{Format, TARGETS, Target, target};

use std::path::{Path, PathBuf};

/// The folder of the seeds of all targets.
pub fn corpus() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus")
}

/// Gives bytes to the reader of that name: what a fuzz target does.
///
/// # Panics
/// If there is no such reader, or it does not survive the bytes.
pub fn read(name: &str, bytes: &[u8]) {
    let target = target(name).expect("the target exists");
    (target.read)(bytes);
}

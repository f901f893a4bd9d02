//! MuJoCo loaded at run time, a safe wrapper around it, and a CPU rasteriser.
//!
//! With `offnominal-monitor-c` this is the only crate with `unsafe` code. The library is loaded once per process, at the
//! first use or by [`library::load`]; where it comes from is told in [`locate`].

#![allow(unsafe_code, reason = "the border to a C library")]
#![warn(clippy::undocumented_unsafe_blocks)]

#[allow(warnings, clippy::all, clippy::undocumented_unsafe_blocks, reason = "generated")]
mod bindings;
mod engine_log;
mod error;
mod fetch;
pub mod library;
pub mod locate;
mod model;
pub mod python;
pub mod raster;
mod simulation;
mod viewer;

pub use error::{FetchError, MujocoError};
pub use library::VERSION;
pub use model::{Model, ObjectType};
pub use simulation::{Diverged, Simulation};
pub use viewer::{Look, Viewer};

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

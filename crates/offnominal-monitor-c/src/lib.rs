//! The C ABI of a monitor: what a process in C, C++ or any other language embeds.
//!
//! `include/offnominal_monitor.h` is made from the documentation of `exports`; it says what each function means, and
//! which threads may call it. `include/offnominal_monitor.hpp` wraps it for C++17.
//!
//! Pointers become references in `pointer` and nowhere else. Each call goes through `guard`, which turns a panic into
//! a status, so that nothing unwinds into the caller.

#![allow(unsafe_code, reason = "the border to C")]
#![warn(clippy::undocumented_unsafe_blocks)]

pub mod exports;
mod fault;
mod guard;
mod handle;
mod pointer;
mod queue;
mod stream;
mod types;

pub use exports::*;
pub use fault::Status;
pub use handle::Handle;
pub use stream::Stream;
pub use types::{
    ABI, Candidate, Deviation, Diagnosis, Direction, Event, Family, SensorEvent, State, Tick, Verdict,
};

#[cfg(not(panic = "unwind"))]
compile_error!("a panic must become a status; compile with `panic = \"unwind\"`");

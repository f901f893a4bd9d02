//! The functions of the library; their documentation is that of the header.
//!
//! They are `unsafe` to call from Rust: the caller keeps the promises at the head of `include/offnominal_monitor.h`.

#![allow(clippy::missing_safety_doc, reason = "it is the same for all, and stands in the header")]

mod about;
mod batch;
mod explain;
mod life;
mod stream;
mod watch;

pub use about::*;
pub use batch::*;
pub use explain::*;
pub use life::*;
pub use stream::*;
pub use watch::*;

//! Pictures of worlds: episodes played again before a camera, and the detectors that look at them.
//!
//! No file holds more than the recipe of an episode: a film is made when it is needed, and is the same bits each time.

pub mod cache;
pub mod calibrate;
pub mod catalogue;
pub mod encoder;
pub mod filming;
pub mod networks;
pub mod panels;
pub mod similarity;
#[cfg_attr(not(feature = "deep"), path = "images/no_trained.rs")]
pub mod trained;
pub mod weights;

pub use catalogue::detectors;
pub use filming::{Studio, film};

//! Image detectors by name: those on fixed features, and networks that are fitted.

pub mod catalogue;
pub mod efficientnet;
pub mod networks;
mod public;
#[cfg_attr(not(feature = "deep"), path = "images/no_trained.rs")]
pub mod trained;
pub mod weights;

//! Where in an image the unknown thing is: data sets, networks, scores, and the page that judges them.
//!
//! A network is whatever gives logits for an image ([`network`]): arrays in files that anybody's model wrote, or the
//! baseline that comes with the program. Scores are made by `offnominal_detectors::pixel`, judged by
//! `offnominal_stats::pixel`, and images of scenes are drawn by `offnominal_scenes`.
//!
//! [`scenes`], [`frames`], [`describe`], [`train`], [`import`], [`predict`], [`features`], [`score`] and [`evaluate`] each have a typed
//! `Request` and a `run` whose result serialises to the documented JSON.

pub mod choice;
pub mod data_set;
#[cfg_attr(not(feature = "deep"), path = "no_deep.rs")]
pub mod deep;
pub mod describe;
pub mod evaluate;
pub mod failures;
pub mod features;
pub mod fit;
mod frame_network;
pub mod frames;
pub mod gallery;
mod heat;
pub mod import;
pub mod inputs;
mod kept;
pub mod label_map;
pub mod layout;
mod level;
pub mod maps;
pub mod net;
pub mod net_file;
pub mod network;
pub mod obstacle;
pub mod onnx;
pub mod output;
pub mod panels;
pub mod paste;
pub mod pixel_score;
pub mod polygons;
pub mod predict;
pub mod report;
pub mod resize;
pub mod results;
pub mod scenes;
pub mod score;
pub mod scorer;
pub mod train;
mod written;

pub use written::Written;

use offnominal_core::prelude::{Entry, ImageDetector};

/// What this crate adds to the image detectors.
pub const IMAGE_DETECTORS: [Entry<dyn ImageDetector>; 2] = [pixel_score::ENTRY, obstacle::ENTRY];

#[cfg(test)]
mod library_tests;

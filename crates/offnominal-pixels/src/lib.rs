//! Where in an image the unknown thing is: data sets, networks, scores, and the page that judges them.
//!
//! A network is whatever gives logits for an image ([`network`]): arrays in files that anybody's model wrote, or the
//! baseline that comes with the program. Scores are made by `offnominal_detectors::pixel`, judged by
//! `offnominal_stats::pixel`, and pictures of scenes are drawn by `offnominal_scenes`.

pub mod choice;
#[cfg_attr(not(feature = "deep"), path = "no_deep.rs")]
pub mod deep;
pub mod describe;
pub mod evaluate;
pub mod failures;
pub mod fit;
pub mod frames;
pub mod label_map;
pub mod layout;
mod level;
pub mod network;
pub mod panels;
pub mod polygons;
pub mod report;
pub mod scenes;
pub mod train;
pub mod watch;

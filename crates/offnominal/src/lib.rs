//! What runs it all: campaign, store, report, and the `offnominal` binary.
//!
//! Data flows one way: worlds and policies make episodes, detectors score them, stats judges the scores, and this
//! crate stores, schedules and reports. It is the only crate that touches files, threads and terminals.

pub mod bench;
pub mod calibrate;
pub mod campaign;
pub mod cast;
pub mod catalogues;
pub mod cli;
pub mod collect;
pub mod common;
pub mod dataset;
pub mod evaluation;
pub mod foreign;
pub mod images;
pub mod metrics_file;
pub mod minari;
pub mod monitor_file;
pub mod ood_rl;
pub mod parallel;
pub mod picture;
pub mod pixels;
pub mod policies;
pub mod progress;
pub mod report;
pub mod results;
pub mod risk;
pub mod shift;
pub mod shifted;
pub mod store;
pub mod stream;
pub mod strengths;
pub mod suite;
pub mod tables;
pub mod tensorboard;
pub mod train;
pub mod write;

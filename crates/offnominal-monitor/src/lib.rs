//! What watches: a fitted detector with its threshold as one file, and the monitor that a robot's process embeds.
//!
//! `offnominal fit` writes the file; this crate reads it and scores one step after another. It knows detectors and
//! thresholds only: no simulator, no learner, no command line. After the first steps it does not allocate.
//!
//! The crate's README has a whole control loop; it is compiled as a test.
//!
//! The file is safetensors. Its header says what was fitted, on what, by which version, and when it raises an alarm;
//! a digest of everything makes a damaged or edited file an error.

mod about;
mod calibrated;
mod diagnosis;
mod error;
mod evidence;
mod feed;
mod file;
mod groups;
mod known;
mod limits;
mod line;
mod monitor;
mod shares;

pub use about::{About, ChannelName, DetectorRecipe, Identity, SAME_STEP, channel_names};
pub use calibrated::{Calibrated, Drift, PromisedRunLength};
pub use diagnosis::{Candidate, Diagnosis};
pub use error::{ConfirmError, FileError, MonitorError, StepError, UnknownGroup};
pub use evidence::Evidence;
pub use feed::score_episode;
pub use file::{FORMAT, decode, encode, is_monitor, seal, unseal};
pub use groups::{Group, Groups, PooledGroup};
pub use known::{digest, remember};
pub use line::VerdictLine;
pub use monitor::{Monitor, SensorEvent, Verdict};
pub use offnominal_stats::{Recalibrated, Recalibration};
pub use shares::Share;

/// What the README shows is code that compiles.
#[doc = include_str!("../README.md")]
#[cfg(doctest)]
struct Readme;

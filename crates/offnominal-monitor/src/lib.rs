//! What watches: a fitted detector with its threshold as one file, and the monitor that a robot's process embeds.
//!
//! `offnominal fit` writes the file; this crate reads it and scores one step after another. It knows detectors and
//! thresholds only: no simulator, no learner, no command line. After the first steps it does not allocate.
//!
//! ```no_run
//! use offnominal_core::alarm::Event;
//! use offnominal_monitor::Monitor;
//!
//! # fn read_sensors() -> [f32; 4] { [0.0; 4] }
//! # fn policy(_: &[f32]) -> [f32; 1] { [0.0] }
//! # fn stop() {}
//! let mut monitor = Monitor::open("cartpole.monitor")?;
//! loop {
//!     let obs = read_sensors();
//!     let action = policy(&obs);
//!     // The first call of an episode completes no transition, so there is nothing to judge yet.
//!     if let Some(verdict) = monitor.step(&obs, &action)? {
//!         if verdict.event == Some(Event::Raised) {
//!             eprintln!("step {}: score {:.2} above {:.2}", verdict.step, verdict.statistic, verdict.threshold);
//!             stop();
//!         }
//!     }
//! }
//! # #[allow(unreachable_code)] Ok::<(), offnominal_monitor::MonitorError>(())
//! ```

mod about;
mod diagnosis;
mod error;
mod file;
mod monitor;

pub use about::{About, Calibrated, ChannelName, Identity, Recipe, channel_names};
pub use diagnosis::Diagnosis;
pub use error::{FileError, MonitorError, StepError};
pub use file::{FORMAT, decode, encode};
pub use monitor::{Monitor, Verdict};

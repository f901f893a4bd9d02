//! What judges: metrics, thresholds, intervals, root finding.
//!
//! Scores come in as plain slices; every number that leaves is an [`Estimate`](offnominal_core::estimate::Estimate)
//! with its interval. Where there is nothing to estimate from, the answer is a [`StatsError`] that says what is
//! missing, never a zero.
//!
//! Everything runs on the calling thread and draws its randomness from a [`Seed`](offnominal_core::Seed), so results
//! do not depend on how many threads judge how many campaigns.

pub mod alarm;
pub mod bootstrap;
pub mod calibrate;
pub mod contrast;
pub mod correlation;
pub mod cutoff;
pub mod delay;
pub mod detection;
pub mod drift;
pub mod early;
pub mod episode;
pub mod error;
pub mod groups;
pub mod isotonic;
pub mod landmark;
pub mod level;
pub mod mean;
pub mod metric;
pub mod nominal;
pub mod outlook;
pub mod paired;
pub mod pixel;
pub mod promise;
pub mod proportion;
pub mod ranking;
pub mod rate;
pub mod recalibration;
pub mod regression;
pub mod risk;
pub mod rule;
pub mod run_length;
pub mod same_step;
pub mod stl;
pub mod threshold;

pub use alarm::coverage::{Splits, coverage};
pub use bootstrap::Bootstrap;
pub use delay::{Delays, delays};
pub use detection::{Detection, Mode, detection};
pub use episode::ScoredEpisode;
pub use error::StatsError;
pub use groups::GroupThresholds;
pub use level::Level;
pub use metric::{METRICS, Metric};
pub use promise::Promise;
pub use ranking::{Tally, tally};
pub use rate::Rate;
pub use recalibration::{Recalibrated, Recalibration};
pub use rule::{AlarmRule, RULES, RUN_LENGTH};
pub use run_length::RunLength;
pub use threshold::{Rule, Threshold, Watch};

/// What the README shows is code that runs.
#[doc = include_str!("../README.md")]
#[cfg(doctest)]
struct Readme;

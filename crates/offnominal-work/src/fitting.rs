//! What is fitted, and how its threshold is set: the arguments that are the same for logs and for episodes.

use crate::cli;
use crate::detector_choice::DetectorChoice;
use crate::rule_choice::Threshold;
use anyhow::{Result, ensure};
use clap::Args;
use clap::value_parser as number;
use offnominal_core::alarm::Settings;
use offnominal_core::limits;
use offnominal_stats::Rule;
use std::num::NonZeroU32;
use std::str::FromStr;

/// A detector, the episodes or recordings that it gets, its threshold, and how exceedances become alarms.
#[derive(Debug, Clone, PartialEq, Args)]
pub struct Fitting {
    /// Detector id, or table such as `{ id = "knn", k = 3 }`; default: panel
    #[arg(long, default_value = "default", value_parser = DetectorChoice::from_str)]
    pub detector: DetectorChoice,
    /// Training episodes [default: 100; of files, all not used for calibration]
    #[arg(long, value_name = "N", value_parser = number!(u32).range(1..=limits::EPISODES as i64))]
    pub train: Option<u32>,
    /// Held-out episodes that set the threshold [default: 100; of files, the last half]
    #[arg(long, value_name = "N", value_parser = number!(u32).range(1..=limits::EPISODES as i64))]
    pub calibration: Option<u32>,
    /// How the threshold is set, and what it promises.
    #[command(flatten)]
    pub threshold: Threshold,
    /// First steps of an episode, without alarm
    #[arg(long, default_value_t = 0, value_name = "STEPS")]
    pub arm_after: u32,
    /// Consecutive exceedances that raise the alarm
    #[arg(long, default_value = "1", value_name = "STEPS")]
    pub raise_after: NonZeroU32,
    /// Consecutive quiet steps that clear the alarm [default: never within an episode]
    #[arg(long, value_name = "STEPS")]
    pub clear_after: Option<NonZeroU32>,
    /// Store what a diagnosis needs; costs as much as `ensemble-dm`
    #[arg(long, default_value_t = true, action = clap::ArgAction::Set, value_name = "true|false")]
    pub diagnosis: bool,
    /// Missing readings in a row that make a sensor lost [default: 95th percentile of gaps, at least 10]
    #[arg(long, value_name = "STEPS")]
    pub lost_after: Option<u32>,
}

impl Default for Fitting {
    fn default() -> Fitting {
        cli::defaults()
    }
}

impl Fitting {
    /// How the threshold is set, for steps of so many seconds, if they are known.
    ///
    /// # Errors
    /// As [`Threshold::rule`], or if a rate is asked of alarms that clear themselves.
    pub fn rule(&self, dt_secs: Option<f64>) -> Result<Rule> {
        ensure!(
            self.threshold.false_alarms.is_none() || self.clear_after.is_none(),
            "false_alarms: expected no clear_after, as a rate counts alarms that stay until somebody acknowledges them or the \
             episode ends; one that clears itself can be raised again at once"
        );
        self.threshold.rule(dt_secs)
    }

    /// How exceedances become alarms.
    pub fn alarm(&self) -> Settings {
        let Fitting { arm_after, raise_after, clear_after, .. } = *self;
        Settings { arm_after, raise_after, clear_after }
    }
}

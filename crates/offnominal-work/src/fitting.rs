//! What is fitted, and how its threshold is set: the arguments that are the same for logs and for episodes.

use crate::cli;
use crate::detector_choice::DetectorChoice;
use crate::rule_choice::Threshold;
use clap::Args;
use clap::value_parser as number;
use offnominal_core::alarm::Settings;
use offnominal_core::limits;
use std::num::NonZeroU32;
use std::str::FromStr;

/// A detector, the episodes or recordings that it gets, its threshold, and how exceedances become alarms.
#[derive(Debug, Clone, PartialEq, Args)]
pub struct Fitting {
    /// Detector id (see `list detectors`; `default` is `residual-views`), or a table such as `{ id = "knn", k = 3 }`
    #[arg(long, default_value = "default", value_parser = DetectorChoice::from_str)]
    pub detector: DetectorChoice,
    /// Episodes that the detector learns from [default: 100; of files, those that are not for calibration]
    #[arg(long, value_name = "N", value_parser = number!(u32).range(1..=limits::EPISODES as i64))]
    pub train: Option<u32>,
    /// Episodes that set the threshold, which the detector does not see [default: 100; of files, the last half]
    #[arg(long, value_name = "N", value_parser = number!(u32).range(1..=limits::EPISODES as i64))]
    pub calibration: Option<u32>,
    /// How the threshold is set, and what it promises.
    #[command(flatten)]
    pub threshold: Threshold,
    /// Steps at the beginning of an episode in which no alarm is raised
    #[arg(long, default_value_t = 0, value_name = "STEPS")]
    pub arm_after: u32,
    /// Exceedances in a row that raise the alarm
    #[arg(long, default_value = "1", value_name = "STEPS")]
    pub raise_after: NonZeroU32,
    /// Quiet steps in a row that clear the alarm; without it the alarm stays until the next episode
    #[arg(long, value_name = "STEPS")]
    pub clear_after: Option<NonZeroU32>,
    /// Whether the file is to hold what a diagnosis needs; it takes as long to fit as `ensemble-dm`
    #[arg(long, default_value_t = true, action = clap::ArgAction::Set, value_name = "true|false")]
    pub diagnosis: bool,
    /// Steps in a row that a number may be missing before its sensor counts as lost [default: the 95th percentile of the longest
    /// gap per calibration episode, at least 10]
    #[arg(long, value_name = "STEPS")]
    pub lost_after: Option<u32>,
}

impl Default for Fitting {
    fn default() -> Fitting {
        cli::defaults()
    }
}

impl Fitting {
    /// How exceedances become alarms.
    pub fn alarm(&self) -> Settings {
        let Fitting { arm_after, raise_after, clear_after, .. } = *self;
        Settings { arm_after, raise_after, clear_after }
    }
}

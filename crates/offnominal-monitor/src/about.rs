//! The header of a monitor's file: what was fitted, on what, and when it raises an alarm.

use crate::groups::Groups;
use offnominal_core::alarm::Settings;
use offnominal_core::estimate::Estimate;
use offnominal_core::partial::Missing;
use offnominal_core::spec::Channel;
use offnominal_stats::alarm::statistic::Statistic;
use offnominal_stats::{Rule, RunLength, Threshold};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::fmt::{self, Display, Formatter};

/// Everything about a monitor but the numbers that its detector learned.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct About {
    /// Version of the file format.
    pub format: u32,
    /// Version of the engine that fitted it. Another one may score differently, which would void the threshold.
    pub engine: String,
    /// The detector.
    pub detector: DetectorRecipe,
    /// The environment that was watched.
    pub environment: Identity,
    /// The policy that acted.
    pub policy: Identity,
    /// One name for each number of an observation.
    pub observation: Vec<ChannelName>,
    /// One name for each number of a command.
    pub action: Vec<ChannelName>,
    /// Seconds per step.
    pub dt_secs: f64,
    /// Episodes that the detector learned from.
    pub train_episodes: usize,
    /// Seed of the fit.
    pub seed: u64,
    /// Whether the file holds what a diagnosis needs.
    pub diagnoses: bool,
    /// When a step exceeds, in an episode of which nobody says the group.
    pub threshold: Calibrated,
    /// The same for the episodes of groups, if it was fitted with some.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub groups: Option<Groups>,
    /// How exceedances become alarms.
    pub alarm: Settings,
    /// What becomes of numbers that are not read.
    pub missing: Missing,
    /// Steps in a row that a number of an observation may be missing before its sensor counts as lost.
    pub lost_after: u32,
    /// The 1 % and the 99 % quantile of each number of an observation in training; empty if they were not kept.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub usual: Vec<[f32; 2]>,
    /// Which column of a log is which channel, as TOML, if it was fitted on logs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mapping: Option<String>,
}

/// A detector of the catalogue with its parameters.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DetectorRecipe {
    /// Name in the catalogue.
    pub id: String,
    /// Parameters; an empty object gives the defaults.
    pub params: Value,
}

/// A name, and a digest of what had that name when the monitor was fitted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Identity {
    /// The name.
    pub id: String,
    /// SHA-256 in hexadecimal digits: of a policy's file, or of an environment's specification.
    pub digest: String,
}

/// What a number of an observation or a command is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ChannelName {
    /// Name of the channel.
    pub name: String,
    /// Its unit.
    pub unit: String,
}

/// A threshold, and where it comes from. What its statistic has learned is among the numbers of the file.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Calibrated {
    /// The rule that set it.
    pub rule: String,
    /// Accepted share of nominal episodes with an alarm, if the rule promises one.
    pub alpha: Option<f64>,
    /// With which confidence over calibration sets it is promised; on average over them if there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub confidence: Option<f64>,
    /// How far apart false alarms are, if the rule promises that of a stream without episodes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run_length: Option<PromisedRunLength>,
    /// What is compared with the value: `score`, `band`, `cusum`, `martingale` or `blocks`.
    pub statistic: String,
    /// A step exceeds if the statistic is above this.
    pub value: f64,
    /// Nominal episodes that set it; the detector had not seen them.
    pub episodes: usize,
    /// The share of nominal episodes with an alarm, as far as the rule promises anything.
    pub false_alarms: Option<Estimate>,
    /// What has become of it since the fit, if nominal episodes were confirmed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub drift: Option<Drift>,
}

/// How a threshold has followed drift.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Drift {
    /// Nominal episodes that were confirmed since the fit.
    pub confirmed: u64,
    /// The threshold of the fit.
    pub fitted: f64,
    /// The median of the largest values of the statistic in the episodes of the fit.
    pub median: f64,
    /// Whether the threshold would be higher but for the tolerance.
    pub is_limited: bool,
}

/// A mean number of steps to a false alarm.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PromisedRunLength {
    /// Steps.
    pub steps: f64,
    /// With which confidence over calibration sets it is promised; on average over them if there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub confidence: Option<f64>,
    /// Steps of a block, over which scores depend on one another.
    pub block: usize,
    /// Nominal blocks with which blocks are compared.
    pub n_blocks: usize,
}

impl PromisedRunLength {
    fn of(rule: Rule, threshold: &Threshold) -> Option<PromisedRunLength> {
        let (Rule::RunLength(RunLength { steps, confidence, .. }), Statistic::Blocks(blocks)) =
            (rule, &threshold.statistic)
        else {
            return None;
        };
        Some(PromisedRunLength { steps, confidence, block: blocks.steps(), n_blocks: blocks.n_blocks() })
    }
}

impl Display for PromisedRunLength {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        let PromisedRunLength { steps, confidence, block, n_blocks } = self;
        write!(out, "promised: false alarms at least {steps:.0} steps apart on average, ")?;
        match confidence {
            None => write!(out, "and over calibration sets")?,
            Some(confidence) => write!(out, "in {confidence} of calibration sets")?,
        }
        write!(out, "; {n_blocks} nominal blocks of {block} steps")
    }
}

impl Calibrated {
    /// A threshold that a rule set on so many episodes.
    pub fn new(rule: Rule, threshold: &Threshold, episodes: usize) -> Calibrated {
        let promise = rule.promise();
        Calibrated {
            rule: rule.id().into(),
            alpha: promise.map(|promise| promise.alpha),
            confidence: promise.and_then(|promise| promise.confidence),
            run_length: PromisedRunLength::of(rule, threshold),
            statistic: threshold.statistic.id().into(),
            value: threshold.value,
            episodes,
            false_alarms: threshold.false_alarms.clone(),
            drift: None,
        }
    }
}

impl About {
    /// Numbers per observation.
    pub fn obs_width(&self) -> usize {
        self.observation.len()
    }

    /// Numbers per command.
    pub fn act_width(&self) -> usize {
        self.action.len()
    }
}

/// A name for each number of the channels; the numbers of a channel of many are counted from 0.
pub fn channel_names(channels: &[Channel]) -> Vec<ChannelName> {
    let numbers = |c: &Channel| {
        let (name, unit, width) = (c.name.clone(), c.unit.clone(), c.width());
        (0..width).map(move |i| ChannelName {
            name: if width == 1 { name.clone() } else { format!("{name}[{i}]") },
            unit: unit.clone(),
        })
    };
    channels.iter().flat_map(numbers).collect()
}

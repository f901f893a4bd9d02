//! The header of a monitor's file: what was fitted, on what, and when it raises an alarm.

use crate::calibrated::Calibrated;
use crate::groups::Groups;
use offnominal_core::alarm::Settings;
use offnominal_core::partial::Missing;
use offnominal_core::spec::Channel;
use offnominal_detectors::diagnosis::Hypothesis;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Everything about a monitor but the numbers that its detector learned.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct About {
    /// Version of the file format.
    pub format: u32,
    /// Version of the engine that fitted it, to tell where a monitor is from; `format` decides who opens it.
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
    /// The faults that a diagnosis can name.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub hypotheses: Vec<Hypothesis>,
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
    /// The 1 % and the 99 % quantile of each number of an observation in training, less its reference; empty if they were not
    /// kept.
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
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ChannelName {
    /// Name of the channel.
    pub name: String,
    /// Its unit.
    pub unit: String,
    /// What is subtracted from its numbers before they become those of single precision: see
    /// [`offnominal_core::reference`]. What the monitor learned is relative to it.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub reference: f64,
}

fn is_zero(x: &f64) -> bool {
    *x == 0.0
}

/// Two steps are of the same length if they differ by less than this share.
pub const SAME_STEP: f64 = 0.1;

/// The mean of fewer steps says little of their length.
const FEWEST: u64 = 10;

impl About {
    /// Whether steps of so many seconds are not of the length of those that set the threshold: then nothing is promised.
    pub fn is_other_step(&self, secs: f64) -> bool {
        (secs / self.dt_secs - 1.0).abs() > SAME_STEP
    }

    /// The same of the first steps of an episode, which took so many seconds.
    pub fn is_other_pace(&self, secs: f64, steps: u64) -> bool {
        steps >= FEWEST && secs > 0.0 && self.is_other_step(secs / steps as f64)
    }

    /// Numbers per observation.
    pub fn obs_width(&self) -> usize {
        self.observation.len()
    }

    /// Numbers per command.
    pub fn act_width(&self) -> usize {
        self.action.len()
    }

    /// Names and references of the channels: of observations, and of commands.
    pub fn references(&self) -> [Vec<(&str, f64)>; 2] {
        [&self.observation, &self.action]
            .map(|all| all.iter().map(|channel| (channel.name.as_str(), channel.reference)).collect())
    }

    /// What is usual for a number of an observation, in its own unit: the 1 % and the 99 % quantile in training, if they were kept.
    pub fn usual_of(&self, channel: usize) -> Option<[f64; 2]> {
        let reference = self.observation.get(channel)?.reference;
        self.usual.get(channel).map(|edges| edges.map(|x| f64::from(x) + reference))
    }
}

/// A name for each number of the channels; the numbers of a channel of many are counted from 0.
pub fn channel_names(channels: &[Channel]) -> Vec<ChannelName> {
    let numbers = |c: &Channel| {
        let (name, unit, width) = (c.name.clone(), c.unit.clone(), c.width());
        (0..width).map(move |i| ChannelName {
            name: if width == 1 { name.clone() } else { format!("{name}[{i}]") },
            unit: unit.clone(),
            reference: 0.0,
        })
    };
    channels.iter().flat_map(numbers).collect()
}

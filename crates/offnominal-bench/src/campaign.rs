//! A campaign: the TOML file that says what to benchmark.
//!
//! ```toml
//! name = "demo"
//! seed = 1
//! envs = ["sap-goal1", "mjc-half-cheetah"]
//! detectors = ["clock", "random", { id = "knn", name = "knn-5", k = 5 }]
//! anomalies = ["obs-*", "dyn-*", { id = "act-delay", magnitude = 3 }]
//!
//! [episodes]
//! train = 100
//! validation = 20
//! test = 50
//! ```
//!
//! Seed and numbers of episodes have no default: they are what a result depends on most, so the user says them.

mod choice;
mod detector;
mod names;
mod numbers;
mod plan;
#[cfg(feature = "schema")]
mod schema;

pub use choice::{Anomalies, AnomalyChoice, MagnitudeChoice};
pub use detector::CampaignDetector;
pub(crate) use names::without_control;
pub use plan::{Excluded, Plan, Setting, Stage};

use anyhow::{Context, Result};
use offnominal_core::prelude::*;
use offnominal_engine::anomaly_request::OnsetChoice;
use offnominal_engine::frames::FrameSize;
use offnominal_engine::strengths::LEVELS;
use serde::Deserialize;
use std::path::{Path, PathBuf};

/// What to benchmark.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Campaign {
    /// Name in results and on the report.
    pub name: String,
    /// Seed of the first repetition.
    pub seed: u64,
    /// Environment ids.
    pub envs: Vec<String>,
    /// Policies, by the names that `evaluate` takes.
    #[serde(default = "policies")]
    pub policies: Vec<String>,
    /// Detectors, each by id or with parameters, and perhaps with another policy on which it is fitted.
    pub detectors: Vec<CampaignDetector>,
    /// Anomalies: `"all"`, or a list of ids, patterns such as `dyn-*`, and tables of an id with what is to be said of it.
    #[serde(default)]
    pub anomalies: Anomalies,
    /// Calibrated strengths at which anomalies without a magnitude of their own are tried.
    #[serde(default = "strengths")]
    #[cfg_attr(feature = "schema", schemars(schema_with = "schema::strengths"))]
    pub strengths: Vec<String>,
    /// The table that `calibrate` wrote, or its folder; this program's own, then `runs/calibrate`, if it is not given.
    #[serde(default)]
    pub strengths_file: Option<PathBuf>,
    /// The policy whose calibrated magnitudes all policies meet; each its own, if it is not given.
    #[serde(default)]
    pub strengths_of: Option<String>,
    /// Number of repetitions; the k-th has the seed `seed + k`.
    #[serde(default = "seeds")]
    pub seeds: u64,
    /// Numbers of episodes.
    pub episodes: Episodes,
    /// First anomalous step: `"random"`, or a number.
    #[serde(default)]
    pub onset: OnsetChoice,
    /// How long anomalies last: `"to-end"`, `{ window = STEPS }`, or `{ on = STEPS, off = STEPS }`.
    #[serde(default)]
    pub extent: ExtentChoice,
    /// Accepted share of nominal episodes with a false alarm, for the conformal threshold.
    #[serde(default = "false_alarms")]
    pub false_alarms: f64,
    /// Bootstrap replicates behind each interval.
    #[serde(default = "replicates")]
    pub replicates: usize,
    /// Number of test episodes per anomaly whose scores over time are kept.
    #[serde(default = "traces")]
    pub traces: usize,
    /// Name of the detector whose alarms are diagnosed; none, if it is not given.
    #[serde(default)]
    pub diagnosis: Option<String>,
    /// Width and height in pixels of the camera's images; if it is given, the detectors are those of images.
    #[serde(default)]
    pub images: Option<usize>,
    /// Nominal episodes of one kind that may be without an outcome.
    #[serde(default)]
    pub allow_diverged: u64,
    /// Whether a video of one anomalous episode per environment is made.
    #[serde(default = "video")]
    pub video: bool,
}

/// Numbers of episodes of each kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Episodes {
    /// Nominal, to fit the detectors.
    pub train: usize,
    /// Nominal, to set the alarm thresholds.
    pub validation: usize,
    /// Anomalous per anomaly and strength, each with its nominal twin.
    pub test: usize,
}

/// How long anomalies last, as it is written in the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(try_from = "toml::Value")]
pub struct ExtentChoice(pub Extent);

fn policies() -> Vec<String> {
    vec!["tqc".into()]
}

fn strengths() -> Vec<String> {
    LEVELS.iter().map(|(name, _)| name.to_string()).collect()
}

fn seeds() -> u64 {
    1
}

fn false_alarms() -> f64 {
    0.05
}

fn replicates() -> usize {
    200
}

fn traces() -> usize {
    1
}

fn video() -> bool {
    true
}

impl Campaign {
    /// Reads a campaign and checks everything in it that needs no environment.
    ///
    /// # Errors
    /// Names the file, the line, what was expected and what was found.
    pub fn load(path: &Path) -> Result<(Campaign, String)> {
        let text = offnominal_files::read::text(path)?;
        let campaign = Campaign::parse(&text).with_context(|| format!("campaign {}", path.display()))?;
        Ok((campaign, text))
    }

    /// Reads a campaign from its text.
    ///
    /// # Errors
    /// As [`Campaign::load`], without the file.
    pub fn parse(text: &str) -> Result<Campaign> {
        let campaign: Campaign = toml::from_str(text)?;
        numbers::check(&campaign, text)?;
        names::check(&campaign, text)?;
        Ok(campaign)
    }

    /// The camera of a campaign of images.
    pub fn frame_size(&self) -> Option<FrameSize> {
        self.images.map(|side| FrameSize { side })
    }

    /// The word in the column `modality` of results.
    pub fn modality(&self) -> &'static str {
        if self.images.is_some() { "image" } else { "vector" }
    }

    /// When anomalies begin and how long they last.
    pub fn schedule(&self) -> Schedule {
        Schedule { onset: self.onset.0, extent: self.extent.0 }
    }
}

#[cfg(test)]
pub(crate) mod tests;

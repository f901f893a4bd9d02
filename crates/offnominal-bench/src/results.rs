//! What a benchmark produces: rows, score traces, delay curves, videos and realised
//! false alarms, with the recipe that recreates them.
//!
//! This is the border between running and reporting: the benchmark fills it, the writers (CSV, Parquet) and the
//! report read it.

mod number;

use offnominal_files::provenance::Provenance;
use offnominal_files::store::address;
use serde::{Deserialize, Serialize};

/// Everything that a report shows.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Results {
    /// What was run, and how to run it again.
    pub recipe: CampaignRecipe,
    /// One row per number.
    pub rows: Vec<Row>,
    /// Scores over time of chosen episodes.
    pub traces: Vec<Trace>,
    /// Share of anomalies detected within j steps.
    pub curves: Vec<DelayCurve>,
    /// What was said at alarms, against what was done.
    #[serde(default)]
    pub diagnoses: Vec<Diagnosed>,
    /// Rendered episodes.
    pub videos: Vec<Video>,
    /// Realised false alarms.
    #[serde(default)]
    pub coverage: Vec<Coverage>,
    /// What image detectors saw.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub panels: Vec<Panel>,
}

/// What a detector of images saw in the step that it found most anomalous.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Panel {
    /// Environment id.
    pub env: String,
    /// Anomaly id.
    pub anomaly: String,
    /// Strength level.
    pub strength: String,
    /// Detector id.
    pub detector: String,
    /// Index of the test episode.
    pub episode: u64,
    /// The step.
    pub step: u32,
    /// First anomalous step.
    pub onset: u32,
    /// The score of the step.
    #[serde(with = "number")]
    pub score: f64,
    /// What the camera saw, as PNG in base 64.
    pub seen: String,
    /// What was expected, as PNG in base 64, where the detector knows.
    pub expected: Option<String>,
    /// Where the score comes from, as PNG in base 64, where the detector knows.
    pub heat: Option<String>,
}

/// What was run, and how to run it again.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct CampaignRecipe {
    /// Name of the campaign.
    pub campaign: String,
    /// What made the results.
    pub made: Provenance,
    /// The campaign file, in full.
    pub config: String,
    /// One line per policy: environment, id, return with interval, training command.
    pub policies: Vec<String>,
    /// Wall time in seconds; not part of any comparison.
    #[serde(with = "number")]
    pub wall_secs: f64,
}

impl CampaignRecipe {
    /// Notes the command and the settings.
    pub fn made_by(&mut self, command: &str, config: &str) {
        self.made.command = command.into();
        self.made.config = address(config.as_bytes());
        self.config = config.into();
    }
}

/// One number of the results: the row of `results.csv` and `results.parquet`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Row {
    /// Name of the campaign.
    pub campaign: String,
    /// Environment id.
    pub env: String,
    /// `vector` or `image`.
    pub modality: String,
    /// Policy id.
    pub policy: String,
    /// `observation`, `action`, `dynamics`, or `none` for nominal episodes.
    pub anomaly_class: String,
    /// Anomaly id.
    pub anomaly: String,
    /// `tiny`, `medium`, `strong`, `extreme`, or `custom`.
    pub strength: String,
    /// The calibrated magnitude.
    #[serde(with = "number")]
    pub magnitude: f64,
    /// Detector id.
    pub detector: String,
    /// Seed of the repetition.
    pub seed: u64,
    /// Number of episodes behind the value.
    pub episodes: u64,
    /// Metric name, such as `auroc_matched`.
    pub metric: String,
    /// Alarm threshold (`3sigma`, `q95`, `max`, `conformal`, `band`, `cusum`, `martingale`) for metrics that need one,
    /// else empty.
    pub threshold: String,
    /// The value; not a number where there is no data.
    #[serde(with = "number")]
    pub value: f64,
    /// Lower end of the 95 % interval.
    #[serde(with = "number")]
    pub low: f64,
    /// Upper end of the 95 % interval.
    #[serde(with = "number")]
    pub high: f64,
}

/// Scores over time of one episode and its nominal twin.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Trace {
    /// Environment id.
    pub env: String,
    /// Anomaly id.
    pub anomaly: String,
    /// Strength level.
    pub strength: String,
    /// Detector id.
    pub detector: String,
    /// Index of the test episode.
    pub episode: u64,
    /// Seconds per step.
    #[serde(with = "number")]
    pub dt_secs: f64,
    /// First anomalous step.
    pub onset: u32,
    /// Scores of the anomalous episode.
    #[serde(with = "number::list")]
    pub scores: Vec<f64>,
    /// Scores of its nominal twin.
    #[serde(with = "number::list")]
    pub twin: Vec<f64>,
    /// Alarm thresholds by name.
    #[serde(with = "number::named")]
    pub thresholds: Vec<(String, f64)>,
}

/// Share of anomalies detected within j steps after onset, at one threshold.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct DelayCurve {
    /// Environment id.
    pub env: String,
    /// Anomaly id, or `all` for the pooled curve.
    pub anomaly: String,
    /// Strength level.
    pub strength: String,
    /// Detector id.
    pub detector: String,
    /// Threshold name.
    pub threshold: String,
    /// Share of nominal twins in which the alarm is raised at least once.
    #[serde(with = "number")]
    pub false_alarm_rate: f64,
    /// Detected share within j = 0, 1, … steps.
    #[serde(with = "number::list")]
    pub detected: Vec<f64>,
    /// Lower ends of the intervals.
    #[serde(with = "number::list")]
    pub low: Vec<f64>,
    /// Upper ends of the intervals.
    #[serde(with = "number::list")]
    pub high: Vec<f64>,
}

/// What was said of the episodes of one anomaly at one strength, so many steps after their first alarms, as far as these came
/// after the onset (`diagnosis.csv` has exactly these columns).
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Diagnosed {
    /// Name of the campaign.
    pub campaign: String,
    /// Environment id.
    pub env: String,
    /// Policy id.
    pub policy: String,
    /// What was done: `observation`, `action` or `dynamics`.
    pub anomaly_class: String,
    /// Anomaly id.
    pub anomaly: String,
    /// `tiny`, `medium`, `strong`, `extreme`, or `custom`.
    pub strength: String,
    /// The detector that raised the alarms.
    pub detector: String,
    /// Seed of the repetition.
    pub seed: u64,
    /// What the diagnosis had learned from.
    #[serde(default)]
    pub taught: Taught,
    /// Steps after the alarm, or at the end of the episode if that is earlier.
    #[serde(default)]
    pub after: u64,
    /// Episodes that reached their onset.
    pub episodes: u64,
    /// Episodes whose first alarm came after it.
    pub alarms: u64,
    /// Of these, diagnosed as a fault of observation,
    pub as_observation: u64,
    /// of action,
    pub as_action: u64,
    /// or of dynamics.
    pub as_dynamics: u64,
    /// Diagnosed as the right one; a fault that nothing can tell from one of another family has both.
    #[serde(default)]
    pub right_family: u64,
    /// The most probable hypothesis names the anomaly, or one that nothing can tell from it,
    #[serde(default)]
    pub named: u64,
    /// and its direction.
    #[serde(default)]
    pub right_direction: u64,
    /// The compatible hypotheses hold the anomaly, or one that nothing can tell from it.
    #[serde(default)]
    pub covered: u64,
    /// No hypothesis is compatible.
    #[serde(default)]
    pub abstained: u64,
    /// Mean number of compatible hypotheses; not a number if none were taught.
    #[cfg_attr(feature = "schema", schemars(with = "number::Written"))]
    #[serde(with = "number", default = "number::none")]
    pub set_size: f64,
    /// Median of |ln| of the estimated by the true distance of the magnitude from neutral, where the anomaly is named; not a
    /// number if it never is.
    #[cfg_attr(feature = "schema", schemars(with = "number::Written"))]
    #[serde(with = "number", default = "number::none")]
    pub magnitude_error: f64,
    /// Median distance of the estimated onset from the true one, in steps; not a number without alarms.
    #[cfg_attr(feature = "schema", schemars(with = "number::Written"))]
    #[serde(with = "number")]
    pub onset_error: f64,
    /// Median steps from onset to alarm: what the error would be if the alarm were taken for the onset.
    #[cfg_attr(feature = "schema", schemars(with = "number::Written"))]
    #[serde(with = "number")]
    pub alarm_delay: f64,
}

/// What a diagnosis has learned from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Taught {
    /// Nominal episodes, and rules for what faults make of them.
    #[default]
    Rules,
    /// Faults of all anomalies, played in the environment.
    Faults,
    /// Faults of all anomalies but the one that was done.
    OtherFaults,
}

/// False alarms of a detector in fresh nominal episodes, at the threshold that a rule set on others.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Coverage {
    /// Environment id.
    pub env: String,
    /// Policy id.
    pub policy: String,
    /// Detector id.
    pub detector: String,
    /// Seed of the repetition.
    pub seed: u64,
    /// Threshold name.
    pub threshold: String,
    /// Episodes that set the threshold.
    pub calibration: u64,
    /// Fresh episodes that were watched.
    pub watched: u64,
    /// How many of them had an alarm.
    pub alarms: u64,
    /// The share of false alarms that was accepted; the rules that promise nothing do not read it.
    pub accepted: f64,
    /// So many alarms, or fewer, has a rule that keeps its promise in 97.5 % of calibrations; all where nothing is promised.
    pub most: u64,
}

/// What a policy scores under an anomaly: 1 is undisturbed, 0 random.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Score {
    /// Environment id.
    pub env: String,
    /// Policy id.
    pub policy: String,
    /// Anomaly id.
    pub anomaly: String,
    /// Strength level.
    pub strength: String,
    /// Seed of the repetition.
    pub seed: u64,
    /// Mean over the test episodes.
    pub value: f64,
    /// Lower end of the 95 % interval.
    pub low: f64,
    /// Upper end of the 95 % interval.
    pub high: f64,
}

/// A rendered episode, ready to be embedded.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Video {
    /// Environment id.
    pub env: String,
    /// What it shows.
    pub caption: String,
    /// An animated GIF.
    pub gif: Vec<u8>,
}

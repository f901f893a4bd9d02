//! The specifications of cells.

use crate::campaign::Setting;
use offnominal_core::prelude::*;
use offnominal_engine::detector_choice::seed_label;
use offnominal_engine::frames::FrameSize;
use offnominal_files::dataset::PolicyName;
use serde::{Deserialize, Serialize};
use std::fmt;
use strum::IntoStaticStr;

/// What a cell computes. Everything that its result depends on is in here, or named here by digest.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "cell", rename_all = "snake_case")]
pub enum Cell {
    /// Undisturbed episodes.
    Nominal(Nominal),
    /// Disturbed episodes.
    Anomalous(Anomalous),
    /// A detector's results.
    Judgement(Judgement),
    /// A moving image.
    Video(Video),
    /// What is said at a detector's alarms.
    Diagnosis(Diagnosing),
}

/// Who acts where, in which version.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Setup {
    /// Version of the engine.
    pub engine: String,
    /// Environment id.
    pub env: String,
    /// Digest of the environment's specification.
    pub environment: String,
    /// Policy.
    pub policy: PolicyName,
    /// Seed of the repetition.
    pub seed: u64,
}

/// What nominal episodes are for. Roles have different seeds, so no episode serves two of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, IntoStaticStr)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
pub enum Role {
    /// To fit detectors.
    Train,
    /// To set thresholds.
    Validation,
    /// To be the twins of the anomalous episodes.
    Test,
    /// To be taken for anomalous although nothing is done to them.
    Control,
}

/// Undisturbed episodes of one role.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Nominal {
    /// Who acts where.
    pub setup: Setup,
    /// What they are for.
    pub role: Role,
    /// How many.
    pub episodes: usize,
}

/// Disturbed episodes; the i-th has the i-th twin.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Anomalous {
    /// Who acts where.
    pub setup: Setup,
    /// What is done to them.
    pub anomaly_spec: AnomalySpec,
    /// Cell of the twins.
    pub twins: String,
}

/// A detector, fitted once and judged on every anomaly.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Judgement {
    /// Who acts where.
    pub setup: Setup,
    /// The detector.
    pub detector: Detecting,
    /// Cells of the nominal episodes.
    pub train: String,
    /// Cell of the episodes that set thresholds, and end the fit of some.
    pub validation: String,
    /// Cell of the episodes that set thresholds instead, where the detector is fitted on another policy.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub thresholds: Option<String>,
    /// Cell of the twins.
    pub twins: String,
    /// Cell of the control episodes.
    pub control: String,
    /// When anomalies begin; for the control.
    pub schedule: Schedule,
    /// The anomalies, each with the cell of its episodes.
    pub settings: Vec<(Setting, String)>,
    /// Accepted share of false alarms of the conformal threshold.
    pub false_alarms: f64,
    /// Bootstrap replicates.
    pub replicates: usize,
    /// Episodes per anomaly whose scores are kept.
    pub traces: usize,
    /// Strengths of which they are kept.
    pub traced: Vec<String>,
    /// What is computed: a judgement with other metrics is another cell.
    pub metrics: Vec<String>,
    /// The camera, if the detector is one of images.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub frame_size: Option<FrameSize>,
}

/// A detector with its parameters, and its name in results.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Detecting {
    /// Name in the catalogue.
    pub id: String,
    /// Name in results.
    pub name: String,
    /// Parameters.
    pub params: serde_json::Value,
    /// All values of a network that is fitted: a preset that has other values makes another cell.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub preset: Option<serde_json::Value>,
    /// The policy on whose episodes it is fitted, if not on those of the one that acts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fitted_on: Option<PolicyName>,
}

impl Detecting {
    /// The label of its branch of the seed tree. One that is fitted on another policy is the same monitor under each of its
    /// names as the one that watches that policy.
    pub fn seed_label(&self) -> &str {
        seed_label(if self.fitted_on.is_some() { &self.id } else { &self.name })
    }
}

/// The alarms of a detector, each with a diagnosis.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Diagnosing {
    /// Who acts where.
    pub setup: Setup,
    /// The detector that raises the alarms.
    pub detector: Detecting,
    /// Cell of the episodes that it is fitted on, and the diagnosis too.
    pub train: String,
    /// Cell of the episodes that set the threshold, and end the fit of some.
    pub validation: String,
    /// Cell of the episodes that set it instead, where the detector is fitted on another policy.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub thresholds: Option<String>,
    /// The anomalies, each with the cell of its episodes.
    pub settings: Vec<(Setting, String)>,
    /// Accepted share of false alarms of the conformal threshold.
    pub false_alarms: f64,
    /// Faults of each hypothesis that the diagnosis is taught.
    pub faults: usize,
}

/// One disturbed episode as a moving image.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Video {
    /// Who acts where.
    pub setup: Setup,
    /// Which anomaly.
    pub setting: Setting,
    /// Cell of its episodes; the first one is shown.
    pub episodes: String,
}

/// The layers in order: a cell needs only cells of earlier layers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, IntoStaticStr)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
pub enum Layer {
    /// Undisturbed episodes.
    Nominal,
    /// Disturbed episodes.
    Anomalous,
    /// Everything that is made of episodes.
    Judgement,
}

impl Layer {
    /// All layers in order.
    pub const ALL: [Layer; 3] = [Layer::Nominal, Layer::Anomalous, Layer::Judgement];

    /// The name in plans.
    pub fn name(self) -> &'static str {
        self.into()
    }

    /// What a progress bar says.
    pub fn title(self) -> &'static str {
        match self {
            Layer::Nominal => "nominal episodes",
            Layer::Anomalous => "anomalous episodes",
            Layer::Judgement => "fitting and judging",
        }
    }
}

impl Cell {
    /// The layer.
    pub fn layer(&self) -> Layer {
        match self {
            Cell::Nominal(_) => Layer::Nominal,
            Cell::Anomalous(_) => Layer::Anomalous,
            Cell::Judgement(_) | Cell::Video(_) | Cell::Diagnosis(_) => Layer::Judgement,
        }
    }

    /// The cells that must be finished before.
    pub fn needs(&self) -> Vec<&str> {
        match self {
            Cell::Nominal(_) => vec![],
            Cell::Anomalous(cell) => vec![&cell.twins],
            Cell::Video(cell) => vec![&cell.episodes],
            Cell::Diagnosis(cell) => {
                let anomalous = cell.settings.iter().map(|(_, id)| id);
                let nominal = [&cell.train, &cell.validation].into_iter().chain(&cell.thresholds);
                nominal.chain(anomalous).map(String::as_str).collect()
            }
            Cell::Judgement(cell) => {
                let nominal = [&cell.train, &cell.validation, &cell.twins, &cell.control];
                let anomalous = cell.settings.iter().map(|(_, id)| id);
                nominal.into_iter().chain(&cell.thresholds).chain(anomalous).map(String::as_str).collect()
            }
        }
    }
}

impl fmt::Display for Cell {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let at = |setup: &Setup| format!("{} in {}, seed {}", setup.policy.id, setup.env, setup.seed);
        match self {
            Cell::Nominal(c) => write!(f, "{} episodes of {}", <&str>::from(c.role), at(&c.setup)),
            Cell::Anomalous(c) => write!(f, "{} of {}", c.anomaly_spec.anomaly, at(&c.setup)),
            Cell::Judgement(c) => write!(f, "detector {} for {}", c.detector.name, at(&c.setup)),
            Cell::Diagnosis(c) => {
                write!(f, "diagnoses at alarms of {} for {}", c.detector.name, at(&c.setup))
            }
            Cell::Video(c) => write!(f, "video of {} of {}", c.setting.anomaly, at(&c.setup)),
        }
    }
}

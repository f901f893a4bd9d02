//! The five detectors by name, and how their parameters are read.

use super::fit::{Trained, TrainedDetector};
use super::ldm::Ldm;
use super::lrdm::Lrdm;
use super::network::NetworkRecipe;
use super::pred_ae::PredAe;
use super::prednet::PredNet;
use super::rssm_ppm::RssmPpm;
use super::runtime::Runtime;
use super::watch::{TrainedMonitor, Watch};
use offnominal_core::catalogue::BuildError;
use offnominal_core::suggest;
use offnominal_nets::{TensorError, Tensors};
use serde_json::Value;

/// A detector that can be asked for by name.
#[derive(Debug, Clone, Copy)]
pub struct TrainedEntry {
    /// The name in commands, configuration and results.
    pub id: &'static str,
    /// One line for listings.
    pub summary: &'static str,
    recipe: fn(&Value) -> Result<Value, BuildError>,
    detector: fn(&Value, Runtime) -> Result<Detector, BuildError>,
    load: fn(&Tensors, &Runtime) -> Result<Monitor, TensorError>,
}

type Detector = Box<dyn TrainedDetector>;
type Monitor = Box<dyn TrainedMonitor>;

/// All of them, in the order in which reports list them.
pub const ALL: &[TrainedEntry] = &[
    TrainedEntry::of::<PredAe>("an autoencoder that predicts how the image changes"),
    TrainedEntry::of::<PredNet>("errors that climb through layers of convolutional memory"),
    TrainedEntry::of::<Ldm>("an image as features, moved by the action, as an image again"),
    TrainedEntry::of::<Lrdm>("the same with a memory of the episode"),
    TrainedEntry::of::<RssmPpm>(
        "a world model: what it imagines before it looks, against what it makes of the look",
    ),
];

/// The detector of that name.
///
/// # Errors
/// If there is none.
pub fn find(id: &str) -> Result<&'static TrainedEntry, BuildError> {
    ALL.iter().find(|kind| kind.id == id).ok_or_else(|| BuildError::Unknown {
        noun: "trained image detector",
        id: id.into(),
        nearest: suggest::nearest(id, ALL.iter().map(|kind| kind.id)),
        known: ALL.iter().map(|kind| kind.id).collect::<Vec<_>>().join(", "),
    })
}

impl TrainedEntry {
    const fn of<R: NetworkRecipe>(summary: &'static str) -> TrainedEntry {
        TrainedEntry {
            id: R::ID,
            summary,
            recipe: |params| Ok(serde_json::to_value(read::<R>(params)?).expect("a recipe is valid JSON")),
            detector: |params, runtime| Ok(Box::new(Trained { recipe: read::<R>(params)?, runtime })),
            load: |tensors, runtime| Ok(Box::new(Watch::<R>::from_tensors(tensors, runtime)?)),
        }
    }

    /// All parameters, where some are given: `{"preset": "paper", "learning": {"batch": 8}}`. The preset is `small` if
    /// none is named.
    ///
    /// # Errors
    /// If a parameter is unknown or out of range.
    pub fn recipe(&self, params: &Value) -> Result<Value, BuildError> {
        (self.recipe)(params)
    }

    /// The detector with these parameters, to be fitted there.
    ///
    /// # Errors
    /// If a parameter is unknown or out of range.
    pub fn detector(&self, params: &Value, runtime: Runtime) -> Result<Detector, BuildError> {
        (self.detector)(params, runtime)
    }

    /// A saved monitor of this detector.
    pub(super) fn load(&self, tensors: &Tensors, runtime: &Runtime) -> Result<Monitor, TensorError> {
        (self.load)(tensors, runtime)
    }
}

/// A preset with some parameters changed.
fn read<R: NetworkRecipe>(params: &Value) -> Result<R, BuildError> {
    let mut changes = params.clone();
    let preset = changes.as_object_mut().and_then(|params| params.remove("preset"));
    let recipe = match preset.as_ref().map_or(Some("small"), Value::as_str) {
        Some("small") => R::small(),
        Some("paper") => R::paper(),
        _ => {
            return Err(anomaly_spec::<R>(&format!(
                "preset: expected small or paper, found {}",
                preset.unwrap_or_default()
            )));
        }
    };
    let mut all = serde_json::to_value(recipe).expect("a recipe is valid JSON");
    change(&mut all, changes);
    let recipe: R = serde_json::from_value(all).map_err(|e| anomaly_spec::<R>(&e.to_string()))?;
    let side = recipe.shared().look.side.filter(|side| *side == 0 || side % recipe.shared().stride != 0);
    let of_side =
        || side.map(|s| format!("look.side: expected a multiple of {}, found {s}", recipe.shared().stride));
    let found = recipe.shared().learning.anomaly_spec().map(|e| format!("learning.{e}"));
    match found.or_else(|| recipe.anomaly_spec()).or_else(of_side) {
        Some(what) => Err(anomaly_spec::<R>(&what)),
        None => Ok(recipe),
    }
}

fn anomaly_spec<R: NetworkRecipe>(what: &str) -> BuildError {
    BuildError::Parameters(format!("{}: {what}", R::ID))
}

/// Puts values in the place of others, table by table.
fn change(all: &mut Value, changes: Value) {
    match (all, changes) {
        (Value::Object(all), Value::Object(changes)) => {
            for (name, value) in changes {
                change(all.entry(name).or_insert(Value::Null), value);
            }
        }
        (all, value) => *all = value,
    }
}

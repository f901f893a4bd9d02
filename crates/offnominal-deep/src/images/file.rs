//! Fitted monitors as files: named tensors, with the recipe and the size of the images as text in the header.

use super::catalogue;
use super::frames::{Commands, Scaling};
use super::network::{Recipe, View};
use super::runtime::Runtime;
use super::watch::{TrainedMonitor, Watch};
use crate::weights::{Plan, Weights};
use offnominal_core::Rng;
use offnominal_nets::{TensorError, Tensors};
use serde::{Deserialize, Serialize};

/// What the header calls such a file.
const MODEL: &str = "image-monitor";

/// Why a file is no fitted image monitor.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum KeptError {
    /// The header says something else.
    #[error("expected {expected} in the header of an image monitor, found {found}")]
    Header {
        /// What is needed.
        expected: &'static str,
        /// What it has.
        found: String,
    },
    /// A tensor is missing or otherwise.
    #[error(transparent)]
    Tensor(#[from] TensorError),
}

/// The videos that a monitor watches.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Videos {
    width: usize,
    height: usize,
    act_width: usize,
}

impl<R: Recipe> Watch<R> {
    pub(super) fn tensors(&self) -> Tensors {
        let mut tensors = self.weights.to_tensors();
        let [height, width] = self.size();
        let videos = Videos { width, height, act_width: self.act_width() };
        tensors.insert("images.mean", &[self.scaling.mean.len()], &self.scaling.mean);
        tensors.insert("images.unit", &[1], &[self.scaling.unit]);
        tensors.insert("actions.mean", &[videos.act_width], &self.commands.mean);
        tensors.insert("actions.gain", &[videos.act_width], &self.commands.gain);
        let texts = [
            ("model", MODEL.into()),
            ("detector", R::ID.into()),
            ("recipe", serde_json::to_string(&self.recipe).expect("a recipe is valid JSON")),
            ("videos", serde_json::to_string(&videos).expect("sizes are valid JSON")),
        ];
        tensors.metadata.extend(texts.map(|(name, text): (&str, String)| (name.into(), text)));
        tensors
    }

    /// Reads what [`TrainedMonitor::to_tensors`] wrote.
    pub(super) fn from_tensors(tensors: &Tensors, runtime: &Runtime) -> Result<Watch<R>, KeptError> {
        let recipe: R = parse(tensors, "recipe", "a recipe")?;
        let videos: Videos = parse(tensors, "videos", "the size of its images")?;
        let side = |length: usize| recipe.look().side.unwrap_or(length);
        let Videos { width, height, act_width } = videos;
        let view = View { rows: side(height), columns: side(width), act_width };
        let found = format!("{recipe:?} for images of {width} x {height}");
        let fits = |length: usize| length > 0 && length.is_multiple_of(recipe.stride());
        let is_whole =
            recipe.anomaly_spec().is_none() && fits(view.rows) && fits(view.columns) && width * height > 0;
        if !is_whole || act_width == 0 {
            return Err(KeptError::Header { expected: "sizes that fit together", found });
        }
        let mut plan = Plan::default();
        let network = recipe.network(&mut plan, view);
        let mut weights = Weights::first(plan, &mut Rng::new(0), &runtime.device);
        weights.take(tensors)?;
        let list = |name: &str, n: usize| tensors.expect(name, &[n]).map(<[f32]>::to_vec);
        let scaling = Scaling { mean: list("images.mean", view.len())?, unit: list("images.unit", 1)?[0] };
        let commands =
            Commands { mean: list("actions.mean", act_width)?, gain: list("actions.gain", act_width)? };
        Ok(Watch::new(recipe, network, weights, scaling, commands, view, [height, width]))
    }
}

fn text<'a>(tensors: &'a Tensors, name: &str, expected: &'static str) -> Result<&'a str, KeptError> {
    let found = || format!("the texts {:?}", tensors.metadata.keys().collect::<Vec<_>>());
    let text = tensors.metadata.get(name);
    text.map(String::as_str).ok_or_else(|| KeptError::Header { expected, found: found() })
}

fn parse<T: serde::de::DeserializeOwned>(
    tensors: &Tensors,
    name: &str,
    expected: &'static str,
) -> Result<T, KeptError> {
    let text = text(tensors, name, expected)?;
    serde_json::from_str(text).map_err(|e| KeptError::Header { expected, found: format!("{text:?} ({e})") })
}

/// The monitor of a file, for images of the size on which it was fitted.
///
/// # Errors
/// If it is none, of a detector that is not known, or a tensor is missing, of another shape or not finite.
pub fn load(tensors: &Tensors, runtime: &Runtime) -> Result<Box<dyn TrainedMonitor>, KeptError> {
    let model = text(tensors, "model", "an image monitor")?;
    if model != MODEL {
        return Err(KeptError::Header { expected: "an image monitor", found: format!("a {model}") });
    }
    let id = text(tensors, "detector", "the name of a detector")?;
    let unknown = |e: offnominal_core::catalogue::BuildError| KeptError::Header {
        expected: "the name of a detector",
        found: e.to_string(),
    };
    catalogue::find(id).map_err(unknown)?.load(tensors, runtime)
}

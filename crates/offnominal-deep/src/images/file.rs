//! Fitted monitors as files: named tensors, with the recipe and the size of the images as text in the header.

use super::catalogue;
use super::frames::{Commands, Scaling};
use super::network::{NetworkRecipe, View};
use super::runtime::Runtime;
use super::watch::{TrainedMonitor, Watch};
use crate::weights::{Plan, Weights};
use offnominal_core::Rng;
use offnominal_nets::{TensorError, Tensors};
use serde::{Deserialize, Serialize};

/// What the header calls such a file.
const MODEL: &str = "image-monitor";

/// The videos that a monitor watches.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Videos {
    width: usize,
    height: usize,
    act_width: usize,
}

impl<R: NetworkRecipe> Watch<R> {
    pub(super) fn tensors(&self) -> Tensors {
        let mut tensors = self.weights.to_tensors();
        let [height, width] = self.size();
        let videos = Videos { width, height, act_width: self.act_width() };
        tensors.put("images.mean", &self.scaling.mean);
        tensors.put("images.unit", &[self.scaling.unit]);
        tensors.put("actions.mean", &self.commands.mean);
        tensors.put("actions.gain", &self.commands.gain);
        tensors.put_entry("model", MODEL);
        tensors.put_entry("detector", R::ID);
        tensors.put_json("recipe", &self.recipe);
        tensors.put_json("videos", &videos);
        tensors
    }

    /// Reads what [`TrainedMonitor::to_tensors`] wrote.
    pub(super) fn from_tensors(tensors: &Tensors, runtime: &Runtime) -> Result<Watch<R>, TensorError> {
        let recipe: R = tensors.json("recipe")?;
        let side = |length: usize| recipe.shared().look.side.unwrap_or(length);
        let Videos { width, height, act_width } = tensors.json("videos")?;
        let view = View { rows: side(height), columns: side(width), act_width };
        let found = format!("{recipe:?} for images of {width} x {height}");
        let fits = |length: usize| length > 0 && length.is_multiple_of(recipe.shared().stride);
        let is_whole =
            recipe.anomaly_spec().is_none() && fits(view.rows) && fits(view.columns) && width * height > 0;
        TensorError::require(is_whole && act_width > 0, "image monitor", "sizes that fit together", found)?;
        let mut plan = Plan::default();
        let network = recipe.network(&mut plan, view);
        let mut weights = Weights::first(plan, &mut Rng::new(0), &runtime.device);
        weights.load(tensors)?;
        let list = |name: &str, n: usize| tensors.expect(name, &[n]).map(<[f32]>::to_vec);
        let scaling = Scaling { mean: list("images.mean", view.len())?, unit: list("images.unit", 1)?[0] };
        let commands =
            Commands { mean: list("actions.mean", act_width)?, gain: list("actions.gain", act_width)? };
        Ok(Watch::new(recipe, network, weights, scaling, commands, view, [height, width]))
    }
}

/// The monitor of a file, for images of the size on which it was fitted.
///
/// # Errors
/// If it is none, of a detector that is not known, or a tensor is missing, of another shape or not finite.
pub fn load(tensors: &Tensors, runtime: &Runtime) -> Result<Box<dyn TrainedMonitor>, TensorError> {
    tensors.expect_entry("model", MODEL)?;
    let unknown = |e| TensorError::mismatch("image monitor", "the name of a detector", e);
    catalogue::find(tensors.entry("detector")).map_err(unknown)?.load(tensors, runtime)
}

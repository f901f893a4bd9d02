//! LDM, a latent dynamics model: an image as features, moved by the action, as an image again.
//!
//! score = mean (d(m(e(o), a)) − o')², over pixels and colours.
//!
//! | symbol | meaning | unit |
//! |--------|---------|------|
//! | o, o'  | images before and after the step `[3, rows, columns]` | parts of white |
//! | a      | action, standardised `[act_width]` | 1 |
//! | e, m, d | encoder, dense layers, decoder | |
//!
//! Blind to: the past; velocities, which one image does not show.
//! Reference: Anomaly-Gym, section 6.1 and Table 11.  Deviates: as `pred-ae`.

use super::codec::{Codec, Decoder, Encoder};
use super::dense::Mlp;
use super::frames::Look;
use super::learning::Learning;
use super::library::Batch;
use super::network::{Error, Network, NetworkRecipe, Prediction, Shared, Step, View};
use super::pred_ae::{paper_codec, paper_learning, small_codec, small_learning};
use crate::pass::Pass;
use crate::weights::Plan;
use burn_tensor::Tensor;
use burn_tensor::activation::relu;
use serde::{Deserialize, Serialize};

/// The recipe.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Ldm {
    /// How it looks at images.
    pub look: Look,
    /// Sizes of the convolutions.
    pub codec: Codec,
    /// Units of the dense layers.
    pub dense: Vec<usize>,
    /// How it learns.
    pub learning: Learning,
}

impl NetworkRecipe for Ldm {
    const ID: &'static str = "ldm";
    type Network = Layers;

    fn small() -> Ldm {
        let (look, codec) = small_codec();
        Ldm { look, codec, dense: vec![256, 128, 128], learning: small_learning() }
    }

    fn paper() -> Ldm {
        let (look, codec) = paper_codec();
        Ldm { look, codec, dense: vec![512, 128, 128], learning: paper_learning(5e-4) }
    }

    fn shared(&self) -> Shared<'_> {
        Shared { look: &self.look, learning: &self.learning, stride: self.codec.stride() }
    }

    fn anomaly_spec(&self) -> Option<String> {
        let nothing = self.dense.is_empty() || self.dense.contains(&0);
        let of_dense =
            nothing.then(|| format!("dense: expected at least one unit per layer, found {:?}", self.dense));
        self.codec.anomaly_spec().or(of_dense)
    }

    fn network(&self, plan: &mut Plan, view: View) -> Layers {
        let (codec, sides) = (&self.codec, view.sides());
        let encoder = Encoder::new(plan, codec, sides);
        let sizes = [vec![codec.features + view.act_width], self.dense.clone()].concat();
        let moved = Mlp::new(plan, "moved", &sizes);
        let decoder = Decoder::new(plan, codec, sides, sizes[sizes.len() - 1]);
        Layers { encoder, moved, decoder, floats: 2 * codec.floats(sides) }
    }
}

/// Its network.
#[derive(Debug, Clone)]
pub struct Layers {
    encoder: Encoder,
    moved: Mlp,
    decoder: Decoder,
    floats: usize,
}

impl Layers {
    fn expect(&self, before: Tensor<4>, action: Tensor<2>, pass: &Pass) -> Tensor<4> {
        let features = Tensor::cat(vec![self.encoder.forward(before, pass), action], 1);
        self.decoder.forward(relu(self.moved.forward(features, pass)), pass)
    }
}

impl Network for Layers {
    type Memory = ();
    const ERROR: Error = Error::Squared;

    fn loss(&self, batch: &Batch, pass: &mut Pass) -> Tensor<1> {
        batch.squared(self.expect(batch.before(), batch.actions.clone(), pass), batch.after())
    }

    fn see(&self, _: Option<()>, step: Step, pass: &mut Pass) -> (Prediction, ()) {
        (Prediction { expected: self.expect(step.before, step.action, pass), seen: step.after }, ())
    }

    fn floats(&self) -> usize {
        self.floats
    }
}

//! PredAE: an autoencoder that predicts how the image changes.
//!
//! score = mean (o + f(o) − o')², over pixels and colours, where f reads the image through a few features.
//!
//! | symbol | meaning | unit |
//! |--------|---------|------|
//! | o, o'  | images before and after the step `[3, rows, columns]` | parts of white |
//! | f(o)   | predicted change | parts of white |
//!
//! Blind to: the action, the past, and whatever does not move.
//! Reference: Anomaly-Gym, Table 11, whose text predicts o' and whose code predicts the change.  Deviates: the
//! convolution with stride 1 has a kernel with a centre; the rate falls once.

use super::codec::{Codec, Decoder, Encoder};
use super::frames::{Look, Scale};
use super::learning::Learning;
use super::library::Batch;
use super::network::{Error, Network, NetworkRecipe, Prediction, Shared, Step, View};
use crate::pass::Pass;
use crate::weights::Plan;
use burn_tensor::Tensor;
use serde::{Deserialize, Serialize};

/// The recipe.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PredAe {
    /// How it looks at images.
    pub look: Look,
    /// Sizes of the convolutions.
    pub codec: Codec,
    /// How it learns.
    pub learning: Learning,
}

/// What the `small` presets share: 64 × 64, and a quarter of the published channels.
pub(super) fn small_codec() -> (Look, Codec) {
    let codec = Codec { channels: vec![8, 16, 32, 64], strides: vec![2; 4], features: 128 };
    (Look { side: Some(64), scale: Scale::Centred }, codec)
}

/// What the `paper` presets share.
pub(super) fn paper_codec() -> (Look, Codec) {
    let codec = Codec { channels: vec![32, 64, 128, 256], strides: vec![2, 2, 1, 2], features: 128 };
    (Look { side: None, scale: Scale::Symmetric }, codec)
}

/// How the `small` presets of what has no memory learn.
pub(super) fn small_learning() -> Learning {
    Learning {
        epochs: 250,
        steps: Some(3_000),
        batch: 32,
        window: 1,
        rate: 1e-3,
        decay: 1e-4,
        clip: 10.0,
        patience: 10,
    }
}

/// How the `paper` presets learn; batch, window, clipping and patience are ours, as the table does not give them.
pub(super) fn paper_learning(rate: f64) -> Learning {
    Learning { epochs: 250, steps: None, batch: 32, window: 1, rate, decay: 1e-2, clip: 100.0, patience: 50 }
}

impl NetworkRecipe for PredAe {
    const ID: &'static str = "pred-ae";
    type Network = Layers;

    fn small() -> PredAe {
        let (look, codec) = small_codec();
        PredAe { look, codec, learning: small_learning() }
    }

    fn paper() -> PredAe {
        let (look, codec) = paper_codec();
        PredAe { look, codec, learning: paper_learning(1e-4) }
    }

    fn shared(&self) -> Shared<'_> {
        Shared { look: &self.look, learning: &self.learning, stride: self.codec.stride() }
    }

    fn anomaly_spec(&self) -> Option<String> {
        self.codec.anomaly_spec()
    }

    fn network(&self, plan: &mut Plan, view: View) -> Layers {
        let (codec, sides) = (&self.codec, view.sides());
        let encoder = Encoder::new(plan, codec, sides);
        let decoder = Decoder::new(plan, codec, sides, codec.features);
        Layers { encoder, decoder, floats: 2 * codec.floats(sides) }
    }
}

/// Its network.
#[derive(Debug, Clone)]
pub struct Layers {
    encoder: Encoder,
    decoder: Decoder,
    floats: usize,
}

impl Layers {
    fn expect(&self, before: Tensor<4>, pass: &Pass) -> Tensor<4> {
        let features = self.encoder.forward(before.clone(), pass);
        before + self.decoder.forward(features, pass)
    }
}

impl Network for Layers {
    type Memory = ();
    const ERROR: Error = Error::Squared;

    fn loss(&self, batch: &Batch, pass: &mut Pass) -> Tensor<1> {
        batch.squared(self.expect(batch.before(), pass), batch.after())
    }

    fn see(&self, _: Option<()>, step: Step, pass: &mut Pass) -> (Prediction, ()) {
        (Prediction { expected: self.expect(step.before, pass), seen: step.after }, ())
    }

    fn floats(&self) -> usize {
        self.floats
    }
}

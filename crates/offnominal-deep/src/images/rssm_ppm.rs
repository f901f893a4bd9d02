//! RSSM-PPM: a world model in the manner of Dreamer; what it imagines before it looks, against what it makes of the look.
//!
//! score = mean |d(hₜ₊₁, E p(z | hₜ₊₁)) − d(hₜ₊₁, E q(z | hₜ₊₁, oₜ₊₁))|, over pixels and colours.
//!
//! | symbol | meaning | unit |
//! |--------|---------|------|
//! | hₜ₊₁   | memory of images up to oₜ and actions up to aₜ | |
//! | p, q   | guesses of the state before and after oₜ₊₁ is seen | |
//! | d      | decoder | parts of white |
//!
//! Learned by making small ½ Σ (d(h, z) − o)² + max(KL(q ‖ p), free), z drawn from q.
//! Blind to: what the decoder cannot draw.
//! Reference: Anomaly-Gym, Table 11; Hafner et al., ICLR 2020.  Deviates: scores use means and no draws, so that a
//! stream has one score; the paper does not say which.

use super::codec::{Codec, Decoder, Encoder};
use super::frames::Look;
use super::learning::Learning;
use super::library::Batch;
use super::network::{Error, Network, NetworkRecipe, Prediction, Shared, Step, View};
use super::pred_ae::{paper_codec, paper_learning, small_codec, small_learning};
use super::rssm::{Now, Rssm, Sizes};
use crate::pass::Pass;
use crate::weights::Plan;
use burn_tensor::Tensor;
use serde::{Deserialize, Serialize};

/// The recipe.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RssmPpm {
    /// How it looks at images.
    pub look: Look,
    /// Sizes of the convolutions.
    pub codec: Codec,
    /// Sizes of the model.
    pub sizes: Sizes,
    /// Nats by which looking may change a guess for nothing.
    pub free_nats: f64,
    /// How it learns.
    pub learning: Learning,
}

impl NetworkRecipe for RssmPpm {
    const ID: &'static str = "rssm-ppm";
    type Network = Layers;

    fn small() -> RssmPpm {
        let (look, codec) = small_codec();
        let sizes = Sizes { state: 50, memory: 200, enter: 200, prior: 100, posterior: 100 };
        let learning = Learning { batch: 8, window: 16, steps: Some(1_500), clip: 100.0, ..small_learning() };
        RssmPpm { look, codec, sizes, free_nats: 3.0, learning }
    }

    fn paper() -> RssmPpm {
        let (look, codec) = paper_codec();
        let codec = Codec { features: 200, ..codec };
        let sizes = Sizes { state: 50, memory: 200, enter: 400, prior: 100, posterior: 100 };
        let learning = Learning { batch: 8, window: 50, decay: 0.0, ..paper_learning(6e-4) };
        RssmPpm { look, codec, sizes, free_nats: 3.0, learning }
    }

    fn shared(&self) -> Shared<'_> {
        Shared { look: &self.look, learning: &self.learning, stride: self.codec.stride() }
    }

    fn anomaly_spec(&self) -> Option<String> {
        let is_free = self.free_nats.is_finite() && self.free_nats >= 0.0;
        let of_nats = || format!("free_nats: expected 0 or more, found {}", self.free_nats);
        self.codec.anomaly_spec().or_else(|| self.sizes.anomaly_spec()).or_else(|| (!is_free).then(of_nats))
    }

    fn network(&self, plan: &mut Plan, view: View) -> Layers {
        let (codec, sides) = (&self.codec, view.sides());
        let encoder = Encoder::new(plan, codec, sides);
        let model = Rssm::new(plan, &self.sizes, view.act_width, codec.features);
        let decoder = Decoder::new(plan, codec, sides, self.sizes.memory + self.sizes.state);
        let floats = 2 * codec.floats(sides) + 12 * (self.sizes.memory + self.sizes.state);
        let free_nats = self.free_nats;
        Layers { encoder, model, decoder, act_width: view.act_width, free_nats, floats }
    }
}

/// Its network.
#[derive(Debug, Clone)]
pub struct Layers {
    encoder: Encoder,
    model: Rssm,
    decoder: Decoder,
    act_width: usize,
    free_nats: f64,
    floats: usize,
}

impl Layers {
    /// Memory and state after the first look of an episode.
    fn begin(&self, features: Tensor<2>, pass: &mut Pass) -> Now {
        let n = features.dims()[0];
        let at_rest = Tensor::zeros([n, self.act_width], pass.device());
        let memory = self.model.remember(self.model.empty(n, pass), at_rest, pass);
        let state = self.model.posterior(&memory, features, pass).draw(pass);
        Now { memory, state }
    }

    fn image(&self, now: &Now, pass: &Pass) -> Tensor<4> {
        self.decoder.forward(now.all(), pass)
    }
}

impl Network for Layers {
    type Memory = Now;
    const ERROR: Error = Error::Absolute;

    fn loss(&self, batch: &Batch, pass: &mut Pass) -> Tensor<1> {
        let features = self.encoder.forward(batch.frames.clone(), pass);
        let mut now = self.begin(batch.at(&features, 0), pass);
        let (mut all, mut nats) = (Vec::new(), Vec::new());
        for t in 0..batch.steps {
            let memory = self.model.remember(now, batch.at(&batch.actions, t), pass);
            let prior = self.model.prior(&memory, pass);
            let posterior = self.model.posterior(&memory, batch.at(&features, t + 1), pass);
            let state = posterior.draw(pass);
            nats.push(posterior.nats_from(&prior));
            now = Now { memory, state };
            all.push(now.all());
        }
        let drawn = self.decoder.forward(Tensor::cat(all, 0), pass);
        let difference: Tensor<2> = (drawn - batch.after()).flatten(1, 3);
        let pixels = batch.mean((difference.clone() * difference).sum_dim(1)).mul_scalar(0.5);
        pixels + batch.mean(Tensor::cat(nats, 0)).clamp_min(self.free_nats)
    }

    fn see(&self, now: Option<Now>, step: Step, pass: &mut Pass) -> (Prediction, Now) {
        let now = now.unwrap_or_else(|| self.begin(self.encoder.forward(step.before, pass), pass));
        let memory = self.model.remember(now, step.action, pass);
        let state = self.model.prior(&memory, pass).mean;
        let imagined = Now { memory, state };
        let features = self.encoder.forward(step.after, pass);
        let state = self.model.posterior(&imagined.memory, features, pass).mean;
        let looked = Now { memory: imagined.memory.clone(), state };
        let prediction =
            Prediction { expected: self.image(&imagined, pass), seen: self.image(&looked, pass) };
        (prediction, looked)
    }

    fn floats(&self) -> usize {
        self.floats
    }
}

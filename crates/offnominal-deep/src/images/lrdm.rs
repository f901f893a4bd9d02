//! LRDM, a latent recurrent dynamics model: LDM with a memory of the episode.
//!
//! hₜ = LSTM(hₜ₋₁, e(oₜ), aₜ),   score = mean (d(hₜ) − oₜ₊₁)², over pixels and colours.
//!
//! | symbol | meaning | unit |
//! |--------|---------|------|
//! | oₜ     | image before step t `[3, rows, columns]` | parts of white |
//! | aₜ     | action, standardised `[act_width]` | 1 |
//! | hₜ     | memory, empty at the beginning of an episode | |
//! | e, d   | encoder, decoder | |
//!
//! Blind to: what changes slowly enough for the memory to follow.
//! Reference: Anomaly-Gym, section 6.1 and Table 11.  Deviates: as `pred-ae`; learned on windows of an episode, each
//! with an empty memory, where the paper does not say on what.

use super::codec::{Codec, Decoder, Encoder};
use super::dense::{Dense, Lstm, LstmMemory};
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
pub struct Lrdm {
    /// How it looks at images.
    pub look: Look,
    /// Sizes of the convolutions.
    pub codec: Codec,
    /// Units of each layer of memory.
    pub units: usize,
    /// Layers of memory.
    pub layers: usize,
    /// How it learns.
    pub learning: Learning,
}

impl NetworkRecipe for Lrdm {
    const ID: &'static str = "lrdm";
    type Network = Layers;

    fn small() -> Lrdm {
        let (look, codec) = small_codec();
        let learning = Learning { batch: 8, window: 16, steps: Some(1_500), ..small_learning() };
        Lrdm { look, codec, units: 128, layers: 2, learning }
    }

    fn paper() -> Lrdm {
        let (look, codec) = paper_codec();
        let learning = Learning { batch: 8, window: 50, ..paper_learning(5e-4) };
        Lrdm { look, codec, units: 128, layers: 2, learning }
    }

    fn shared(&self) -> Shared<'_> {
        Shared { look: &self.look, learning: &self.learning, stride: self.codec.stride() }
    }

    fn anomaly_spec(&self) -> Option<String> {
        let nothing = self.units == 0 || self.layers == 0;
        let of_memory = nothing.then(|| {
            format!("expected at least one layer with one unit, found {} with {}", self.layers, self.units)
        });
        self.codec.anomaly_spec().or(of_memory)
    }

    fn network(&self, plan: &mut Plan, view: View) -> Layers {
        let (codec, sides) = (&self.codec, view.sides());
        let encoder = Encoder::new(plan, codec, sides);
        let mut memory = Vec::new();
        for layer in 0..self.layers {
            let from = if layer == 0 { codec.features + view.act_width } else { self.units };
            memory.push(Lstm::new(plan, &format!("memory.{layer}"), [from, self.units]));
        }
        let out = Dense::new(plan, "out", [self.units, codec.features]);
        let decoder = Decoder::new(plan, codec, sides, codec.features);
        let floats = 2 * codec.floats(sides) + 16 * self.layers * self.units;
        Layers { encoder, memory, out, decoder, units: self.units, floats }
    }
}

/// Its network.
#[derive(Debug, Clone)]
pub struct Layers {
    encoder: Encoder,
    memory: Vec<Lstm>,
    out: Dense,
    decoder: Decoder,
    units: usize,
    floats: usize,
}

impl Layers {
    /// An empty memory for so many episodes.
    fn empty(&self, n: usize, pass: &Pass) -> Vec<LstmMemory> {
        let zeros = || Tensor::zeros([n, self.units], pass.device());
        self.memory.iter().map(|_| (zeros(), zeros())).collect()
    }

    /// Remembers features and an action; what comes out of the last layer.
    fn remember(
        &self,
        memory: &mut [LstmMemory],
        features: Tensor<2>,
        action: Tensor<2>,
        pass: &Pass,
    ) -> Tensor<2> {
        let mut x = Tensor::cat(vec![features, action], 1);
        for (layer, memory) in self.memory.iter().zip(memory) {
            *memory = layer.forward(x, memory.clone(), pass);
            x = memory.0.clone();
        }
        x
    }

    fn image(&self, remembered: Tensor<2>, pass: &Pass) -> Tensor<4> {
        self.decoder.forward(relu(self.out.forward(remembered, pass)), pass)
    }
}

impl Network for Layers {
    type Memory = Vec<LstmMemory>;
    const ERROR: Error = Error::Squared;

    fn loss(&self, batch: &Batch, pass: &mut Pass) -> Tensor<1> {
        let features = self.encoder.forward(batch.before(), pass);
        let mut memory = self.empty(batch.n, pass);
        let mut step =
            |t| self.remember(&mut memory, batch.at(&features, t), batch.at(&batch.actions, t), pass);
        let remembered = Tensor::cat((0..batch.steps).map(&mut step).collect(), 0);
        batch.squared(self.image(remembered, pass), batch.after())
    }

    fn see(
        &self,
        memory: Option<Vec<LstmMemory>>,
        step: Step,
        pass: &mut Pass,
    ) -> (Prediction, Vec<LstmMemory>) {
        let mut memory = memory.unwrap_or_else(|| self.empty(1, pass));
        let features = self.encoder.forward(step.before, pass);
        let remembered = self.remember(&mut memory, features, step.action, pass);
        (Prediction { expected: self.image(remembered, pass), seen: step.after }, memory)
    }

    fn floats(&self) -> usize {
        self.floats
    }
}

//! PredNet: layers of convolutional memory predict the next image, and errors of the prediction climb up.
//!
//! score = mean (ôₜ₊₁ − oₜ₊₁)², over pixels and colours, where ôₜ₊₁ is made before oₜ₊₁ is seen.
//!
//! | symbol | meaning | unit |
//! |--------|---------|------|
//! | oₜ     | image `[3, rows, columns]` | parts of white |
//! | ôₜ₊₁   | prediction from the images up to oₜ | parts of white |
//!
//! Blind to: the action.
//! Cost: with `history = "window"` a score runs the layers once for every remembered image, with `"episode"` once.
//! Reference: Lotter, Kreiman and Cox, ICLR 2017; Anomaly-Gym, Table 11.  Deviates: the published code compares the
//! prediction for the image before the step, and its output cannot reach the dark half of the images' scale; here
//! the prediction is of the image after the step, on a scale from 0 to 1.

use super::frames::{Look, Scale};
use super::learning::Learning;
use super::library::Batch;
use super::network::{Error, Network, NetworkRecipe, Prediction, Shared, Step, View};
use super::pred_ae::{paper_learning, small_learning};
use super::prednet_cell::{Cell, Tower};
use crate::pass::Pass;
use crate::weights::Plan;
use burn_tensor::Tensor;
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;

/// The recipe.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PredNet {
    /// How it looks at images.
    pub look: Look,
    /// Channels of each layer; the lowest predicts the image and has three.
    pub channels: Vec<usize>,
    /// Which images a prediction is made from.
    pub history: History,
    /// How it learns; a window has the images from which it predicts.
    pub learning: Learning,
}

/// Which images a prediction is made from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum History {
    /// Those of the last window.
    Window,
    /// All since the episode began.
    Episode,
}

impl NetworkRecipe for PredNet {
    const ID: &'static str = "prednet";
    type Network = Layers;

    fn small() -> PredNet {
        // With batches of up to four the tensor library takes a path to the slopes of few channels that is twice as slow.
        let learning = Learning {
            epochs: 100,
            steps: Some(640),
            batch: 5,
            window: 10,
            rate: 2e-3,
            decay: 0.0,
            ..small_learning()
        };
        let look = Look { side: Some(64), scale: Scale::Unit };
        PredNet { look, channels: vec![3, 8, 16, 32], history: History::Episode, learning }
    }

    fn paper() -> PredNet {
        let learning = Learning { epochs: 100, batch: 4, window: 10, decay: 0.0, ..paper_learning(1e-3) };
        let look = Look { side: None, scale: Scale::Unit };
        PredNet { look, channels: vec![3, 48, 96, 192], history: History::Window, learning }
    }

    fn shared(&self) -> Shared<'_> {
        Shared { look: &self.look, learning: &self.learning, stride: 1 << (self.channels.len() - 1) }
    }

    fn anomaly_spec(&self) -> Option<String> {
        let n = &self.channels;
        let is_tower = n.first() == Some(&3) && n.len() <= 8 && !n.contains(&0);
        let of_channels =
            || format!("channels: expected 3 for the image and then up to seven layers, found {n:?}");
        let is_unit = self.look.scale == Scale::Unit;
        let of_scale = || "look.scale: expected unit, as its output lies between 0 and 1".to_string();
        (!is_tower).then(of_channels).or_else(|| (!is_unit).then(of_scale))
    }

    fn network(&self, plan: &mut Plan, view: View) -> Layers {
        let tower = Tower::new(plan, &self.channels);
        let window = match self.history {
            History::Window => Some(self.learning.window),
            History::Episode => None,
        };
        Layers { tower, sides: view.sides(), window }
    }
}

/// Its network.
#[derive(Debug, Clone)]
pub struct Layers {
    tower: Tower,
    sides: [usize; 2],
    /// How many images a prediction is made from, if not from all.
    window: Option<usize>,
}

/// What it remembers of an episode.
#[derive(Debug, Clone)]
pub enum Past {
    /// Its layers.
    Cells(Vec<Cell>),
    /// The last images.
    Images(VecDeque<Tensor<4>>),
}

impl Layers {
    /// What the layers remember after a first image.
    fn begin(&self, image: Tensor<4>, pass: &Pass) -> Vec<Cell> {
        let mut cells = self.tower.empty(image.dims()[0], self.sides, pass);
        self.absorb(&mut cells, image, pass);
        cells
    }

    /// Expects an image and takes it in.
    fn absorb(&self, cells: &mut [Cell], image: Tensor<4>, pass: &Pass) -> Tensor<4> {
        let expected = self.tower.expect(cells, pass);
        self.tower.take(cells, expected.clone(), image, pass);
        expected
    }

    fn after(&self, images: &VecDeque<Tensor<4>>, pass: &Pass) -> Tensor<4> {
        let mut all = images.iter().cloned();
        let mut cells = self.begin(all.next().expect("an image came before"), pass);
        for image in all {
            self.absorb(&mut cells, image, pass);
        }
        self.tower.expect(&mut cells, pass)
    }
}

impl Network for Layers {
    type Memory = Past;
    const ERROR: Error = Error::Squared;

    /// The mean error of the lowest layer, |ô − o|; what comes before the first image is not judged.
    fn loss(&self, batch: &Batch, pass: &mut Pass) -> Tensor<1> {
        let image = |t: usize| batch.frames.clone().narrow(0, t * batch.n, batch.n);
        let mut cells = self.begin(image(0), pass);
        let step = |t: usize| self.absorb(&mut cells, image(t + 1), pass);
        let expected = Tensor::cat((0..batch.steps).map(step).collect(), 0);
        let difference: Tensor<2> = (expected - batch.after()).flatten(1, 3);
        batch.mean(difference.abs().mean_dim(1))
    }

    fn see(&self, past: Option<Past>, step: Step, pass: &mut Pass) -> (Prediction, Past) {
        let Step { before, after, .. } = step;
        let past = past.unwrap_or_else(|| match self.window {
            None => Past::Cells(self.begin(before.clone(), pass)),
            Some(_) => Past::Images([before].into()),
        });
        let (expected, past) = match past {
            Past::Cells(mut cells) => (self.absorb(&mut cells, after.clone(), pass), Past::Cells(cells)),
            Past::Images(mut images) => {
                let expected = self.after(&images, pass);
                images.push_back(after.clone());
                while images.len() > self.window.unwrap_or(1) {
                    images.pop_front();
                }
                (expected, Past::Images(images))
            }
        };
        (Prediction { expected, seen: after }, past)
    }

    fn floats(&self) -> usize {
        self.tower.floats(self.sides)
    }
}

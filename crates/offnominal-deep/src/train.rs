//! Training, step by step: every step is a function of what was learned so far and of its number, so that a run that
//! was stopped goes on with the same bits.

use crate::design::{Architecture, Design, Preset};
use crate::device;
use crate::file::FileError;
use crate::loss::{Truth, loss};
use crate::optimiser::{Optimiser, Steps};
use crate::pass::{Mode, Pass};
use crate::segmenter::Segmenter;
use crate::view::{Image, View};
use crate::weights::{numbers, tensor};
use burn_tensor::Device;
use offnominal_core::Seed;
use offnominal_nets::Tensors;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

/// Exponent of the learning rate's fall.
const POWER: f64 = 0.9;

/// How to train.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TrainConfig {
    /// Number of steps.
    pub steps: usize,
    /// Images in each.
    pub batch: usize,
    /// Rows and columns of what is cut out of an image.
    pub size: [usize; 2],
    /// How much smaller and larger images are made.
    pub scales: [f64; 2],
    /// Which steps.
    pub optimiser: Steps,
    /// Learning rate of the first step; it falls to nothing with the power 0.9.
    pub rate: f64,
    /// Pull of the kernels towards zero.
    pub decay: f64,
    /// Whether rare classes weigh more: each with one over the root of its share.
    pub is_balanced: bool,
    /// The root of all randomness.
    pub seed: Seed,
}

impl TrainConfig {
    /// As a preset has it, for images of some size.
    pub fn of(design: &Design, size: [usize; 2], seed: Seed) -> TrainConfig {
        match design.preset {
            Preset::Small => TrainConfig {
                steps: 1_200,
                batch: 12,
                size,
                scales: [0.75, 1.75],
                optimiser: Steps::Adam,
                rate: 3e-3,
                decay: 1e-4,
                is_balanced: true,
                seed,
            },
            Preset::Paper => TrainConfig {
                steps: 200_000,
                batch: if design.network == Architecture::Deeplab { 2 } else { 8 },
                size: [713, 713],
                scales: [0.5, 2.0],
                optimiser: Steps::Momentum,
                rate: 1e-3,
                decay: 1e-4,
                is_balanced: false,
                seed,
            },
        }
    }
}

/// A training that is under way.
pub struct Training {
    net: Segmenter,
    optimiser: Optimiser,
    config: TrainConfig,
    /// What a pixel of each class counts.
    weights: Vec<f32>,
    step: usize,
}

impl Training {
    /// Begins; `counts` are the pixels of each class.
    pub fn begin(design: &Design, config: TrainConfig, counts: &[u64], device: &Device) -> Training {
        let net = Segmenter::new(design, &mut config.seed.child("first").rng(), device);
        let optimiser = Optimiser::new(config.optimiser, config.decay, &net.weights);
        let weights = if config.is_balanced { balanced(counts) } else { vec![1.0; counts.len()] };
        Training { net, optimiser, config, weights, step: 0 }
    }

    /// Steps that were made.
    pub fn step(&self) -> usize {
        self.step
    }

    /// Whether all were.
    pub fn is_done(&self) -> bool {
        self.step >= self.config.steps
    }

    /// The network as it is now.
    pub fn net(&self) -> &Segmenter {
        &self.net
    }

    /// Makes a step with some of `n` images, and returns the loss.
    ///
    /// # Errors
    /// If an image cannot be had.
    pub fn advance<E: Send>(
        &mut self,
        n: usize,
        image: &(dyn Fn(usize) -> Result<Image, E> + Sync),
    ) -> Result<f64, E> {
        let seed = self.config.seed.child("step").child(self.step);
        let view = |(place, number): (usize, usize)| {
            let mut rng = seed.child("view").child(place).rng();
            Ok(image(number)?.view(self.config.size, self.config.scales, &mut rng))
        };
        let drawn: Vec<_> = self.drawn(n).into_iter().enumerate().collect();
        // A card waits for images, so all threads prepare them.
        let views = drawn.into_par_iter().map(view).collect::<Result<Vec<_>, E>>()?;
        let device = self.net.weights.device().clone();
        let loss = device::near(&device, || self.learn(&views, seed));
        self.step += 1;
        Ok(loss)
    }

    /// The images of this step: all of them in a new order, again and again.
    fn drawn(&self, n: usize) -> Vec<usize> {
        let batch = self.config.batch;
        let (first, last) = (self.step * batch, (self.step + 1) * batch - 1);
        let shuffled = |round: usize| {
            let mut order: Vec<usize> = (0..n).collect();
            self.config.seed.child("order").child(round).rng().shuffle(&mut order);
            order
        };
        (first / n..=last / n).flat_map(shuffled).skip(first % n).take(batch).collect()
    }

    fn learn(&mut self, views: &[View], seed: Seed) -> f64 {
        let device = self.net.weights.device().clone();
        let [height, width] = self.config.size;
        let channels = views.iter().flat_map(|v| v.channels.iter().copied()).collect();
        let labels: Vec<u8> = views.iter().flat_map(|v| v.labels.iter().copied()).collect();
        let x = tensor(channels, [views.len(), 3, height, width], &device);
        let truth = Truth::new(&labels, [views.len(), height, width], &self.weights, &device);
        let mut pass = Pass::new(&self.net.weights, Mode::Train(seed.child("drop").rng()));
        let answer = self.net.forward(x, &mut pass);
        let loss = loss(answer, &truth, &mut seed.child("hint").rng());
        let mut gradients = loss.backward();
        let rate = self.config.rate * (1.0 - self.step as f64 / self.config.steps as f64).powf(POWER);
        self.optimiser.step(&mut self.net.weights, pass.values(), &mut gradients, rate, self.step);
        pass.noticed.into_iter().for_each(|(key, value)| self.net.weights.set(key, value));
        f64::from(numbers(loss.inner())[0])
    }

    /// Everything that is needed to go on.
    pub fn state(&self) -> Tensors {
        let mut tensors = self.net.to_tensors();
        self.optimiser.save(&self.net.weights, &mut tensors);
        tensors.put_entry("recipe", self.config_text());
        tensors.put_entry("step", self.step);
        tensors
    }

    /// Goes on where [`Training::state`] was called.
    ///
    /// # Errors
    /// If it is of another design or recipe, or damaged.
    pub fn restore(&mut self, tensors: &Tensors) -> Result<(), FileError> {
        let found = Design::of(tensors)?;
        if found != self.net.design || tensors.entry("recipe") != self.config_text() {
            return Err(FileError::Other {
                expected: self.config_text(),
                found: tensors.entry("recipe").into(),
            });
        }
        let step = tensors.json("step")?;
        self.net.weights.load(tensors)?;
        self.optimiser.restore(&self.net.weights, tensors)?;
        self.step = step;
        Ok(())
    }

    fn config_text(&self) -> String {
        serde_json::to_string(&self.config).expect("a recipe is valid JSON")
    }
}

/// One over the root of each class's share, so that a pixel weighs 1 on average; a class that never occurs has none.
fn balanced(counts: &[u64]) -> Vec<f32> {
    let total: f64 = counts.iter().map(|&n| n as f64).sum();
    let raw = |n: u64| if n == 0 { 0.0 } else { (total / n as f64).sqrt() };
    let mean = counts.iter().map(|&n| raw(n) * n as f64).sum::<f64>() / total.max(1.0);
    counts.iter().map(|&n| (raw(n) / mean.max(f64::MIN_POSITIVE)) as f32).collect()
}

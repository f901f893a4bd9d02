//! From runs to an internal model.
//!
//! Each update takes sequences from random places of random runs. The learning rate rises linearly from 1e-6 to its peak
//! and falls as a cosine to 1e-9. A tenth of the runs is held back for validation, and the parameters with the
//! lowest loss there are the model. A model being learned can be saved, and continues with the same bits (`checkpoint`).

use crate::contrast::Hardness;
use crate::layers::Layers;
use crate::{Inputs, InternalModel, ShiftError, Stream, stream};
use offnominal_core::Rng;
use offnominal_nets::{Adam, AdamState, Standardiser};
use serde::{Deserialize, Serialize};
use std::f64::consts::PI;

/// How a model is learned.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct ModelRecipe {
    /// What the model reads.
    pub inputs: Inputs,
    /// Gradient steps.
    pub updates: u64,
    /// Sequences in a batch.
    pub sequences: usize,
    /// Steps of a sequence.
    pub length: usize,
    /// Negatives for each positive.
    pub negatives: usize,
    /// λ, the weight of the negatives. The publication does not say; wav2vec has their number.
    pub weight: f64,
    /// Largest learning rate.
    pub peak_lr: f64,
    /// Updates until it is reached.
    pub warm_up: u64,
    /// Updates between validations.
    pub validate_every: u64,
}

impl Default for ModelRecipe {
    /// The values of A.2.
    fn default() -> ModelRecipe {
        ModelRecipe {
            inputs: Inputs::StatesAndActions,
            updates: 40_000,
            sequences: 20,
            length: 500,
            negatives: 10,
            weight: 10.0,
            peak_lr: 5e-4,
            warm_up: 500,
            validate_every: 500,
        }
    }
}

const FIRST_LR: f64 = 1e-6;
const LAST_LR: f64 = 1e-9;

impl ModelRecipe {
    /// The learning rate of an update.
    pub fn lr_at(&self, update: u64) -> f64 {
        if update < self.warm_up {
            return FIRST_LR + (self.peak_lr - FIRST_LR) * update as f64 / self.warm_up as f64;
        }
        let rest = self.updates.saturating_sub(self.warm_up).max(1);
        let done = (update - self.warm_up) as f64 / rest as f64;
        LAST_LR + 0.5 * (self.peak_lr - LAST_LR) * (1.0 + (PI * done.min(1.0)).cos())
    }
}

/// Learns a model; `progress` gets the number of updates and the loss of the last one.
///
/// # Errors
/// If there are fewer than two runs, or one is shorter than a sequence or of another environment.
pub fn learn(
    runs: &[Stream],
    recipe: &ModelRecipe,
    rng: &mut Rng,
    progress: &mut dyn FnMut(u64, f64),
) -> Result<InternalModel, ShiftError> {
    let mut learning = Learning::begin(runs, recipe, rng)?;
    while !learning.is_done() {
        let loss = learning.step(runs);
        progress(learning.updates(), loss);
    }
    Ok(learning.into_model())
}

/// A model being learned.
pub struct Learning {
    pub(crate) recipe: ModelRecipe,
    pub(crate) model: InternalModel,
    layers: Layers,
    pub(crate) adam: AdamState,
    grad: Vec<f32>,
    pub(crate) best: (f64, InternalModel),
    pub(crate) rng: Rng,
    pub(crate) split: Split,
}

/// Which runs are learned from, and which are for validation.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Split {
    pub used: Vec<usize>,
    pub held: Vec<usize>,
}

impl Split {
    /// A tenth of the runs is held back, at least one.
    fn draw(n: usize, rng: &mut Rng) -> Split {
        let mut order: Vec<usize> = (0..n).collect();
        rng.shuffle(&mut order);
        let used = order.split_off((n / 10).max(1));
        Split { used, held: order }
    }
}

impl Learning {
    /// A model before the first update.
    ///
    /// # Errors
    /// If there are fewer than two runs, or one is shorter than a sequence or of another environment.
    pub fn begin(runs: &[Stream], recipe: &ModelRecipe, rng: &mut Rng) -> Result<Learning, ShiftError> {
        let (obs, act) = check(runs, recipe)?;
        let mut rng = Rng::new(rng.bits());
        let split = Split::draw(runs.len(), &mut rng);
        let all = |part: fn(&Stream) -> &[f32]| {
            split.used.iter().flat_map(|&i| part(&runs[i])).copied().collect::<Vec<f32>>()
        };
        let states = Standardiser::fit(&all(|s| &s.states), obs);
        let actions = Standardiser::fit(&all(|s| &s.actions), act);
        let layers = layers(recipe, (&states, &actions));
        let params = layers.init(&mut rng);
        let model = InternalModel { inputs: recipe.inputs, states, actions, params };
        let adam = AdamState::new(layers.n_params);
        let best = (f64::INFINITY, model.clone());
        Ok(Learning::with(recipe.clone(), (model, adam), best, rng, split))
    }

    pub(crate) fn with(
        recipe: ModelRecipe,
        (model, adam): (InternalModel, AdamState),
        best: (f64, InternalModel),
        rng: Rng,
        split: Split,
    ) -> Learning {
        let layers = layers(&recipe, (&model.states, &model.actions));
        Learning { grad: vec![0.0; layers.n_params], recipe, model, layers, adam, best, rng, split }
    }

    /// Updates so far.
    pub fn updates(&self) -> u64 {
        self.adam.steps
    }

    /// Whether all updates of the recipe were made.
    pub fn is_done(&self) -> bool {
        self.updates() >= self.recipe.updates
    }

    /// The model with the lowest loss on the runs that were held back.
    pub fn into_model(self) -> InternalModel {
        self.best.1
    }

    /// One update, and a validation where it is due; returns the loss before it. The runs are those of the beginning.
    pub fn step(&mut self, runs: &[Stream]) -> f64 {
        let mut rng = self.rng.clone();
        let loss = self.loss(runs, Part::Used, &mut rng);
        self.rng = rng;
        let adam = Adam { lr: self.recipe.lr_at(self.updates()), ..Adam::default() };
        self.layers.backward(&self.model.params, &mut self.grad);
        adam.step(&mut self.model.params, &self.grad, &mut self.adam);
        if self.updates().is_multiple_of(self.recipe.validate_every) || self.is_done() {
            self.validate(runs);
        }
        loss
    }

    /// The loss of a batch of the runs that are learned from, or of those held back.
    fn loss(&mut self, runs: &[Stream], part: Part, rng: &mut Rng) -> f64 {
        let (mut states, mut actions) = (Vec::new(), Vec::new());
        let from = if part == Part::Held { &self.split.held } else { &self.split.used };
        for _ in 0..self.recipe.sequences {
            let run = &runs[from[rng.below(from.len())]];
            let start = rng.below(run.len() - self.recipe.length + 1);
            let (s, a) = self.model.standardised(run, start..start + self.recipe.length);
            states.extend(s);
            actions.extend(a);
        }
        let hardness = Hardness { negatives: self.recipe.negatives, weight: self.recipe.weight as f32 };
        self.layers.forward(&self.model.params, &states, &actions, self.recipe.sequences);
        self.layers.contrast(&self.model.params, hardness, &mut self.grad, rng)
    }

    /// Saves the model if it is the best so far; the same sequences and negatives are used each time.
    fn validate(&mut self, runs: &[Stream]) {
        let mut rng = Rng::new(0);
        let loss = (0..VALIDATED).map(|_| self.loss(runs, Part::Held, &mut rng)).sum::<f64>();
        if loss < self.best.0 {
            self.best = (loss, self.model.clone());
        }
    }
}

/// Which runs a batch is taken from.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Part {
    Used,
    Held,
}

/// Batches of a validation.
const VALIDATED: usize = 4;

fn layers(recipe: &ModelRecipe, (states, actions): (&Standardiser, &Standardiser)) -> Layers {
    Layers::new(recipe.inputs, (states.outputs(), actions.outputs()), recipe.sequences * recipe.length)
}

/// The widths of runs from which can be learned.
fn check(runs: &[Stream], recipe: &ModelRecipe) -> Result<(usize, usize), ShiftError> {
    let widths = stream::widths(runs)?;
    if runs.len() < 2 {
        return Err(ShiftError::TooFew { what: "runs", needed: 2, found: runs.len() });
    }
    match runs.iter().map(Stream::len).find(|&n| n < recipe.length) {
        Some(found) => Err(ShiftError::TooFew { what: "steps in each run", needed: recipe.length, found }),
        None => Ok(widths),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::circles;

    fn recipe() -> ModelRecipe {
        ModelRecipe {
            updates: 60,
            sequences: 4,
            length: 120,
            weight: 1.0,
            peak_lr: 2e-3,
            warm_up: 10,
            validate_every: 20,
            ..ModelRecipe::default()
        }
    }

    #[test]
    fn the_rate_rises_and_falls_as_told() {
        let recipe = ModelRecipe::default();
        let rates = [0, 250, 500, 20_250, 40_000].map(|u| recipe.lr_at(u));
        let wanted = [1e-6, 2.505e-4, 5e-4, 2.5e-4, 1e-9];
        assert!(rates.iter().zip(wanted).all(|(r, w)| (r - w).abs() < 1e-8), "{rates:?}");
    }

    #[test]
    fn what_follows_under_nominal_conditions_is_recognised_and_elsewhere_less() {
        let model = learn(&circles(0.05, 400), &recipe(), &mut Rng::new(1), &mut |_, _| ()).unwrap();
        let rate = |speed| model.true_positives(&circles(speed, 400)[3]).median().unwrap();
        assert!(rate(0.05) > 0.9, "{}", rate(0.05));
        assert!(rate(0.11) < rate(0.05) - 0.2, "{} {}", rate(0.05), rate(0.11));
    }

    #[test]
    fn too_little_is_an_error() {
        let refuse = |runs: &[Stream]| {
            learn(runs, &recipe(), &mut Rng::new(1), &mut |_, _| ()).unwrap_err().to_string()
        };
        assert_eq!(
            refuse(&circles(0.1, 50)),
            "internal model: expected at least 120 steps in each run, found 50"
        );
        assert_eq!(refuse(&circles(0.1, 200)[..1]), "internal model: expected at least 2 runs, found 1");
    }
}

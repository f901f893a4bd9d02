//! From runs to an internal model.
//!
//! Each update takes sequences from random places of random runs. The learning rate rises linearly from 1e-6 to its peak
//! and falls as a cosine to 1e-9. A tenth of the runs is kept for validation, and the parameters with the lowest loss
//! there are the model.

use crate::contrast::{self, Hardness};
use crate::model::{InternalModel, Layers, Sees};
use crate::{ShiftError, Stream, stream};
use offnominal_core::Rng;
use offnominal_nets::{Adam, AdamState, Standardiser};
use serde::{Deserialize, Serialize};
use std::f64::consts::PI;

/// How a model is learned.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct Recipe {
    /// What the model reads.
    pub sees: Sees,
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

impl Default for Recipe {
    /// The values of A.2.
    fn default() -> Recipe {
        Recipe {
            sees: Sees::StatesAndActions,
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

impl Recipe {
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

/// Learns a model; `progress` hears the number of updates and the loss of the last one.
///
/// # Errors
/// If there are fewer than two runs, or one is shorter than a sequence or of another world.
pub fn learn(
    streams: &[Stream],
    recipe: &Recipe,
    rng: &mut Rng,
    progress: &mut dyn FnMut(u64, f64),
) -> Result<InternalModel, ShiftError> {
    let (obs, act) = stream::widths(streams)?;
    if streams.len() < 2 {
        return Err(ShiftError::TooFew { what: "runs", needed: 2, found: streams.len() });
    }
    if let Some(short) = streams.iter().map(Stream::len).find(|&n| n < recipe.length) {
        return Err(ShiftError::TooFew { what: "steps in each run", needed: recipe.length, found: short });
    }
    let mut order: Vec<usize> = (0..streams.len()).collect();
    rng.shuffle(&mut order);
    let (held, used) = order.split_at((streams.len() / 10).max(1));
    let all = |part: fn(&Stream) -> &[f32]| {
        used.iter().flat_map(|&i| part(&streams[i])).copied().collect::<Vec<f32>>()
    };
    let scalers = (Standardiser::fit(&all(|s| &s.states), obs), Standardiser::fit(&all(|s| &s.actions), act));
    let mut lesson = Lesson::new(recipe, scalers, rng);
    for update in 0..recipe.updates {
        let loss = lesson.update(streams, used, update, rng);
        if (update + 1) % recipe.validate_every == 0 || update + 1 == recipe.updates {
            lesson.validate(streams, held);
        }
        progress(update + 1, loss);
    }
    Ok(lesson.best.1)
}

/// A model being learned.
struct Lesson<'a> {
    recipe: &'a Recipe,
    model: InternalModel,
    layers: Layers,
    adam: AdamState,
    grad: Vec<f32>,
    best: (f64, InternalModel),
}

impl<'a> Lesson<'a> {
    fn new(recipe: &'a Recipe, (states, actions): (Standardiser, Standardiser), rng: &mut Rng) -> Lesson<'a> {
        let widths = (states.outputs(), actions.outputs());
        let layers = Layers::new(recipe.sees, widths, recipe.sequences * recipe.length);
        let params = layers.init(rng);
        let model = InternalModel { sees: recipe.sees, states, actions, params };
        let n = layers.n_params;
        Lesson {
            recipe,
            best: (f64::INFINITY, model.clone()),
            model,
            layers,
            adam: AdamState::new(n),
            grad: vec![0.0; n],
        }
    }

    /// One gradient step; returns the loss before it.
    fn update(&mut self, streams: &[Stream], used: &[usize], update: u64, rng: &mut Rng) -> f64 {
        let (loss, mut d_tokens, d_predictions) = self.loss(streams, used, rng);
        self.layers.backward(&self.model.params, &mut d_tokens, &d_predictions, &mut self.grad);
        let adam = Adam { lr: self.recipe.lr_at(update), ..Adam::default() };
        adam.step(&mut self.model.params, &self.grad, &mut self.adam);
        loss
    }

    /// The loss of a batch from the given runs, with its derivatives by tokens and predictions.
    fn loss(&mut self, streams: &[Stream], from: &[usize], rng: &mut Rng) -> (f64, Vec<f32>, Vec<f32>) {
        let (mut states, mut actions) = (Vec::new(), Vec::new());
        for _ in 0..self.recipe.sequences {
            let run = &streams[from[rng.below(from.len())]];
            let start = rng.below(run.len() - self.recipe.length + 1);
            let (s, a) = self.model.standardised(run, start..start + self.recipe.length);
            states.extend(s);
            actions.extend(a);
        }
        let shape = self.layers.forward(&self.model.params, &states, &actions, self.recipe.sequences);
        let (tokens, predictions) = (self.layers.tokens(), self.layers.predictions());
        let (mut d_tokens, mut d_predictions) = (vec![0.0; tokens.len()], vec![0.0; predictions.len()]);
        let hardness = Hardness { negatives: self.recipe.negatives, weight: self.recipe.weight as f32 };
        let loss =
            contrast::loss(shape, tokens, predictions, hardness, (&mut d_tokens, &mut d_predictions), rng);
        (loss, d_tokens, d_predictions)
    }

    /// Keeps the model if it is the best so far; the same sequences and negatives are used each time.
    fn validate(&mut self, streams: &[Stream], held: &[usize]) {
        let mut rng = Rng::new(0);
        let loss = (0..4).map(|_| self.loss(streams, held, &mut rng).0).sum::<f64>();
        if loss < self.best.0 {
            self.best = (loss, self.model.clone());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A point that turns by `speed` each step, in two numbers, and a command that says nothing.
    fn circles(speed: f32, n: usize) -> Vec<Stream> {
        let run = |i: usize| {
            let mut stream = Stream::new(2, 1);
            for t in 0..n {
                let angle = speed * t as f32 + i as f32;
                stream.push(&[angle.cos(), angle.sin()], &[(7.0 * t as f32).sin()]);
            }
            stream
        };
        (0..12).map(run).collect()
    }

    fn recipe() -> Recipe {
        Recipe {
            updates: 60,
            sequences: 4,
            length: 120,
            weight: 1.0,
            peak_lr: 2e-3,
            warm_up: 10,
            validate_every: 20,
            ..Recipe::default()
        }
    }

    #[test]
    fn the_rate_rises_and_falls_as_told() {
        let recipe = Recipe::default();
        let rates = [0, 250, 500, 20_250, 40_000].map(|u| recipe.lr_at(u));
        let wanted = [1e-6, 2.505e-4, 5e-4, 2.5e-4, 1e-9];
        assert!(rates.iter().zip(wanted).all(|(r, w)| (r - w).abs() < 1e-8), "{rates:?}");
    }

    #[test]
    fn what_follows_at_home_is_recognised_and_elsewhere_less() {
        let model = learn(&circles(0.05, 400), &recipe(), &mut Rng::new(1), &mut |_, _| ()).unwrap();
        let rate = |speed| model.true_positives(&circles(speed, 400)[3]).median().unwrap();
        assert!(rate(0.05) > 0.9, "{}", rate(0.05));
        assert!(rate(0.11) < rate(0.05) - 0.2, "{} {}", rate(0.05), rate(0.11));
    }

    #[test]
    fn same_seed_same_model_and_it_can_be_kept() {
        let short = Recipe { updates: 3, sees: Sees::States, ..recipe() };
        let run = || learn(&circles(0.05, 200), &short, &mut Rng::new(2), &mut |_, _| ()).unwrap();
        let model = run();
        assert_eq!(model, run());
        assert_eq!(InternalModel::from_tensors(Sees::States, &model.tensors()).unwrap(), model);
        assert!(InternalModel::from_tensors(Sees::StatesAndActions, &model.tensors()).is_err());
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

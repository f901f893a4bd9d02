//! A fit that is under way: epochs of shuffled windows, a falling rate, and the network that was best on other videos.

use super::fit::{Trained, view};
use super::frames::{Commands, Scaling, Shrink};
use super::learning::Learning;
use super::library::{Batch, Library};
use super::network::{Network, NetworkRecipe, View};
use super::runtime::{News, Runtime, Tell};
use super::watch::Watch;
use super::window::{self, Window};
use crate::optimiser::{Optimiser, Steps};
use crate::pass::{Mode, Pass};
use crate::weights::{Plan, Weights, numbers};
use offnominal_core::prelude::*;

/// A fit that is under way.
pub(super) struct Fitting<'a, R: NetworkRecipe> {
    learning: &'a Learning,
    runtime: &'a Runtime,
    seed: Seed,
    view: View,
    train: Library<'a>,
    validation: Library<'a>,
    scaling: Scaling,
    commands: Commands,
    network: R::Network,
    weights: Weights,
    optimiser: Optimiser,
    /// Loss on the validation videos of the best network so far, and that network.
    best: Option<(f64, Weights)>,
    /// Looks since then.
    n_epochs_without_improvement: usize,
}

/// At most so many steps of the validation videos are looked at.
const VALIDATION_STEPS: usize = 512;

impl<'a, R: NetworkRecipe> Fitting<'a, R> {
    pub(super) fn begin(
        detector: &'a Trained<R>,
        train: &'a [Video],
        validation: &'a [Video],
        seed: Seed,
    ) -> Result<Self, FitError> {
        let (recipe, runtime) = (&detector.recipe, &detector.runtime);
        let view = view(recipe, train, validation)?;
        let shrink = Shrink::new([train[0].height, train[0].width], view.sides());
        let commands = Commands::new(train);
        let (train, validation) =
            (Library::new(train, view, &shrink), Library::new(validation, view, &shrink));
        let mut plan = Plan::default();
        let network = recipe.network(&mut plan, view);
        let weights = Weights::first(plan, &mut seed.child("first").rng(), &runtime.device);
        let learning = recipe.shared().learning;
        let optimiser = Optimiser::new(Steps::AdamW, learning.decay, &weights).clipped(learning.clip);
        let scaling = Scaling::new(recipe.shared().look.scale, train.frames(), view.len());
        let (best, n_epochs_without_improvement) = (None, 0);
        Ok(Fitting {
            learning,
            runtime,
            seed,
            view,
            train,
            validation,
            scaling,
            commands,
            network,
            weights,
            optimiser,
            best,
            n_epochs_without_improvement,
        })
    }

    pub(super) fn run(&mut self, tell: Tell<'_>) -> Result<(), FitError> {
        let (lengths, learning) = (self.train.lengths(), self.learning);
        let windows: usize = lengths.iter().map(|n| n.div_ceil(learning.window)).sum();
        let per_epoch = windows.div_ceil(learning.batch);
        let (steps, pause) = (learning.total(per_epoch), learning.steps_between_validations(per_epoch));
        let (mut step, mut epoch) = (0, 0);
        while step < steps {
            let windows = window::epoch(&lengths, learning.window, self.seed.child("epoch").child(epoch));
            for windows in windows.chunks(learning.batch).take(steps - step) {
                let loss = self.step(windows, step, learning.rate_at(step, steps));
                if !loss.is_finite() {
                    return Err(FitError::Diverged { epoch });
                }
                step += 1;
                if (step % pause == 0 || step == steps) && self.has_settled() {
                    return Ok(());
                }
                let best = self.best.as_ref().map(|(loss, _)| *loss);
                tell(&News::Step { step, steps, loss, best });
            }
            epoch += 1;
        }
        Ok(())
    }

    /// The network that was best, as a monitor of videos of so many rows and columns.
    pub(super) fn finish(self, recipe: R, size: [usize; 2]) -> Watch<R> {
        let Fitting { network, weights, best, scaling, commands, view, .. } = self;
        let weights = best.map_or(weights, |(_, weights)| weights);
        Watch::new(recipe, network, weights, scaling, commands, view, size)
    }

    /// Makes a step and returns the loss before it.
    fn step(&mut self, windows: &[Window], step: usize, rate: f64) -> f64 {
        let batch = self.train.batch(windows, &self.scaling, &self.commands, &self.runtime.device);
        let noise = self.seed.child("noise").child(step).rng();
        let mut pass = Pass::new(&self.weights, Mode::Train(noise));
        let loss = self.network.loss(&batch, &mut pass);
        let mut gradients = loss.backward();
        self.optimiser.step(&mut self.weights, pass.values(), &mut gradients, rate, step);
        f64::from(numbers(loss.inner())[0])
    }

    /// Evaluates the validation videos, and says whether the loss has stopped improving.
    fn has_settled(&mut self) -> bool {
        let windows = window::check(&self.validation.lengths(), self.learning.window, VALIDATION_STEPS);
        if windows.is_empty() {
            return false;
        }
        let loss = self.loss(&windows);
        if self.best.as_ref().is_none_or(|(best, _)| loss < *best) {
            (self.best, self.n_epochs_without_improvement) = (Some((loss, self.weights.clone())), 0);
        } else {
            self.n_epochs_without_improvement += 1;
        }
        self.n_epochs_without_improvement >= self.learning.patience
    }

    /// The mean loss over the steps of windows of validation videos.
    fn loss(&self, windows: &[Window]) -> f64 {
        let (mut sum, mut steps) = (0.0, 0.0);
        for windows in windows.chunks(self.learning.batch) {
            let batch: Batch =
                self.validation.batch(windows, &self.scaling, &self.commands, &self.runtime.device);
            let loss = self.network.loss(&batch, &mut Pass::new(&self.weights, Mode::Eval));
            let n = windows.iter().map(|w| w.len).sum::<usize>() as f64;
            (sum, steps) = (sum + n * f64::from(numbers(loss)[0]), steps + n);
        }
        sum / steps
    }
}

//! A fit that is under way: epochs of shuffled windows, a falling rate, and the network that was best on other videos.

use super::fit::{Trained, TrainedFit, view};
use super::frames::{Commands, Scaling, Shrink};
use super::learning::Learning;
use super::library::{Batch, Library};
use super::network::{Network, NetworkRecipe, View};
use super::runtime::FitStep;
use super::watch::{TrainedMonitor, Watch};
use super::window::{self, Window};
use crate::device;
use crate::optimiser::{Optimiser, Steps};
use crate::pass::{Mode, Pass};
use crate::weights::{Plan, Weights, numbers};
use offnominal_core::prelude::*;
use offnominal_nets::{TensorError, Tensors};
use serde::{Deserialize, Serialize};

/// A fit that is under way.
pub(super) struct Fitting<'a, R: NetworkRecipe> {
    detector: &'a Trained<R>,
    learning: &'a Learning,
    seed: Seed,
    view: View,
    /// Rows and columns of the videos' images.
    size: [usize; 2],
    train: Library<'a>,
    validation: Library<'a>,
    scaling: Scaling,
    commands: Commands,
    network: R::Network,
    weights: Weights,
    optimiser: Optimiser,
    /// The best network so far on the validation videos.
    best: Option<Weights>,
    /// Steps that may be made, and how many lie between two looks at the validation videos.
    steps: usize,
    pause: usize,
    place: Place,
    /// The windows of the epoch that are not yet learned.
    windows: Vec<Window>,
}

/// How far a fit is.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Place {
    /// Steps that were made.
    step: usize,
    /// Epochs that were begun.
    epoch: usize,
    /// Windows of the last one that are not yet learned.
    n_windows: usize,
    /// Loss of the best network so far on the validation videos.
    best: Option<f64>,
    /// Looks since then.
    n_epochs_without_improvement: usize,
}

/// At most so many steps of the validation videos are looked at.
const VALIDATION_STEPS: usize = 512;

/// Where a checkpoint has the weights of the best network.
const BEST: &str = "best/";

/// Name of the header's entry with the [`Place`].
const PLACE: &str = "place";

impl<'a, R: NetworkRecipe> Fitting<'a, R> {
    pub(super) fn begin(
        detector: &'a Trained<R>,
        train: &'a [Video],
        validation: &'a [Video],
        seed: Seed,
    ) -> Result<Self, FitError> {
        let (recipe, size) = (&detector.recipe, [train[0].height, train[0].width]);
        let view = view(recipe, train, validation)?;
        let (shrink, commands) = (Shrink::new(size, view.sides()), Commands::new(train));
        let (train, validation) =
            (Library::new(train, view, &shrink), Library::new(validation, view, &shrink));
        let mut plan = Plan::default();
        let network = recipe.network(&mut plan, view);
        let weights = Weights::first(plan, &mut seed.child("first").rng(), &detector.runtime.device);
        let learning = recipe.shared().learning;
        let windows: usize = train.lengths().iter().map(|n| n.div_ceil(learning.window)).sum();
        let per_epoch = windows.div_ceil(learning.batch);
        Ok(Fitting {
            detector,
            learning,
            seed,
            view,
            size,
            scaling: Scaling::new(recipe.shared().look.scale, train.frames(), view.len()),
            train,
            validation,
            commands,
            network,
            optimiser: Optimiser::new(Steps::AdamW, learning.decay, &weights).clipped(learning.clip),
            weights,
            best: None,
            steps: learning.total(per_epoch),
            pause: learning.steps_between_validations(per_epoch),
            place: Place::default(),
            windows: Vec::new(),
        })
    }

    /// The network that was best, as a monitor of videos of that size.
    pub(super) fn into_monitor(self) -> Watch<R> {
        let Fitting { detector, network, weights, best, scaling, commands, view, size, .. } = self;
        Watch::new(detector.recipe.clone(), network, best.unwrap_or(weights), scaling, commands, view, size)
    }

    /// The windows of the next step.
    fn next_windows(&mut self) -> Vec<Window> {
        if self.windows.is_empty() {
            self.place.epoch += 1;
            self.windows = self.epoch();
        }
        let rest = self.windows.split_off(self.learning.batch.min(self.windows.len()));
        std::mem::replace(&mut self.windows, rest)
    }

    /// All windows of the epoch that was begun last.
    fn epoch(&self) -> Vec<Window> {
        let seed = self.seed.child("epoch").child(self.place.epoch - 1);
        window::epoch(&self.train.lengths(), self.learning.window, seed)
    }

    /// Makes a step and returns the loss before it.
    fn learn(&mut self, windows: &[Window]) -> f64 {
        let (step, device) = (self.place.step, &self.detector.runtime.device);
        let batch = self.train.batch(windows, &self.scaling, &self.commands, device);
        let noise = self.seed.child("noise").child(step).rng();
        let mut pass = Pass::new(&self.weights, Mode::Train(noise));
        let loss = self.network.loss(&batch, &mut pass);
        let mut gradients = loss.backward();
        let rate = self.learning.rate_at(step, self.steps);
        self.optimiser.step(&mut self.weights, pass.values(), &mut gradients, rate, step);
        f64::from(numbers(loss.inner())[0])
    }

    /// Evaluates the validation videos, and keeps the network if it is the best so far.
    fn look(&mut self) {
        let windows = window::check(&self.validation.lengths(), self.learning.window, VALIDATION_STEPS);
        if windows.is_empty() {
            return;
        }
        let loss = self.loss(&windows);
        if self.place.best.is_none_or(|best| loss < best) {
            (self.place.best, self.place.n_epochs_without_improvement) = (Some(loss), 0);
            self.best = Some(self.weights.clone());
        } else {
            self.place.n_epochs_without_improvement += 1;
        }
    }

    /// The mean loss over the steps of windows of validation videos.
    fn loss(&self, windows: &[Window]) -> f64 {
        let (mut sum, mut steps) = (0.0, 0.0);
        let device = &self.detector.runtime.device;
        for windows in windows.chunks(self.learning.batch) {
            let batch: Batch = self.validation.batch(windows, &self.scaling, &self.commands, device);
            let loss = self.network.loss(&batch, &mut Pass::new(&self.weights, Mode::Eval));
            let n = windows.iter().map(|w| w.len).sum::<usize>() as f64;
            (sum, steps) = (sum + n * f64::from(numbers(loss)[0]), steps + n);
        }
        sum / steps
    }
}

impl<R: NetworkRecipe> TrainedFit for Fitting<'_, R> {
    fn steps(&self) -> [usize; 2] {
        [self.place.step, self.steps]
    }

    fn is_done(&self) -> bool {
        let has_settled = self.place.n_epochs_without_improvement >= self.learning.patience;
        has_settled || self.place.step >= self.steps
    }

    fn advance(&mut self) -> Result<FitStep, FitError> {
        let windows = self.next_windows();
        let device = self.detector.runtime.device.clone();
        let loss = device::near(&device, || self.learn(&windows));
        if !loss.is_finite() {
            return Err(FitError::Diverged { epoch: self.place.epoch - 1 });
        }
        self.place.step += 1;
        let step = self.place.step;
        if step.is_multiple_of(self.pause) || step == self.steps {
            self.look();
        }
        Ok(FitStep { step, steps: self.steps, loss, best: self.place.best })
    }

    fn state(&self) -> Tensors {
        let mut state = self.weights.to_tensors();
        self.optimiser.save(&self.weights, &mut state);
        if let Some(best) = &self.best {
            best.put(BEST, &best.values, &mut state);
        }
        state.put_json(PLACE, &Place { n_windows: self.windows.len(), ..self.place.clone() });
        state
    }

    fn restore(&mut self, state: &Tensors) -> Result<(), TensorError> {
        self.weights.load(state)?;
        self.optimiser.restore(&self.weights, state)?;
        self.place = state.json(PLACE)?;
        if self.place.best.is_some() {
            self.best = Some(self.weights.holding(self.weights.read(BEST, state)?));
        }
        let mut windows = if self.place.epoch > 0 { self.epoch() } else { Vec::new() };
        let learned = windows.len().checked_sub(self.place.n_windows);
        let expected = || format!("at most {} windows left", windows.len());
        let learned =
            learned.ok_or_else(|| TensorError::mismatch(PLACE, expected(), self.place.n_windows))?;
        self.windows = windows.split_off(learned);
        Ok(())
    }

    fn finish(self: Box<Self>) -> Box<dyn TrainedMonitor> {
        Box::new(self.into_monitor())
    }
}

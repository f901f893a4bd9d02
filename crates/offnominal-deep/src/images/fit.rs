//! Learning from films: epochs of shuffled windows, a falling rate, and the network that was best on other films.

use super::learning::Learning;
use super::library::{Batch, Library};
use super::memory::Need;
use super::network::{Network, Recipe, View};
use super::pictures::{Commands, Scaling, Shrink};
use super::runtime::{News, Runtime, Tell};
use super::watch::{TrainedMonitor, Watch};
use super::window::{self, Window};
use crate::optimiser::{Optimiser, Steps};
use crate::pass::{Mode, Pass};
use crate::weights::{Plan, Weights, numbers};
use offnominal_core::image_detector::check_films;
use offnominal_core::prelude::*;

/// A recipe with the runtime that fits it.
#[derive(Debug, Clone)]
pub struct Trained<R> {
    /// What to fit.
    pub recipe: R,
    /// Where.
    pub runtime: Runtime,
}

/// An image detector whose monitors can be kept.
pub trait TrainedDetector: ImageDetector {
    /// As [`ImageDetector::fit`], with a monitor that can be kept, and news on the way.
    ///
    /// # Errors
    /// As there.
    fn train(
        &self,
        train: &[Film],
        validation: &[Film],
        rng: &mut Rng,
        tell: Tell<'_>,
    ) -> Result<Box<dyn TrainedMonitor>, FitError>;

    /// What a fit on these films takes.
    ///
    /// # Errors
    /// If the films cannot be learned from.
    fn need(&self, train: &[Film], validation: &[Film]) -> Result<Need, FitError>;
}

impl<R: Recipe> ImageDetector for Trained<R> {
    fn fit(
        &self,
        train: &[Film],
        validation: &[Film],
        rng: &mut Rng,
    ) -> Result<Box<dyn ImageMonitor>, FitError> {
        self.fit_telling(train, validation, rng, &|_| ())
    }

    fn fit_telling(
        &self,
        train: &[Film],
        validation: &[Film],
        rng: &mut Rng,
        tell: &dyn Fn(f64),
    ) -> Result<Box<dyn ImageMonitor>, FitError> {
        let tell = |news: &News| tell(news.done());
        Ok(Box::new(self.learn(train, validation, rng, &tell)?))
    }
}

impl<R: Recipe> TrainedDetector for Trained<R> {
    fn train(
        &self,
        train: &[Film],
        validation: &[Film],
        rng: &mut Rng,
        tell: Tell<'_>,
    ) -> Result<Box<dyn TrainedMonitor>, FitError> {
        Ok(Box::new(self.learn(train, validation, rng, tell)?))
    }

    fn need(&self, train: &[Film], validation: &[Film]) -> Result<Need, FitError> {
        let view = view(&self.recipe, train, validation)?;
        let mut plan = Plan::default();
        let network = self.recipe.network(&mut plan, view);
        let learning = self.recipe.learning();
        let longest = train.iter().map(Film::len).max().unwrap_or(0);
        let activations = network.floats() * learning.batch * learning.window.min(longest);
        let frames: usize = train.iter().chain(validation).map(|film| film.len() + 1).sum();
        let is_resized = view.sides() != [train[0].height, train[0].width];
        let pictures = if is_resized { frames * view.len() } else { 0 };
        Ok(Need::new(plan.n_learned(), activations, pictures))
    }
}

/// What a network of this recipe looks at in these films.
fn view<R: Recipe>(recipe: &R, train: &[Film], validation: &[Film]) -> Result<View, FitError> {
    check_films(train, 1)?;
    let shape = |film: &Film| (film.width, film.height, film.act_width);
    let first = shape(&train[0]);
    let said = |(width, height, act): (usize, usize, usize)| {
        format!("pictures of {width} x {height} and {act} commands")
    };
    if let Some(episode) = validation.iter().position(|film| shape(film) != first) {
        let (expected, found) = (said(first), said(shape(&validation[episode])));
        return Err(FitError::Film {
            episode,
            expected: format!("{expected} as in the training films"),
            found,
        });
    }
    let side = |length: usize| recipe.look().side.unwrap_or(length);
    let view = View { rows: side(first.1), columns: side(first.0), act_width: first.2 };
    let stride = recipe.stride();
    if view.sides().iter().any(|side| side % stride != 0) {
        let expected = format!("sides that are multiples of {stride}");
        let found = format!("pictures of {} x {}: set look.side", first.0, first.1);
        return Err(FitError::Film { episode: 0, expected, found });
    }
    Ok(view)
}

impl<R: Recipe> Trained<R> {
    /// The fitted monitor.
    ///
    /// # Errors
    /// If the films cannot be learned from, memory does not suffice, or the loss goes to infinity.
    pub fn learn(
        &self,
        train: &[Film],
        validation: &[Film],
        rng: &mut Rng,
        tell: Tell<'_>,
    ) -> Result<Watch<R>, FitError> {
        let need = self.need(train, validation)?;
        tell(&News::Need(need));
        if let Some(why) = need.refusal(self.runtime.memory) {
            return Err(FitError::Missing(why));
        }
        let mut fitting = Fitting::begin(self, train, validation, Seed(rng.bits()))?;
        fitting.run(tell)?;
        let Fitting { network, weights, best, scaling, commands, view, .. } = fitting;
        let weights = best.map_or(weights, |(_, weights)| weights);
        let size = [train[0].height, train[0].width];
        Ok(Watch::new(self.recipe.clone(), network, weights, scaling, commands, view, size))
    }
}

/// A fit that is under way.
struct Fitting<'a, R: Recipe> {
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
    /// Loss on the validation films of the best network so far, and that network.
    best: Option<(f64, Weights)>,
    /// Looks since then.
    vain: usize,
}

/// At most so many steps of the validation films are looked at.
const LOOKED_AT: usize = 512;

impl<'a, R: Recipe> Fitting<'a, R> {
    fn begin(
        detector: &'a Trained<R>,
        train: &'a [Film],
        validation: &'a [Film],
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
        let learning = recipe.learning();
        let optimiser = Optimiser::new(Steps::AdamW, learning.decay, &weights).clipped(learning.clip);
        let scaling = Scaling::new(recipe.look().scale, train.frames(), view.len());
        let (best, vain) = (None, 0);
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
            vain,
        })
    }

    fn run(&mut self, tell: Tell<'_>) -> Result<(), FitError> {
        let (lengths, learning) = (self.train.lengths(), self.learning);
        let windows: usize = lengths.iter().map(|n| n.div_ceil(learning.window)).sum();
        let per_epoch = windows.div_ceil(learning.batch);
        let (steps, pause) = (learning.total(per_epoch), learning.between_looks(per_epoch));
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

    /// Makes a step and returns the loss before it.
    fn step(&mut self, windows: &[Window], step: usize, rate: f64) -> f64 {
        let batch = self.train.batch(windows, &self.scaling, &self.commands, &self.runtime.device);
        let noise = self.seed.child("noise").child(step).rng();
        let mut pass = Pass::new(&self.weights, Mode::Learning(noise));
        let loss = self.network.loss(&batch, &mut pass);
        let mut gradients = loss.backward();
        self.optimiser.step(&mut self.weights, pass.values(), &mut gradients, rate, step);
        f64::from(numbers(loss.inner())[0])
    }

    /// Looks at the validation films, and says whether it has looked in vain too often.
    fn has_settled(&mut self) -> bool {
        let windows = window::check(&self.validation.lengths(), self.learning.window, LOOKED_AT);
        if windows.is_empty() {
            return false;
        }
        let loss = self.loss(&windows);
        if self.best.as_ref().is_none_or(|(best, _)| loss < *best) {
            (self.best, self.vain) = (Some((loss, self.weights.clone())), 0);
        } else {
            self.vain += 1;
        }
        self.vain >= self.learning.patience
    }

    /// The mean loss over the steps of windows of validation films.
    fn loss(&self, windows: &[Window]) -> f64 {
        let (mut sum, mut steps) = (0.0, 0.0);
        for windows in windows.chunks(self.learning.batch) {
            let batch: Batch =
                self.validation.batch(windows, &self.scaling, &self.commands, &self.runtime.device);
            let loss = self.network.loss(&batch, &mut Pass::new(&self.weights, Mode::Sure));
            let n = windows.iter().map(|w| w.len).sum::<usize>() as f64;
            (sum, steps) = (sum + n * f64::from(numbers(loss)[0]), steps + n);
        }
        sum / steps
    }
}

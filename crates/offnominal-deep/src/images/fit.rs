//! Recipes that learn from videos: what a fit takes, what it refuses, and what comes out.

use super::fitting::Fitting;
use super::memory::Need;
use super::network::{Network, NetworkRecipe, View};
use super::runtime::{FitStep, Runtime};
use super::watch::TrainedMonitor;
use crate::weights::Plan;
use offnominal_core::image_detector::check_videos;
use offnominal_core::prelude::*;
use offnominal_nets::{TensorError, Tensors};

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
    /// Begins a fit on these videos, which is made step by step.
    ///
    /// # Errors
    /// If the videos cannot be learned from, or memory does not suffice.
    fn begin<'a>(
        &'a self,
        train: &'a [Video],
        validation: &'a [Video],
        rng: &mut Rng,
    ) -> Result<Box<dyn TrainedFit + 'a>, FitError>;

    /// What a fit on these videos takes.
    ///
    /// # Errors
    /// If the videos cannot be learned from.
    fn need(&self, train: &[Video], validation: &[Video]) -> Result<Need, FitError>;
}

/// A fit that is under way. All that it does is a function of how it was begun and of its state, so that one that was
/// stopped goes on with the same bits.
pub trait TrainedFit {
    /// How many steps were made, and how many may be made.
    fn steps(&self) -> [usize; 2];

    /// Whether all steps were made, or the loss on the validation videos has stopped improving.
    fn is_done(&self) -> bool;

    /// Makes a step.
    ///
    /// # Errors
    /// If the loss goes to infinity.
    fn advance(&mut self) -> Result<FitStep, FitError>;

    /// Everything that is needed to go on.
    fn state(&self) -> Tensors;

    /// Goes on from a state of a fit that was begun in the same way.
    ///
    /// # Errors
    /// If it is of another network, or damaged.
    fn restore(&mut self, state: &Tensors) -> Result<(), TensorError>;

    /// The monitor with the network that was best.
    fn finish(self: Box<Self>) -> Box<dyn TrainedMonitor>;
}

impl<R: NetworkRecipe> ImageDetector for Trained<R> {
    fn fit(
        &self,
        train: &[Video],
        validation: &[Video],
        rng: &mut Rng,
        progress: FitProgress<'_>,
    ) -> Result<Box<dyn ImageScorer>, FitError> {
        let mut fitting = self.fitting(train, validation, rng)?;
        progress.at(0, 1)?;
        while !fitting.is_done() {
            let FitStep { step, steps, .. } = fitting.advance()?;
            progress.at(step, steps)?;
        }
        Ok(Box::new(fitting.into_monitor()))
    }
}

impl<R: NetworkRecipe> TrainedDetector for Trained<R> {
    fn begin<'a>(
        &'a self,
        train: &'a [Video],
        validation: &'a [Video],
        rng: &mut Rng,
    ) -> Result<Box<dyn TrainedFit + 'a>, FitError> {
        Ok(Box::new(self.fitting(train, validation, rng)?))
    }

    fn need(&self, train: &[Video], validation: &[Video]) -> Result<Need, FitError> {
        let view = view(&self.recipe, train, validation)?;
        let mut plan = Plan::default();
        let network = self.recipe.network(&mut plan, view);
        let learning = self.recipe.shared().learning;
        let longest = train.iter().map(Video::len).max().unwrap_or(0);
        let activations = network.floats() * learning.batch * learning.window.min(longest);
        let frames: usize = train.iter().chain(validation).map(|video| video.len() + 1).sum();
        let is_resized = view.sides() != [train[0].height, train[0].width];
        let images = if is_resized { frames * view.len() } else { 0 };
        Ok(Need::new(plan.n_learned(), activations, images))
    }
}

/// What a network of this recipe looks at in these videos.
pub(super) fn view<R: NetworkRecipe>(
    recipe: &R,
    train: &[Video],
    validation: &[Video],
) -> Result<View, FitError> {
    check_videos(train, 1)?;
    let shape = |video: &Video| (video.width, video.height, video.act_width);
    let first = shape(&train[0]);
    let described = |(width, height, act): (usize, usize, usize)| {
        format!("images of {width} x {height} and {act} actions")
    };
    if let Some(episode) = validation.iter().position(|video| shape(video) != first) {
        let (expected, found) = (described(first), described(shape(&validation[episode])));
        return Err(FitError::Video {
            episode,
            expected: format!("{expected} as in the training videos"),
            found,
        });
    }
    let side = |length: usize| recipe.shared().look.side.unwrap_or(length);
    let view = View { rows: side(first.1), columns: side(first.0), act_width: first.2 };
    let stride = recipe.shared().stride;
    if view.sides().iter().any(|side| side % stride != 0) {
        let expected = format!("sides that are multiples of {stride}");
        let found = format!("images of {} x {}: set look.side", first.0, first.1);
        return Err(FitError::Video { episode: 0, expected, found });
    }
    Ok(view)
}

impl<R: NetworkRecipe> Trained<R> {
    fn fitting<'a>(
        &'a self,
        train: &'a [Video],
        validation: &'a [Video],
        rng: &mut Rng,
    ) -> Result<Fitting<'a, R>, FitError> {
        match self.need(train, validation)?.refusal(self.runtime.memory) {
            Some(why) => Err(FitError::Missing(why)),
            None => Fitting::begin(self, train, validation, Seed(rng.bits())),
        }
    }
}

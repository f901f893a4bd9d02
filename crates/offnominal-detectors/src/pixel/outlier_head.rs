//! A small network on features that learns what unknown things look like from shapes that were pasted into known images.
//!
//! The features of the segmentation network stay as they are; an MLP with 64 hidden units says of each place whether
//! something was pasted there. It reads the features of the place, their mean over the places around it, and three numbers
//! of the logits: the largest, the logarithm of the sum of exponentials, and the entropy. Its score is its own logit.
//!
//! So it has seen unknown things, though none of the kind that it is tested on: reports mark it. The idea is that of outlier
//! exposure (Hendrycks et al., ICLR 2019), with pasted things as in Chan et al., "Entropy maximization and meta
//! classification", ICCV 2021, and drawn shapes in place of things of another data set.

mod description;
mod learning;

use super::grid::{pixel_of, spread};
use super::{Fitting, Needs, Output, PixelError, PixelMethod, PixelScorer, UNKNOWN};
use crate::shared::prelude::*;
use crate::shared::ranges::up_to;
use crate::shared::recipe::recipe;
use description::describe;
use learning::{Examples, Head};
use offnominal_core::limits::POINTS;

recipe! {
    /// The recipe.
    #[derive(Copy)]
    pub struct OutlierHead {
        /// Hidden units.
        #[serde(deserialize_with = "up_to::<_, _, 4096>")]
        pub hidden: NonZeroUsize = count(64),
        /// Times that it sees every place that it learns from.
        #[serde(deserialize_with = "up_to::<_, _, 10_000>")]
        pub epochs: NonZeroUsize = count(10),
        /// Places of each image that it learns from at most, of unknown and of known ones each.
        #[serde(deserialize_with = "up_to::<_, _, POINTS>")]
        pub places: NonZeroUsize = count(150),
    }
}

impl PixelMethod for OutlierHead {
    fn needs(&self) -> Needs {
        Needs { features: true, outliers: true, ..Needs::default() }
    }

    fn begin(&self) -> Box<dyn Fitting> {
        Box::new(Gathering::new(*self))
    }
}

/// Places to learn from.
struct Gathering {
    recipe: OutlierHead,
    examples: Examples,
    rng: Rng,
}

impl Gathering {
    fn new(recipe: OutlierHead) -> Gathering {
        Gathering { recipe, examples: Examples::default(), rng: Seed(0).child("outlier-head").rng() }
    }

    /// Adds places of an image, as many unknown as known ones at most.
    fn gather(&mut self, output: &Output<'_>, labels: &[u8]) {
        let Some(features) = output.features else { return };
        let described = describe(output, &features);
        let n = features.places();
        let mut kinds = [Vec::new(), Vec::new()];
        for place in 0..n {
            match labels[pixel_of(output, &features, place)] {
                UNKNOWN => kinds[1].push(place),
                label if usize::from(label) < output.classes => kinds[0].push(place),
                _ => {}
            }
        }
        for (is_outlier, places) in kinds.iter_mut().enumerate() {
            self.rng.shuffle(places);
            for &place in places.iter().take(self.recipe.places.get()) {
                self.examples.add(described.row(place), is_outlier == 1);
            }
        }
    }

    fn learn(mut self) -> Result<Head, PixelError> {
        let [known, outliers] = self.examples.counts();
        for (expected, found) in
            [("labelled known places", known), ("places where something was pasted", outliers)]
        {
            if found == 0 {
                return Err(PixelError::TooFew { expected, found });
            }
        }
        Ok(Head::learned(&self.examples, self.recipe.hidden.get(), self.recipe.epochs.get(), &mut self.rng))
    }
}

impl Fitting for Gathering {
    fn rounds(&self) -> usize {
        1
    }

    fn see(&mut self, _: usize, output: &Output<'_>, labels: &[u8]) {
        self.gather(output, labels);
    }

    fn finish(self: Box<Self>) -> Result<Box<dyn PixelScorer>, PixelError> {
        Ok(Box::new(self.learn()?))
    }
}

impl PixelScorer for Head {
    fn score(&self, output: &Output<'_>, scores: &mut [f32]) {
        let Some(features) = output.features else { return scores.fill(0.0) };
        spread(&self.logits(&describe(output, &features)), &features, output, scores);
    }
}

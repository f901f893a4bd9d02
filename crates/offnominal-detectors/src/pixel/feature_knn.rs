//! Distance of a place's features to their k-th nearest among nominal ones.
//!
//! score = ‖f/‖f‖ − f⁽ᵏ⁾/‖f⁽ᵏ⁾‖‖, spread bilinearly over the pixels. Needs no labels and no shape of the distribution.
//!
//! Reference: Sun et al., "Out-of-distribution detection with deep nearest neighbors", ICML 2022.

use super::grid::spread;
use super::{Features, Fitting, Needs, Output, PixelError, PixelMethod, PixelScorer};
use crate::shared::nearest::Nearest;
use offnominal_core::{Rng, Seed};
use serde::{Deserialize, Serialize};
use std::num::NonZeroUsize;

/// The recipe.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct FeatureKnnPixels {
    /// Which neighbour.
    pub k: NonZeroUsize,
    /// Nominal features that are kept, drawn from all that are seen.
    pub points: NonZeroUsize,
}

impl Default for FeatureKnnPixels {
    fn default() -> Self {
        let [k, points] = const { [NonZeroUsize::new(5).unwrap(), NonZeroUsize::new(4000).unwrap()] };
        FeatureKnnPixels { k, points }
    }
}

impl PixelMethod for FeatureKnnPixels {
    fn needs(&self) -> Needs {
        Needs { features: true, nominal: true, ..Needs::default() }
    }

    fn begin(&self) -> Box<dyn Fitting> {
        Box::new(Drawing {
            recipe: *self,
            seen: 0,
            d: 0,
            kept: Vec::new(),
            rng: Seed(0).child("feature-knn").rng(),
        })
    }
}

/// A sample of all features, each as likely to be in it (reservoir sampling, Vitter 1985).
struct Drawing {
    recipe: FeatureKnnPixels,
    seen: usize,
    d: usize,
    kept: Vec<f32>,
    rng: Rng,
}

/// Brings a vector to unit length.
fn normalise(x: &mut [f32]) {
    let length = x.iter().map(|x| x * x).sum::<f32>().sqrt().max(1e-12);
    x.iter_mut().for_each(|x| *x /= length);
}

impl Fitting for Drawing {
    fn rounds(&self) -> usize {
        1
    }

    fn see(&mut self, _: usize, output: &Output<'_>, _: &[u8]) {
        let Some(features) = output.features else { return };
        self.d = features.channels;
        let (mut x, room) = (vec![0.0; self.d], self.recipe.points.get());
        for place in 0..features.places() {
            features.vector(place, &mut x);
            normalise(&mut x);
            self.seen += 1;
            let at = self.rng.below(self.seen);
            if self.seen <= room {
                self.kept.extend_from_slice(&x);
            } else if at < room {
                self.kept[at * self.d..][..self.d].copy_from_slice(&x);
            }
        }
    }

    fn finish(self: Box<Self>) -> Result<Box<dyn PixelScorer>, PixelError> {
        let (n, k) = (self.kept.len() / self.d.max(1), self.recipe.k.get());
        if n < k {
            return Err(PixelError::TooFew { expected: "at least k nominal features", found: n });
        }
        Ok(Box::new(Fitted { k, index: Nearest::new(self.d, n, &self.kept) }))
    }
}

struct Fitted {
    k: usize,
    index: Nearest,
}

impl Fitted {
    fn distances(&self, features: &Features<'_>) -> Vec<f32> {
        let (mut scratch, mut x) = (self.index.scratch(self.k), vec![0.0; features.channels]);
        let mut distance = |place: usize| {
            features.vector(place, &mut x);
            normalise(&mut x);
            self.index.squared_distance(&x, &mut scratch).sqrt()
        };
        (0..features.places()).map(&mut distance).collect()
    }
}

impl PixelScorer for Fitted {
    fn score(&self, output: &Output<'_>, scores: &mut [f32]) {
        let Some(features) = output.features else { return scores.fill(0.0) };
        spread(&self.distances(&features), &features, output, scores);
    }
}

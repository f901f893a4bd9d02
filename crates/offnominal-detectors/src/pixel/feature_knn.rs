//! Distance of a place's features to their k-th nearest among nominal ones.
//!
//! score = ‖f/‖f‖ − f⁽ᵏ⁾/‖f⁽ᵏ⁾‖‖, spread bilinearly over the pixels. Needs no shape of the distribution.
//!
//! Reference: Sun et al., "Out-of-distribution detection with deep nearest neighbors", ICML 2022. Deviates: as many
//! features are kept of each class, for most places of an image are sky and road, and beside a few others a car up
//! close would have no neighbour.

use super::grid::{pixel_of, spread};
use super::{Features, Fitting, Needs, Output, PixelError, PixelMethod, PixelScorer};
use crate::shared::nearest::Nearest;
use crate::shared::prelude::*;
use crate::shared::ranges::up_to;
use offnominal_core::limits::POINTS;

recipe! {
    /// The recipe.
    #[derive(Copy)]
    pub struct FeatureKnnPixels {
        /// Which neighbour.
        #[serde(deserialize_with = "up_to::<_, _, POINTS>")]
        pub k: NonZeroUsize = count(5),
        /// Nominal features of each class that are kept, drawn from all that are seen; what has no class is one more.
        #[serde(deserialize_with = "up_to::<_, _, POINTS>")]
        pub points: NonZeroUsize = count(5000),
    }
}

impl PixelMethod for FeatureKnnPixels {
    fn needs(&self) -> Needs {
        Needs { features: true, nominal: true, ..Needs::default() }
    }

    fn begin(&self) -> Box<dyn Fitting> {
        Box::new(Drawing {
            recipe: *self,
            d: 0,
            classes: Vec::new(),
            rng: Seed(0).child("feature-knn").rng(),
        })
    }
}

/// A sample of each class.
struct Drawing {
    recipe: FeatureKnnPixels,
    d: usize,
    classes: Vec<Sample>,
    rng: Rng,
}

/// Some of the vectors seen, each as likely to be among them (reservoir sampling, Vitter 1985).
#[derive(Clone, Default)]
struct Sample {
    seen: usize,
    kept: Vec<f32>,
}

impl Sample {
    fn see(&mut self, x: &[f32], room: usize, rng: &mut Rng) {
        self.seen += 1;
        if self.seen <= room {
            self.kept.extend_from_slice(x);
            return;
        }
        let at = rng.below(self.seen);
        if at < room {
            self.kept[at * x.len()..][..x.len()].copy_from_slice(x);
        }
    }
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

    fn see(&mut self, _: usize, output: &Output<'_>, labels: &[u8]) {
        let Some(features) = output.features else { return };
        self.d = features.channels;
        self.classes.resize(output.classes + 1, Sample::default());
        let mut x = vec![0.0; self.d];
        for place in 0..features.places() {
            features.vector(place, &mut x);
            normalise(&mut x);
            let class = usize::from(labels[pixel_of(output, &features, place)]).min(output.classes);
            self.classes[class].see(&x, self.recipe.points.get(), &mut self.rng);
        }
    }

    fn finish(self: Box<Self>) -> Result<Box<dyn PixelScorer>, PixelError> {
        let kept: Vec<f32> = self.classes.into_iter().flat_map(|class| class.kept).collect();
        let (n, k) = (kept.len() / self.d.max(1), self.recipe.k.get());
        if n < k {
            return Err(PixelError::TooFew { expected: "at least k nominal features", found: n });
        }
        Ok(Box::new(Fitted { k, index: Nearest::new(self.d, n, &kept) }))
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rare_class_keeps_its_points_beside_a_common_one() {
        let (mut rng, room) = (Rng::new(1), 10);
        let mut classes = [Sample::default(), Sample::default()];
        for i in 0..1000_u16 {
            let class = usize::from(i % 100 == 0);
            classes[class].see(&[class as f32, f32::from(i)], room, &mut rng);
        }
        assert_eq!(classes.each_ref().map(|class| class.kept.len()), [2 * room; 2]);
        assert!(classes[1].kept.chunks(2).all(|x| x[0] == 1.0));
        // A later one is as likely as an early one: of ten of 990, some lie in each half.
        let late = classes[0].kept.chunks(2).filter(|x| x[1] >= 500.0).count();
        assert!((2..=8).contains(&late), "{late}");
    }
}

//! Mahalanobis distance of a place's features from the nearest class.
//!
//! M_i = min over c of √((f_i − μ_ci)ᵀ Σ_c⁻¹ (f_i − μ_ci)), score = σ((M_i − m) / s), spread bilinearly over the pixels.
//!
//! | symbol | meaning                                                                                             |
//! |--------|-----------------------------------------------------------------------------------------------------|
//! | μ_ci   | mean of class c at place i; of the class anywhere if it was seen there less often than `located` times |
//! | Σ_c    | covariance of class c about these means, over all places                                            |
//! | m, s   | mean and deviation of M over all nominal places                                                     |
//!
//! Reference: Angus et al., appendix A.4, equations 7–10 and 12; Lee et al., NeurIPS 2018. Deviates: a twentieth of the
//! covariance is taken as uncorrelated; a place's mean needs several examples, since of one alone it is the example;
//! no perturbation of the input, as in all experiments of the paper.

use super::grid::{labelled, spread};
use super::{Features, Fitting, Needs, Output, PixelError, PixelMethod, PixelScorer};
use crate::shared::cholesky::Cholesky;
use crate::shared::recipe::recipe;
use crate::shared::whiten::shrink;

recipe! {
    /// The recipe.
    #[derive(Copy)]
    pub struct MahalanobisPixels {
        /// Examples that a place needs for a mean of its own; the largest number gives every class one mean for all
        /// places.
        pub located: u32 = 10,
    }
}

impl PixelMethod for MahalanobisPixels {
    fn needs(&self) -> Needs {
        let places = self.located < u32::MAX;
        Needs { features: true, nominal: true, places, ..Needs::default() }
    }

    fn begin(&self) -> Box<dyn Fitting> {
        Box::new(Model { located: self.located, ..Model::default() })
    }
}

/// Places whose distances are computed at once.
const TOGETHER: usize = 8;

/// The model, at first in parts.
#[derive(Default)]
struct Model {
    located: u32,
    d: usize,
    /// Examples of each class at each place, `[classes, places]`.
    counts: Vec<u32>,
    places: usize,
    /// Their sums, then means, `[classes, places, d]`.
    means: Vec<f32>,
    /// Of each class anywhere, `[classes, d]`; first sums.
    class_means: Vec<f64>,
    class_counts: Vec<f64>,
    /// Sums of products, `[classes, d, d]`.
    scatter: Vec<f64>,
    factors: Vec<Option<Cholesky>>,
    /// Number, sum and sum of squares of the nominal distances.
    distances: [f64; 3],
}

impl Fitting for Model {
    fn rounds(&self) -> usize {
        3
    }

    fn see(&mut self, round: usize, output: &Output<'_>, labels: &[u8]) {
        let Some(features) = output.features else { return };
        match round {
            0 => self.sum(output, &features, labels),
            1 => self.spread_about_means(output, &features, labels),
            _ => {
                self.invert();
                for distance in self.distances(&features) {
                    let x = f64::from(distance);
                    self.distances.iter_mut().zip([1.0, x, x * x]).for_each(|(sum, x)| *sum += x);
                }
            }
        }
    }

    fn finish(self: Box<Self>) -> Result<Box<dyn PixelScorer>, PixelError> {
        if self.distances[0] < 2.0 || self.factors.iter().all(Option::is_none) {
            let found = self.class_counts.iter().sum::<f64>() as usize;
            return Err(PixelError::TooFew {
                expected: "labelled nominal places, more of a class than channels",
                found,
            });
        }
        Ok(self)
    }
}

impl Model {
    fn sum(&mut self, output: &Output<'_>, features: &Features<'_>, labels: &[u8]) {
        if self.counts.is_empty() {
            let (classes, places, d) = (output.classes, features.places(), features.channels);
            (self.d, self.places) = (d, places);
            self.counts = vec![0; classes * places];
            self.means = vec![0.0; classes * places * d];
            (self.class_means, self.class_counts) = (vec![0.0; classes * d], vec![0.0; classes]);
            (self.scatter, self.factors) = (vec![0.0; classes * d * d], vec![None; classes]);
        }
        for (class, place, x) in labelled(output, features, labels) {
            let at = class * self.places + place;
            self.counts[at] += 1;
            self.class_counts[class] += 1.0;
            self.means[at * self.d..][..self.d].iter_mut().zip(&x).for_each(|(sum, x)| *sum += x);
            self.class_means[class * self.d..][..self.d]
                .iter_mut()
                .zip(&x)
                .for_each(|(sum, &x)| *sum += f64::from(x));
        }
    }

    /// f − μ_ci.
    fn centred(&self, class: usize, place: usize, x: &[f32], out: &mut [f64]) {
        let at = class * self.places + place;
        let n = self.counts[at];
        if n >= self.located {
            let sums = &self.means[at * self.d..][..self.d];
            out.iter_mut().zip(x).zip(sums).for_each(|((o, &x), &s)| *o = f64::from(x - s / n as f32));
        } else {
            let sums = &self.class_means[class * self.d..][..self.d];
            let n = self.class_counts[class];
            out.iter_mut().zip(x).zip(sums).for_each(|((o, &x), &s)| *o = f64::from(x) - s / n);
        }
    }

    fn spread_about_means(&mut self, output: &Output<'_>, features: &Features<'_>, labels: &[u8]) {
        let d = self.d;
        let mut z = vec![0.0; d];
        for (class, place, x) in labelled(output, features, labels) {
            self.centred(class, place, &x, &mut z);
            let scatter = &mut self.scatter[class * d * d..][..d * d];
            for (i, row) in scatter.chunks_exact_mut(d).enumerate() {
                row.iter_mut().zip(&z).for_each(|(sum, y)| *sum += z[i] * y);
            }
        }
    }

    /// Factorises the covariances, once.
    fn invert(&mut self) {
        let d = self.d;
        if self.factors.iter().any(Option::is_some) {
            return;
        }
        for (class, factor) in self.factors.iter_mut().enumerate() {
            let n = self.class_counts[class];
            if n <= d as f64 {
                continue;
            }
            let mut covariance: Vec<f64> =
                self.scatter[class * d * d..][..d * d].iter().map(|s| s / n).collect();
            shrink(&mut covariance, d, 1e-9);
            *factor = Some(Cholesky::of(covariance, d));
        }
    }

    /// M of each place. Most are nearest to the class of those before them, which is therefore asked first.
    fn distances(&self, features: &Features<'_>) -> Vec<f32> {
        let (places, classes, mut last) = (features.places(), self.factors.len(), 0);
        let (mut x, mut centred) = (vec![vec![0.0; self.d]; TOGETHER], vec![0.0; self.d]);
        let (mut z, mut found) = (vec![[0.0; TOGETHER]; self.d], Vec::with_capacity(places));
        for first in (0..places).step_by(TOGETHER) {
            let some = TOGETHER.min(places - first);
            (0..some).for_each(|lane| features.vector(first + lane, &mut x[lane]));
            let mut least = [f64::INFINITY; TOGETHER];
            for class in (last..last + classes).map(|class| class % classes) {
                let Some(factor) = &self.factors[class] else { continue };
                for (lane, x) in x[..some].iter().enumerate() {
                    // Every class has a place's statistics only where the grid is the one it was fitted on.
                    self.centred(class, (first + lane).min(self.places - 1), x, &mut centred);
                    z.iter_mut().zip(&centred).for_each(|(z, &x)| z[lane] = x);
                }
                if factor.lower_to_squares(&mut z, &mut least) {
                    last = class;
                }
            }
            found.extend(least[..some].iter().map(|square| square.sqrt() as f32));
        }
        found
    }
}

impl PixelScorer for Model {
    fn score(&self, output: &Output<'_>, scores: &mut [f32]) {
        let Some(features) = output.features else { return scores.fill(0.0) };
        let [n, sum, squares] = self.distances;
        let mean = sum / n;
        let deviation = (squares / n - mean * mean).max(1e-12).sqrt();
        let sigmoid = |m: f32| (1.0 / (1.0 + (-(f64::from(m) - mean) / deviation).exp())) as f32;
        let values: Vec<f32> = self.distances(&features).into_iter().map(sigmoid).collect();
        spread(&values, &features, output, scores);
    }
}

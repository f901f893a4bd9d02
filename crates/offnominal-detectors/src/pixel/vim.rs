//! Virtual-logit matching: what the features have outside the space of the nominal ones, against the energy.
//!
//! score = α ‖R (f − o)‖ − ln Σ eᶻ, with R the projection on the last D − d eigenvectors of the nominal covariance
//! about o, and α = mean max z / mean ‖R (f − o)‖ over nominal places. It orders pixels like the softmax of the
//! virtual logit.
//!
//! Reference: Wang et al., "ViM: out-of-distribution with virtual-logit matching", CVPR 2022, equations 4–8.
//! Deviates: o is the mean of the features, since the weights of the last layer, from which the paper takes it, need
//! not be known.

use super::grid::{pixel_of, spread};
use super::softmax::map;
use super::{Features, Fitting, Needs, Output, PixelError, PixelMethod, PixelScorer};
use crate::shared::eigen;
use crate::shared::recipe::recipe;

recipe! {
    /// The recipe.
    #[derive(Copy)]
    pub struct Vim {
        /// Share of the dimensions that make the principal space; by default the paper's 512 of 768 to 1024, rounded.
        pub principal: f64 = 0.5,
    }
}

impl PixelMethod for Vim {
    fn needs(&self) -> Needs {
        Needs { features: true, nominal: true, ..Needs::default() }
    }

    fn begin(&self) -> Box<dyn Fitting> {
        Box::new(Model { principal: self.principal, ..Model::default() })
    }
}

/// The model, at first in sums.
#[derive(Default)]
struct Model {
    principal: f64,
    n: f64,
    /// Σ f, then the mean.
    mean: Vec<f64>,
    /// Σ f fᵀ.
    products: Vec<f64>,
    /// The last eigenvectors, as rows.
    residual: Vec<f64>,
    /// Σ max z and Σ ‖R (f − o)‖.
    sums: [f64; 2],
}

impl Fitting for Model {
    fn rounds(&self) -> usize {
        2
    }

    fn see(&mut self, round: usize, output: &Output<'_>, _: &[u8]) {
        let Some(features) = output.features else { return };
        if round == 0 {
            return self.sum(&features);
        }
        if self.residual.is_empty() {
            self.decompose();
        }
        let mut top = vec![0.0; output.pixels()];
        map(&output.mean_logits(), 1.0, &mut top, |s| s.top);
        for (place, length) in self.lengths(&features).into_iter().enumerate() {
            self.sums[0] += f64::from(top[pixel_of(output, &features, place)]);
            self.sums[1] += f64::from(length);
        }
    }

    fn finish(self: Box<Self>) -> Result<Box<dyn PixelScorer>, PixelError> {
        if self.residual.is_empty() {
            return Err(PixelError::TooFew { expected: "nominal features", found: self.n as usize });
        }
        Ok(self)
    }
}

impl Model {
    fn sum(&mut self, features: &Features<'_>) {
        let d = features.channels;
        self.mean.resize(d, 0.0);
        self.products.resize(d * d, 0.0);
        let mut x = vec![0.0; d];
        for place in 0..features.places() {
            features.vector(place, &mut x);
            self.n += 1.0;
            for (i, row) in self.products.chunks_exact_mut(d).enumerate() {
                self.mean[i] += f64::from(x[i]);
                row.iter_mut().zip(&x).for_each(|(sum, &y)| *sum += f64::from(x[i]) * f64::from(y));
            }
        }
    }

    fn decompose(&mut self) {
        let d = self.mean.len();
        self.mean.iter_mut().for_each(|m| *m /= self.n);
        let covariance = (0..d * d).map(|i| self.products[i] / self.n - self.mean[i / d] * self.mean[i % d]);
        let (_, vectors) = eigen::symmetric(covariance.collect(), d);
        let kept = ((self.principal * d as f64) as usize).min(d - 1);
        self.residual = vectors[kept * d..].to_vec();
    }

    /// ‖R (f − o)‖ of each place.
    fn lengths(&self, features: &Features<'_>) -> Vec<f32> {
        let d = self.mean.len();
        let (mut x, mut z) = (vec![0.0; d], vec![0.0; d]);
        let mut length = |place: usize| {
            features.vector(place, &mut x);
            z.iter_mut().zip(&x).zip(&self.mean).for_each(|((z, &x), m)| *z = f64::from(x) - m);
            let along = |row: &[f64]| row.iter().zip(&z).map(|(r, z)| r * z).sum::<f64>();
            self.residual.chunks_exact(d).map(|row| along(row).powi(2)).sum::<f64>().sqrt() as f32
        };
        (0..features.places()).map(&mut length).collect()
    }
}

impl PixelScorer for Model {
    fn score(&self, output: &Output<'_>, scores: &mut [f32]) {
        let Some(features) = output.features else { return scores.fill(0.0) };
        let alpha = (self.sums[0] / self.sums[1].max(1e-12)) as f32;
        spread(&self.lengths(&features), &features, output, scores);
        let mut energy = vec![0.0; scores.len()];
        map(&output.mean_logits(), 1.0, &mut energy, |s| s.top + s.sum.ln());
        scores.iter_mut().zip(energy).for_each(|(score, energy)| *score = alpha * *score - energy);
    }
}

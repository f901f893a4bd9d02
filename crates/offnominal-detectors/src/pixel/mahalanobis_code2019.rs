//! What the paper's published code computes in place of its Mahalanobis distance.
//!
//! P_ci = n_ci (I + S_ci)⁻¹, P_c = Σ_i P_ci, M_i = min over c of √((f_i − μ_ci)ᵀ P_c (f_i − μ_ci)) after each class's
//! distances are spread bilinearly over the pixels, score = σ((M_i − 508.7571) / 77.6057).
//!
//! | symbol | meaning                                                                              |
//! |--------|--------------------------------------------------------------------------------------|
//! | μ_ci   | mean of class c at place i; zero where it was never seen                              |
//! | S_ci   | sum of the products of f − μ_ci of class c at place i; zero where it was never seen   |
//! | n_ci   | one more than its examples there                                                      |
//!
//! The paper's equation 8 pools the covariance of a class over places and inverts it once; the code inverts one for
//! each place, begun at the identity, and adds the inverses. The numbers of the score are those of the authors' network:
//! with another, most scores may lie at one end. A distance of exactly zero counts as infinite, as there.
//!
//! Cost: memory d² for each class and place where it was seen.
//! Reference: Angus et al., 2019, their published code (`post_process/mahalanobis.py`, `libs/stat_computer.py`).

use super::grid::{labelled, spread};
use super::{Features, Fitting, Needs, Output, PixelError, PixelMethod, PixelScorer};
use crate::shared::cholesky::Cholesky;
use serde::{Deserialize, Serialize};

/// What the code takes for the mean distance of nominal places.
const MEAN: f64 = 508.7571;
/// What it takes for their deviation.
const DEVIATION: f64 = 77.605_722_848_530_58;

/// The recipe.
#[derive(Debug, Clone, Copy, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MahalanobisCode2019 {}

impl PixelMethod for MahalanobisCode2019 {
    fn needs(&self) -> Needs {
        Needs { features: true, nominal: true, places: true, ..Needs::default() }
    }

    fn begin(&self) -> Box<dyn Fitting> {
        Box::new(Parts::default())
    }
}

/// What is known of a class at a place.
#[derive(Clone, Default)]
struct Part {
    n: f64,
    /// Sum of the vectors, later their mean; empty where there is none.
    mean: Vec<f64>,
    /// Sum of products, `[d, d]`.
    scatter: Vec<f64>,
}

/// All that was seen, `[classes, places]`.
#[derive(Default)]
struct Parts {
    d: usize,
    classes: usize,
    places: usize,
    parts: Vec<Part>,
}

/// The fitted model.
struct Model {
    d: usize,
    places: usize,
    /// `[classes, places, d]`.
    means: Vec<f32>,
    /// P_c of each class, factorised.
    precisions: Vec<Cholesky>,
}

impl Fitting for Parts {
    fn rounds(&self) -> usize {
        2
    }

    fn see(&mut self, round: usize, output: &Output<'_>, labels: &[u8]) {
        let Some(features) = output.features else { return };
        if self.parts.is_empty() {
            (self.d, self.classes, self.places) = (features.channels, output.classes, features.places());
            self.parts = vec![Part::default(); self.classes * self.places];
        }
        for (class, place, x) in labelled(output, &features, labels) {
            let part = &mut self.parts[class * self.places + place.min(self.places - 1)];
            if round == 0 { part.count(&x) } else { part.multiply(&x) }
        }
    }

    fn finish(self: Box<Self>) -> Result<Box<dyn PixelScorer>, PixelError> {
        if self.parts.iter().all(|part| part.n == 0.0) {
            return Err(PixelError::TooFew { expected: "labelled nominal places", found: 0 });
        }
        let d = self.d;
        let mean = |part: &Part| -> Vec<f32> {
            (0..d).map(|i| part.mean.get(i).map_or(0.0, |sum| (sum / part.n) as f32)).collect()
        };
        let means = self.parts.iter().flat_map(mean).collect();
        let precisions = self.parts.chunks_exact(self.places).map(|class| precision(class, d)).collect();
        Ok(Box::new(Model { d, places: self.places, means, precisions }))
    }
}

impl Part {
    fn count(&mut self, x: &[f32]) {
        self.n += 1.0;
        self.mean.resize(x.len(), 0.0);
        self.mean.iter_mut().zip(x).for_each(|(sum, &x)| *sum += f64::from(x));
    }

    fn multiply(&mut self, x: &[f32]) {
        let z: Vec<f64> = x.iter().zip(&self.mean).map(|(&x, sum)| f64::from(x) - sum / self.n).collect();
        self.scatter.resize(z.len() * z.len(), 0.0);
        for (row, zi) in self.scatter.chunks_exact_mut(z.len()).zip(&z) {
            row.iter_mut().zip(&z).for_each(|(sum, zj)| *sum += zi * zj);
        }
    }
}

/// The sum over places of n (I + S)⁻¹, factorised.
fn precision(class: &[Part], d: usize) -> Cholesky {
    let mut sum = vec![0.0; d * d];
    // Where the class was never seen the inverse is the identity.
    let never = class.iter().filter(|part| part.scatter.is_empty()).count() as f64;
    (0..d).for_each(|i| sum[i * d + i] = never);
    for part in class.iter().filter(|part| !part.scatter.is_empty()) {
        let mut matrix = part.scatter.clone();
        (0..d).for_each(|i| matrix[i * d + i] += 1.0);
        let factor = Cholesky::of(matrix, d);
        let mut column = vec![0.0; d];
        for (i, row) in sum.chunks_exact_mut(d).enumerate() {
            column.fill(0.0);
            column[i] = part.n + 1.0;
            factor.solve(&mut column);
            row.iter_mut().zip(&column).for_each(|(sum, x)| *sum += x);
        }
    }
    Cholesky::of(sum, d)
}

impl Model {
    /// Distances of all places from a class.
    fn distances(&self, class: usize, features: &Features<'_>) -> Vec<f32> {
        let mut x = vec![0.0; self.d];
        let distance = |place: usize| {
            features.vector(place, &mut x);
            let at = class * self.places + place.min(self.places - 1);
            let mean = &self.means[at * self.d..][..self.d];
            let z: Vec<f64> = x.iter().zip(mean).map(|(&x, &m)| f64::from(x) - f64::from(m)).collect();
            let length = self.precisions[class].length(&z);
            if length > 0.0 { length as f32 } else { f32::MAX }
        };
        (0..features.places()).map(distance).collect()
    }
}

impl PixelScorer for Model {
    fn score(&self, output: &Output<'_>, scores: &mut [f32]) {
        let Some(features) = output.features else { return scores.fill(0.0) };
        let (mut nearest, mut of_class) = (vec![f32::MAX; scores.len()], vec![0.0; scores.len()]);
        for class in 0..self.precisions.len() {
            spread(&self.distances(class, &features), &features, output, &mut of_class);
            nearest.iter_mut().zip(&of_class).for_each(|(least, &d)| *least = least.min(d));
        }
        let sigmoid = |m: f32| 1.0 / (1.0 + (-(f64::from(m) - MEAN) / DEVIATION).exp());
        scores.iter_mut().zip(nearest).for_each(|(score, m)| *score = sigmoid(m) as f32);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// One channel, one place, one class with the values given; the score of another value.
    fn score_of(seen: &[f32], value: f32) -> f64 {
        fn output(value: &f32) -> Output<'_> {
            let values = std::slice::from_ref(value);
            let features = Some(Features { values, channels: 1, rows: 1, columns: 1 });
            Output { logits: &[0.0], passes: 1, classes: 1, height: 1, width: 1, features, confidence: None }
        }
        let mut fitting = MahalanobisCode2019 {}.begin();
        for round in 0..fitting.rounds() {
            seen.iter().for_each(|x| fitting.see(round, &output(x), &[0]));
        }
        let mut scores = [0.0];
        fitting.finish().unwrap().score(&output(&value), &mut scores);
        f64::from(scores[0])
    }

    /// The distance that a score stands for.
    fn distance(score: f64) -> f64 {
        MEAN + DEVIATION * (score / (1.0 - score)).ln()
    }

    #[test]
    fn it_is_the_sum_of_inverses_that_begin_at_the_identity() {
        // Mean 3, sum of squares 8, two examples: P = 3 / 9, so 600 away the distance is 600 √(1/3).
        let found = distance(score_of(&[1.0, 5.0], 603.0));
        assert!((found - 600.0 / 3.0_f64.sqrt()).abs() < 0.02, "{found}");
        // At the mean itself the distance is zero, and counts as infinite.
        assert_eq!(score_of(&[1.0, 5.0], 3.0), 1.0);
        assert!(score_of(&[1.0, 5.0], 4.0) < 0.01);
    }

    #[test]
    fn nothing_labelled_is_an_error() {
        assert!(MahalanobisCode2019 {}.begin().finish().is_err());
    }
}

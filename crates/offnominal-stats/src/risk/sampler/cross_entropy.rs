//! The cross-entropy method: a normal distribution that follows the most dangerous conditions.
//!
//! The first batch is drawn from P. After each batch, mean and spread of every entry become those of the most dangerous
//! conditions, mixed with what they were: the mean follows at once and the spread slowly, so that it does not settle
//! before it has arrived.
//!
//! Reference: Rubinstein, Methodology and Computing in Applied Probability 1(2), 1999; smoothing after de Boer et al.,
//! Annals of Operations Research 134, 2005.

use super::{Outcome, Predictor, Sampler, danger};
use offnominal_core::Rng;

/// Weights of a batch's elites against what was known before, for the mean and for the spread.
const SMOOTHING: (f64, f64) = (0.9, 0.4);
/// Smallest spread, as a share of an entry's range.
const SMALLEST: f64 = 1e-3;

/// The strategy and what it has learned.
pub struct CrossEntropy<'p> {
    bounds: Vec<(f64, f64)>,
    batch: usize,
    n_elites: usize,
    predict: Predictor<'p>,
    /// Mean and spread of each entry, once a batch is complete.
    normal: Option<Vec<(f64, f64)>>,
    seen: Vec<(f64, Vec<f64>)>,
}

impl<'p> CrossEntropy<'p> {
    /// A search within bounds, one pair per entry, that learns from the `elites` most dangerous of each batch.
    ///
    /// # Panics
    /// If there are not at least two elites in a batch.
    pub fn new(
        bounds: &[(f64, f64)],
        batch: usize,
        elites: usize,
        predict: Predictor<'p>,
    ) -> CrossEntropy<'p> {
        assert!(elites >= 2 && elites <= batch, "expected 2 to {batch} elites, found {elites}");
        let (bounds, seen) = (bounds.to_vec(), Vec::with_capacity(batch));
        CrossEntropy { bounds, batch, n_elites: elites, predict, normal: None, seen }
    }

    fn follow(&mut self) {
        self.seen.sort_by(|a, b| b.0.total_cmp(&a.0));
        let elites = &self.seen[..self.n_elites];
        let found: Vec<(f64, f64)> = (0..self.bounds.len()).map(|i| moments(elites, i)).collect();
        let mix = |old: f64, new: f64, weight: f64| (1.0 - weight) * old + weight * new;
        let follow =
            |(o, f): (&(f64, f64), &(f64, f64))| (mix(o.0, f.0, SMOOTHING.0), mix(o.1, f.1, SMOOTHING.1));
        let normal = match &self.normal {
            None => found,
            Some(old) => old.iter().zip(&found).map(follow).collect(),
        };
        self.normal = Some(normal);
        self.seen.clear();
    }
}

/// Mean and standard deviation of an entry.
fn moments(elites: &[(f64, Vec<f64>)], entry: usize) -> (f64, f64) {
    let n = elites.len() as f64;
    let mean = elites.iter().map(|(_, x)| x[entry]).sum::<f64>() / n;
    let variance = elites.iter().map(|(_, x)| (x[entry] - mean).powi(2)).sum::<f64>() / n;
    (mean, variance.sqrt())
}

impl Sampler for CrossEntropy<'_> {
    fn propose(&mut self, draw: &mut dyn FnMut(&mut Rng) -> Vec<f64>, rng: &mut Rng) -> Vec<f64> {
        let Some(normal) = &self.normal else { return draw(rng) };
        let entry = |((mean, spread), (low, high)): (&(f64, f64), &(f64, f64))| {
            let spread = spread.max(SMALLEST * (high - low));
            (mean + spread * rng.normal()).clamp(*low, *high)
        };
        normal.iter().zip(&self.bounds).map(entry).collect()
    }

    fn learn(&mut self, x: &[f64], outcome: Outcome) {
        self.seen.push((danger(x, outcome, self.predict), x.to_vec()));
        if self.seen.len() == self.batch {
            self.follow();
        }
    }
}

//! What kind: a small network from features to the probability of each family.
//!
//! p = softmax(net(x)), with x the standardised features, held within ±5, so that what is far from all simulated faults
//! is not judged by a straight line that leads there.

use super::Family;
use crate::shared::one_step::Rows;
use crate::shared::prelude::*;
use crate::shared::ranges::Fraction;
use crate::shared::saved;
use crate::shared::scale::Scale;
use crate::shared::training::{Supervised, Training};
use offnominal_nets::{Activation, Init, Mlp, Workspace};

/// Number of families.
const N: usize = Family::ALL.len();
/// Width of the hidden layer.
const HIDDEN: usize = 48;
/// The largest standardised feature.
const CLIP: f32 = 5.0;
/// One example in so many says when to stop.
const HELD_OUT: usize = 6;

/// Features of simulated faults, `[n, features]`, and the family of each.
pub(super) struct Examples {
    pub features: Vec<f32>,
    pub families: Vec<usize>,
}

/// A trained network.
pub(super) struct Classifier {
    scale: Scale,
    n_features: usize,
    net: Mlp,
    params: Vec<f32>,
}

/// What a question needs; allocated once.
#[derive(Clone)]
pub(super) struct Scratch {
    x: Vec<f32>,
    work: Workspace,
}

impl Classifier {
    /// Learns from examples.
    ///
    /// # Errors
    /// If training goes to infinity.
    pub fn fit(
        examples: &Examples,
        rng: &mut Rng,
        progress: FitProgress<'_>,
    ) -> Result<Classifier, FitError> {
        let n_features = examples.features.len() / examples.families.len();
        let scale = Scale::of_rows(&examples.features, n_features);
        let mut blank = Classifier::new(scale, n_features, Vec::new());
        let (seen, held_out) = blank.rows(examples);
        let mut params = blank.net.first_params(Init::Uniform, rng);
        let training = Training {
            epochs: count(120),
            patience: NonZeroUsize::new(12),
            weight_decay: Fraction::new(0.05),
            ..Training::brief()
        };
        let mut sample: Vec<u32> = (0..seen.episodes[0].end).collect();
        let mut learner = Supervised::new(blank.net.clone(), training.batch, cross_entropy);
        training.run(&mut learner, &mut params, (&seen, &mut sample), &held_out, rng, progress)?;
        blank.params = params;
        Ok(blank)
    }

    fn new(scale: Scale, n_features: usize, params: Vec<f32>) -> Classifier {
        let net = Mlp::new(&[scale.width().max(1), HIDDEN, N], Activation::Tanh);
        Classifier { scale, n_features, net, params }
    }

    pub fn scratch(&self) -> Scratch {
        Scratch { x: vec![0.0; self.net.inputs()], work: self.net.workspace(1) }
    }

    /// Examples to learn from, and those that say when to stop.
    fn rows(&self, examples: &Examples) -> (Rows, Rows) {
        let part = |held_out: bool| {
            let mut rows = Rows { inputs: vec![], targets: vec![], episodes: vec![] };
            let all = examples.features.chunks_exact(self.n_features).zip(&examples.families);
            let mut x = vec![0.0; self.net.inputs()];
            let chosen = all.enumerate().filter(|(i, _)| (i / N).is_multiple_of(HELD_OUT) == held_out);
            for (_, (features, &family)) in chosen {
                self.scale.apply_clipped(features, &mut x, CLIP);
                rows.inputs.extend_from_slice(&x);
                rows.targets.extend((0..N).map(|k| if k == family { 1.0 } else { 0.0 }));
            }
            rows.episodes.push(0..(rows.targets.len() / N) as u32);
            rows
        };
        (part(false), part(true))
    }

    /// The probability of each family.
    pub fn probabilities(&self, features: &[f32], Scratch { x, work }: &mut Scratch) -> [f64; N] {
        self.scale.apply_clipped(features, x, CLIP);
        let mut p = [0.0; N];
        let outputs = self.net.forward(&self.params, x, work);
        p.iter_mut().zip(outputs).for_each(|(p, y)| *p = f64::from(*y));
        softmax(&mut p);
        p
    }

    pub fn save(&self, to: &mut Writer<'_>) {
        self.scale.save(to);
        to.put("params", &self.params);
    }

    pub fn load(from: &Reader<'_>, n_features: usize) -> Result<Classifier, ArchiveError> {
        let mut blank = Classifier::new(Scale::load(from, n_features)?, n_features, Vec::new());
        blank.params = saved::params(from, &blank.net)?;
        Ok(blank)
    }
}

fn softmax(p: &mut [f64]) {
    let top = p.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    p.iter_mut().for_each(|p| *p = (*p - top).exp());
    let total: f64 = p.iter().sum();
    p.iter_mut().for_each(|p| *p /= total);
}

/// Mean cross entropy against families as rows of 0 and 1, and its derivatives.
fn cross_entropy(outputs: &[f32], targets: &[f32], slope: &mut [f32]) -> f64 {
    let (n, mut sum) = ((targets.len() / N) as f64, 0.0);
    let rows = outputs.chunks_exact(N).zip(targets.chunks_exact(N)).zip(slope.chunks_exact_mut(N));
    for ((y, t), slope) in rows {
        let mut p: [f64; N] = std::array::from_fn(|k| f64::from(y[k]));
        softmax(&mut p);
        for k in 0..N {
            sum -= f64::from(t[k]) * p[k].max(f64::MIN_POSITIVE).ln();
            slope[k] = ((p[k] - f64::from(t[k])) / n) as f32;
        }
    }
    sum / n
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shared::training::Model;

    #[test]
    fn gradients_are_those_of_finite_differences() {
        let net = Mlp::new(&[2, 5, N], Activation::Tanh);
        let mut rng = Rng::new(2);
        let params = net.first_params(Init::Uniform, &mut rng);
        let (x, t) = ([0.3, -1.0, 0.8, 0.2], [1.0, 0.0, 0.0, 0.0, 0.0, 1.0]);
        let mut learner = Supervised::new(net, count(2), cross_entropy);
        let mut grad = vec![0.0; params.len()];
        learner.gradient(&params, &x, &t, &mut grad, &mut rng);
        for i in 0..params.len() {
            let mut side = |shift: f32| {
                let mut moved = params.clone();
                moved[i] += shift;
                learner.loss(&moved, &x, &t)
            };
            let slope = (side(1e-2) - side(-1e-2)) / 2e-2;
            assert!((f64::from(grad[i]) - slope).abs() < 1e-3, "{i}: expected {slope}, found {}", grad[i]);
        }
    }

    #[test]
    fn families_that_differ_are_told_apart() {
        let mut rng = Rng::new(1);
        let families: Vec<usize> = (0..600).map(|i| i % N).collect();
        let features = families.iter().flat_map(|&k| {
            let centre = [[0.0, 2.0], [2.0, -1.0], [-2.0, -1.0]][k];
            centre.map(|c| (c + 0.4 * rng.normal()) as f32)
        });
        let examples = Examples { features: features.collect(), families };
        let classifier = Classifier::fit(&examples, &mut Rng::new(1), FitProgress::unseen()).unwrap();
        let mut scratch = classifier.scratch();
        let p = classifier.probabilities(&[2.0, -1.0], &mut scratch);
        assert!(p[1] > 0.9 && (p.iter().sum::<f64>() - 1.0).abs() < 1e-12, "{p:?}");
        let mut archive = offnominal_core::archive::Archive::default();
        classifier.save(&mut archive.writer());
        let again = Classifier::load(&archive.reader(1, 1), 2).unwrap();
        let mut of = |c: &Classifier| c.probabilities(&[0.1, 0.2], &mut scratch);
        assert_eq!(of(&again), of(&classifier));
    }
}

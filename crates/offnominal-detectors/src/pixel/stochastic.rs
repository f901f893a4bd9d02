//! Scores from several random passes: how much the probabilities differ.
//!
//! With p_t the probabilities of pass t of T: VarSum is Σ_k 1/T Σ_t (p_tk − p̄_k)², mutual information H(p̄) − 1/T Σ_t
//! H(p_t).
//! Reference: Angus et al., appendix A.1 and A.7. The published code has no mutual information: it computes the mean
//! entropy alone, divided by the number of classes.

use super::softmax::{map, probabilities};
use super::{Fitting, Needs, Output, PixelMethod, PixelScorer, Ready};
use crate::shared::spread::surprisal;
use serde::{Deserialize, Serialize};

/// Variance over passes, summed over classes.
#[derive(Debug, Clone, Copy, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct VarSum {}

/// Mean variance over classes, 400 times, cut at 1, as the published code.
#[derive(Debug, Clone, Copy, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct VarSumCode2019 {}

/// Entropy of the mean less the mean entropy.
#[derive(Debug, Clone, Copy, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MutualInformation {}

/// Mean entropy over passes divided by the number of classes, as the published code.
#[derive(Debug, Clone, Copy, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AleatoricEntropyCode2019 {}

/// Moments of the probabilities over the passes.
struct Moments {
    /// Mean of each class, `[classes, pixels]`.
    mean: Vec<f64>,
    /// Σ over classes of the variance, per pixel.
    variance: Vec<f64>,
    /// Mean entropy over passes, per pixel.
    entropy: Vec<f64>,
}

impl Moments {
    fn of(output: &Output<'_>) -> Moments {
        let (n, share) = (output.pixels(), 1.0 / output.passes as f64);
        let mut p = vec![0.0_f32; output.classes * n];
        let (mut mean, mut square) = (vec![0.0; p.len()], vec![0.0; p.len()]);
        let (mut entropy, mut one) = (vec![0.0; n], vec![0.0_f32; n]);
        for pass in 0..output.passes {
            probabilities(output.pass(pass), n, 1.0, &mut p);
            for ((&p, mean), square) in p.iter().zip(&mut mean).zip(&mut square) {
                *mean += share * f64::from(p);
                *square += share * f64::from(p).powi(2);
            }
            map(output.pass(pass), 1.0, &mut one, |s| s.entropy());
            entropy.iter_mut().zip(&one).for_each(|(sum, &h)| *sum += share * f64::from(h));
        }
        let mut variance = vec![0.0; n];
        for (i, (mean, square)) in mean.iter().zip(&square).enumerate() {
            variance[i % n] += (square - mean * mean).max(0.0);
        }
        Moments { mean, variance, entropy }
    }

    fn information(&self, pixel: usize) -> f64 {
        let n = self.entropy.len();
        let whole: f64 = self.mean.iter().skip(pixel).step_by(n).map(|&p| surprisal(p)).sum();
        (whole - self.entropy[pixel]).max(0.0)
    }
}

/// The score of a pixel, given the moments, its number and the number of classes.
type Score = fn(&Moments, usize, f64) -> f64;

macro_rules! of_passes {
    ($type:ty, $score:expr) => {
        impl PixelScorer for $type {
            fn score(&self, output: &Output<'_>, scores: &mut [f32]) {
                let (moments, of): (Moments, Score) = (Moments::of(output), $score);
                let classes = output.classes as f64;
                scores.iter_mut().enumerate().for_each(|(i, score)| *score = of(&moments, i, classes) as f32);
            }
        }

        impl PixelMethod for $type {
            fn needs(&self) -> Needs {
                Needs { passes: true, ..Needs::default() }
            }

            fn begin(&self) -> Box<dyn Fitting> {
                Box::new(Ready(*self))
            }
        }
    };
}

of_passes!(VarSum, |m, i, _| m.variance[i]);
of_passes!(VarSumCode2019, |m, i, k| (400.0 * m.variance[i] / k).min(1.0));
of_passes!(MutualInformation, |m, i, _| m.information(i));
of_passes!(AleatoricEntropyCode2019, |m, i, k| m.entropy[i] / k);

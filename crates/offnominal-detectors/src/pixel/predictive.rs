//! One prediction from several random passes: the mean over passes, of probabilities or of logits.

use super::Output;
use super::softmax::{argmax, probabilities};
use std::borrow::Cow;

/// Logits of one prediction, `[classes, pixels]`, and the temperature by which they are still to be divided.
pub(super) struct Predictive<'a> {
    pub logits: Cow<'a, [f32]>,
    pub temperature: f32,
}

impl Output<'_> {
    /// Logits whose softmax is the mean over passes of softmax(z / T): their entropy is the predictive one.
    pub(super) fn predictive(&self, temperature: f32) -> Predictive<'_> {
        if self.passes == 1 {
            return Predictive { logits: Cow::Borrowed(self.logits), temperature };
        }
        let (n, share) = (self.pixels(), 1.0 / self.passes as f64);
        let mut mean = vec![0.0_f64; self.classes * n];
        let mut p = vec![0.0; mean.len()];
        for pass in 0..self.passes {
            probabilities(self.pass(pass), n, temperature, &mut p);
            mean.iter_mut().zip(&p).for_each(|(mean, &p)| *mean += share * f64::from(p));
        }
        let least = f64::from(f32::MIN_POSITIVE);
        let logits = mean.into_iter().map(|p| p.max(least).ln() as f32).collect();
        Predictive { logits, temperature: 1.0 }
    }

    /// The mean over passes of the logits, `[classes, pixels]`, for scores that do not read probabilities.
    pub(super) fn mean_logits(&self) -> Cow<'_, [f32]> {
        if self.passes == 1 {
            return Cow::Borrowed(self.logits);
        }
        let mut mean = vec![0.0; self.classes * self.pixels()];
        let share = 1.0 / self.passes as f32;
        for pass in 0..self.passes {
            mean.iter_mut().zip(self.pass(pass)).for_each(|(mean, z)| *mean += share * z);
        }
        Cow::Owned(mean)
    }

    /// The predicted class of each pixel: the most probable one of the mean over passes, the first of equals.
    pub fn prediction(&self) -> Vec<u8> {
        argmax(&self.predictive(1.0).logits, self.pixels())
    }
}

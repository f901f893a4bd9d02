//! The mean normalised score at one magnitude, sharpened by the nominal episodes with the same seeds.
//!
//! With sᵢ the score of episode i at the magnitude, s⁰ᵢ its nominal score, and c the mean of all N nominal scores, the
//! regression estimate on n ≤ N shared episodes is
//!
//! f = (s̄ − β (s̄⁰ − c)) / c,   β = cov(s, s⁰) / var(s⁰),
//!
//! se² = (var(s − β s⁰) / n + (β − f)² var(s⁰) / N) / c² + (1 / 2n)².
//!
//! Near the neutral magnitude β → 1 and f is the paired difference; far from it β → 0 and f the plain mean. Dividing
//! by c makes the undisturbed score exactly 1. The last term stands for failures too rare to be in the sample: n equal
//! scores do not prove that there is no spread.
//! Reference: Owen, Monte Carlo Theory, Methods and Examples, 2013, section 8.9 (control variates).

use crate::Level;
use crate::mean::moments;
use offnominal_core::estimate::Estimate;

/// A mean score with its standard error.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Score {
    pub value: f64,
    pub error: f64,
    pub n: usize,
}

impl Score {
    /// The estimate from the scores of the first episodes, and the nominal scores of all.
    pub fn new(scores: &[f64], nominal: &[f64]) -> Score {
        let (n, shared) = (scores.len() as f64, &nominal[..scores.len()]);
        let (all_mean, all_variance) = moments(nominal);
        let slope = slope(scores, shared);
        let rest: Vec<f64> = scores.iter().zip(shared).map(|(s, s0)| s - slope * (s0 - all_mean)).collect();
        let (mean, variance) = moments(&rest);
        let value = mean / all_mean;
        let of_nominal = (slope - value).powi(2) * all_variance / nominal.len() as f64;
        let error = (variance / n + of_nominal) / all_mean.powi(2) + (0.5 / n).powi(2);
        Score { value, error: error.sqrt(), n: scores.len() }
    }

    /// Half the width of the interval.
    pub fn half(&self, level: Level) -> f64 {
        level.t(self.n.saturating_sub(2)) * self.error
    }

    pub fn estimate(&self, level: Level) -> Estimate {
        let half = self.half(level);
        level.estimate(self.value, (self.value - half, self.value + half), self.n, "paired-regression")
    }
}

fn slope(scores: &[f64], nominal: &[f64]) -> f64 {
    let ((mean, _), (mean0, variance0)) = (moments(scores), moments(nominal));
    let products: f64 = scores.iter().zip(nominal).map(|(s, s0)| (s - mean) * (s0 - mean0)).sum();
    let degrees = (scores.len() as f64 - 1.0).max(1.0);
    if variance0 > 0.0 { products / degrees / variance0 } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use offnominal_core::Rng;

    #[test]
    fn a_constant_loss_is_found_whatever_the_spread_of_the_episodes() {
        let mut rng = Rng::new(1);
        let nominal: Vec<f64> = (0..200).map(|_| 1.0 + 0.3 * rng.normal()).collect();
        let (mean, _) = moments(&nominal);
        let scores: Vec<f64> = nominal[..50].iter().map(|s| s / mean - 0.05).map(|s| s * mean).collect();
        let found = Score::new(&scores, &nominal);
        assert!((found.value - 0.95).abs() < 1e-9 && found.error < 0.011, "{found:?}");
    }

    #[test]
    fn the_interval_covers_with_strong_weak_and_no_correlation() {
        for correlation in [0.0, 0.5, 0.98_f64] {
            let covers = |seed: u64| {
                let mut rng = Rng::new(seed);
                let nominal: Vec<f64> = (0..100).map(|_| 1.0 + 0.2 * rng.normal()).collect();
                let noise = 0.2 * (1.0 - correlation * correlation).sqrt();
                let score = |s0: &f64| 0.8 + correlation * (s0 - 1.0) + noise * rng.normal();
                let scores: Vec<f64> = nominal[..40].iter().map(score).collect();
                Score::new(&scores, &nominal).estimate(Level::P95).covers(0.8)
            };
            let covered = (0..500).filter(|&seed| covers(seed)).count();
            // Where almost all noise cancels, the allowance for rare failures is larger than what is left.
            let most = if correlation > 0.9 { 500 } else { 495 };
            assert!((460..=most).contains(&covered), "{correlation}: {covered} of 500");
        }
    }
}

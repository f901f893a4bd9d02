//! What a method gains over counting, by runs that were repeated, against an independent truth.
//!
//! Replicates are estimates of the same number from experiments that do not depend on one another. Counting at the same
//! cost c has the variance p (1 − p) / c, with p from other, plain episodes; the *gain* is that variance over the one of
//! the replicates. Its interval puts together that of the replicates' logarithm, by resampling them, and that of p (1 − p),
//! so that it knows how uncertain both are.
//!
//! A single run cannot say this: it knows the weights of the failures that it happened to see, and not those that it
//! missed.
//!
//! Assumes: replicates are independent, of one another and of the truth. Blind to: heavy terms that no replicate has; where
//! few terms make up most of the variance, or replicates have only about two failures each, the interval of the gain is too
//! narrow (.92 in place of .95 in the second case).
//! Reference: variance times cost is the efficiency of L'Ecuyer, "Efficiency improvement and variance reduction", 1994;
//! the share that is off by more than a factor is that of Uesato et al. (2018), figures 1 and 3; Zou and Donner, Statistics in
//! Medicine 27(10), 2008.

use anyhow::{Result, ensure};
use offnominal_core::Seed;
use offnominal_core::estimate::Estimate;
use offnominal_stats::Level;
use offnominal_stats::bootstrap::{Bootstrap, Range};
use offnominal_stats::proportion::clopper_pearson;

/// Bootstrap draws behind an interval.
const DRAWS: usize = 2000;

/// An estimate from a part of a long run.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Replicate {
    /// The failure probability.
    pub estimate: f64,
    /// What it cost, in plain episodes.
    pub cost: f64,
}

/// Plain episodes that the replicates do not know.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Known {
    /// Those that failed.
    pub failures: usize,
    /// All of them.
    pub episodes: usize,
}

impl Known {
    /// The share that failed.
    pub fn p(self) -> f64 {
        self.failures as f64 / self.episodes as f64
    }
}

/// Variance of counting over that of the replicates, at the same cost: above 1 the method saves episodes.
///
/// # Errors
/// If there are fewer than 20 replicates, fewer than 10 failures in the truth, or all replicates are the same.
pub fn gain(replicates: &[Replicate], truth: Known, level: Level, seed: Seed) -> Result<Estimate> {
    ensure!(replicates.len() >= 20, "gain: expected at least 20 replicates, found {}", replicates.len());
    ensure!(
        truth.failures >= 10,
        "gain: expected at least 10 failures in the truth, found {}",
        truth.failures
    );
    let differ = replicates.iter().any(|r| r.estimate != replicates[0].estimate);
    ensure!(differ, "gain: expected a variance of the replicates above 0, found 0");
    let n = replicates.len();
    let plan = Bootstrap::new(DRAWS, level, seed);
    let [own] = plan.estimates("gain", n, [Range::Real], |weights| Some([-ln_work(replicates, weights)?]))?;
    let counting = clopper_pearson(truth.failures, truth.episodes, level)?;
    let [value, low, high] = [counting.value, counting.low, counting.high].map(|p| (p * (1.0 - p)).ln());
    // Limits of a sum of two independent estimates (Zou and Donner).
    let down = (own.value - own.low).hypot(value - low);
    let up = (own.high - own.value).hypot(high - value);
    let centre = own.value + value;
    Ok(level.estimate(centre.exp(), ((centre - down).exp(), (centre + up).exp()), n, "bca-bootstrap"))
}

/// Logarithm of variance times cost, each replicate taken as often as its weight says; nothing without a variance.
fn ln_work(replicates: &[Replicate], weights: &[u32]) -> Option<f64> {
    let n: f64 = weights.iter().map(|&w| f64::from(w)).sum();
    let mean = |of: &dyn Fn(&Replicate) -> f64| {
        replicates.iter().zip(weights).map(|(r, &w)| f64::from(w) * of(r)).sum::<f64>() / n
    };
    let centre = mean(&|r| r.estimate);
    let variance = mean(&|r| (r.estimate - centre).powi(2)) * n / (n - 1.0);
    (variance > 0.0).then(|| variance.ln() + mean(&|r| r.cost).ln())
}

/// The share of replicates that are off by more than a factor.
///
/// # Errors
/// If there is no replicate.
pub fn off(replicates: &[Replicate], p: f64, factor: f64, level: Level) -> Result<Estimate> {
    let is_off = |r: &&Replicate| r.estimate < p / factor || r.estimate > p * factor;
    Ok(clopper_pearson(replicates.iter().filter(is_off).count(), replicates.len(), level)?)
}

/// The mean of the replicates and its standard error.
pub fn centre(replicates: &[Replicate]) -> (f64, f64) {
    (mean(replicates.iter().map(|r| r.estimate)), (variance(replicates) / replicates.len() as f64).sqrt())
}

fn mean(values: impl ExactSizeIterator<Item = f64>) -> f64 {
    let n = values.len() as f64;
    values.sum::<f64>() / n
}

fn variance(replicates: &[Replicate]) -> f64 {
    let centre = mean(replicates.iter().map(|r| r.estimate));
    let squares: f64 = replicates.iter().map(|r| (r.estimate - centre).powi(2)).sum();
    squares / (replicates.len() as f64 - 1.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use offnominal_core::Rng;

    const P: f64 = 0.05;

    fn count(n: usize, rng: &mut Rng) -> usize {
        (0..n).filter(|_| rng.uniform() < P).count()
    }

    /// Replicates of plain counting.
    fn replicates(n: usize, rng: &mut Rng) -> Vec<Replicate> {
        (0..n).map(|_| Replicate { estimate: count(800, rng) as f64 / 800.0, cost: 800.0 }).collect()
    }

    #[test]
    fn counting_gains_nothing_and_its_interval_says_so() {
        let covers = |seed: u64| {
            let rng = &mut Rng::new(seed);
            let (runs, known) =
                (replicates(200, rng), Known { failures: count(20_000, rng), episodes: 20_000 });
            gain(&runs, known, Level::P95, Seed(seed)).unwrap().covers(1.0)
        };
        let held = (0..40).filter(|&seed| covers(seed)).count();
        assert!(held >= 34, "{held} of 40 intervals of 95 % hold the truth");
    }

    #[test]
    fn too_little_is_refused() {
        let few = [Replicate { estimate: 0.1, cost: 1.0 }; 30];
        let gain = |n: usize, failures| {
            let known = Known { failures, episodes: 1000 };
            gain(&few[..n], known, Level::P95, Seed(1)).unwrap_err().to_string()
        };
        assert!(gain(19, 50).contains("replicates"), "{}", gain(19, 50));
        assert!(gain(30, 9).contains("failures in the truth"), "{}", gain(30, 9));
        assert!(gain(30, 50).contains("variance"), "{}", gain(30, 50));
        let known = Known { failures: 50, episodes: 1000 };
        assert!((known.p() - P).abs() < 1e-12 && off(&few, 0.1, 1.5, Level::P95).unwrap().value == 0.0);
    }
}

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

use super::Refusal;
use crate::bootstrap::{Bootstrap, Range};
use crate::proportion::clopper_pearson;
use crate::{Level, StatsError};
use offnominal_core::Seed;
use offnominal_core::estimate::Estimate;

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
pub struct Truth {
    /// Those that failed.
    pub failures: usize,
    /// All of them.
    pub episodes: usize,
}

impl Truth {
    /// The share that failed.
    pub fn p(self) -> f64 {
        self.failures as f64 / self.episodes as f64
    }
}

/// Variance of counting over that of the replicates, at the same cost: above 1 the method saves episodes.
///
/// # Errors
/// If there are fewer than 20 replicates, fewer than 10 failures in the truth, or all replicates are the same.
pub fn gain(replicates: &[Replicate], truth: Truth, level: Level, seed: Seed) -> Result<Estimate, Refusal> {
    StatsError::require("gain", 20, "replicates", replicates.len())?;
    StatsError::require("gain", 10, "failures in the truth", truth.failures)?;
    let differ = replicates.iter().any(|r| r.estimate != replicates[0].estimate);
    StatsError::within(differ, "variance of the replicates", "above 0", 0.0)?;
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
pub fn off(replicates: &[Replicate], p: f64, factor: f64, level: Level) -> Result<Estimate, Refusal> {
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
    use super::super::toy::{Toy, assert_covers};
    use super::*;
    use offnominal_core::Rng;

    /// Replicates of plain counting, or of draws that are tried in proportion to the root of their chance to fail.
    fn replicates(toy: Toy, n: usize, is_guided: bool, rng: &mut Rng) -> Vec<Replicate> {
        const DRAWS: usize = 800;
        let one = |_| {
            let (mut sum, mut tried) = (0.0, 0);
            for _ in 0..DRAWS {
                let x = rng.uniform();
                let chance = if is_guided { (toy.chance(x) / toy.height).sqrt() } else { 1.0 };
                if rng.uniform() < chance {
                    tried += 1;
                    sum += f64::from(toy.fails(x, rng)) / chance;
                }
            }
            Replicate { estimate: sum / DRAWS as f64, cost: f64::from(tried) }
        };
        (0..n).map(one).collect()
    }

    fn truth(toy: Toy, rng: &mut Rng) -> Truth {
        let fails = |_: &u32| rng.uniform() < toy.p();
        Truth { failures: (0..20_000).filter(fails).count(), episodes: 20_000 }
    }

    #[test]
    fn counting_gains_nothing_and_its_interval_says_so() {
        let toy = Toy { height: 0.05, decay: 2.0 };
        assert_covers(1.0, |rng| {
            let (runs, truth) = (replicates(toy, 200, false, rng), truth(toy, rng));
            gain(&runs, truth, Level::P95, Seed(rng.bits())).unwrap()
        });
    }

    #[test]
    fn a_perfect_predictor_gains_what_theory_says() {
        let toy = Toy { height: 0.05, decay: 4.0 };
        // The share of draws that are tried is their cost, E a; and E (C / a)² = E C / a = height · E a.
        let (p, share) = (toy.p(), (1.0 - (-2.0_f64).exp()) / 2.0);
        let theory = p * (1.0 - p) / (share * (toy.height * share - p * p));
        assert!(theory > 1.25, "{theory}");
        assert_covers(theory, |rng| {
            let (runs, truth) = (replicates(toy, 200, true, rng), truth(toy, rng));
            gain(&runs, truth, Level::P95, Seed(rng.bits())).unwrap()
        });
    }

    #[test]
    fn counting_is_off_as_often_as_its_law_says() {
        let toy = Toy { height: 0.05, decay: 2.0 };
        let exact = super::super::budget::miss(toy.p(), 1.5, 800).unwrap();
        assert_covers(exact, |rng| off(&replicates(toy, 60, false, rng), toy.p(), 1.5, Level::P95).unwrap());
    }

    #[test]
    fn too_little_is_refused() {
        let few = [Replicate { estimate: 0.1, cost: 1.0 }; 30];
        let gain = |n: usize, failures| {
            let truth = Truth { failures, episodes: 1000 };
            gain(&few[..n], truth, Level::P95, Seed(1)).unwrap_err().to_string()
        };
        assert!(gain(19, 50).contains("replicates"), "{}", gain(19, 50));
        assert!(gain(30, 9).contains("failures in the truth"), "{}", gain(30, 9));
        assert!(gain(30, 50).contains("variance"), "{}", gain(30, 50));
    }
}

//! Plain counting of failures.
//!
//! | function      | interval                         | valid                                     |
//! |---------------|----------------------------------|-------------------------------------------|
//! | [`planned`]   | Clopper and Pearson              | if the number of episodes was fixed before |
//! | [`sequence`]  | a Beta mixture of likelihood ratios | at every number of episodes at once, so one may stop at any |
//!
//! With k failures in n episodes the mixture is M(p) = B(k + ½, n − k + ½) / (B(½, ½) pᵏ (1 − p)ⁿ⁻ᵏ). At the true p it
//! is a martingale that begins at 1, so it ever reaches 1 / α with probability α at most (Ville); the interval is where
//! it has not. No failure seen gives the upper end alone.
//!
//! Reference: Robbins, "Statistical methods related to the law of the iterated logarithm", Annals of Mathematical
//! Statistics 41(5), 1970, with the Beta prior of Krichevsky and Trofimov (1981).

use super::Refusal;
use super::crossing::crossing;
use crate::proportion::clopper_pearson;
use crate::{Level, StatsError};
use offnominal_core::estimate::Estimate;
use statrs::function::beta::ln_beta;

/// The failure probability after a number of episodes that was fixed before the first.
///
/// # Errors
/// If there are no episodes.
///
/// # Panics
/// If there are more failures than episodes.
pub fn planned(failures: usize, episodes: usize, level: Level) -> Result<Estimate, Refusal> {
    Ok(clopper_pearson(failures, episodes, level)?)
}

/// The failure probability after any number of episodes, whatever made one stop.
///
/// # Errors
/// If there are no episodes.
///
/// # Panics
/// If there are more failures than episodes.
pub fn sequence(failures: usize, episodes: usize, level: Level) -> Result<Estimate, Refusal> {
    assert!(failures <= episodes, "{failures} failures in {episodes} episodes");
    StatsError::require("failure probability", 1, "episodes", episodes)?;
    let (k, n) = (failures as f64, episodes as f64);
    let evidence = ln_beta(k + 0.5, n - k + 0.5) - ln_beta(0.5, 0.5);
    let limit = -(2.0 * level.tail()).ln();
    let term = |count: f64, log: f64| if count == 0.0 { 0.0 } else { count * log };
    let is_inside = |p: f64| evidence - term(k, p.ln()) - term(n - k, (-p).ln_1p()) < limit;
    let share = k / n;
    let low = if failures == 0 { 0.0 } else { crossing(0.0, share, is_inside).0 };
    let high = if failures == episodes { 1.0 } else { crossing(share, 1.0, |p| !is_inside(p)).1 };
    Ok(level.estimate(share, (low, high), episodes, "beta-binomial-sequence"))
}

#[cfg(test)]
mod tests {
    use super::super::toy::{assert_covers, repetitions};
    use super::*;
    use offnominal_core::Rng;

    #[test]
    fn no_failure_gives_an_upper_bound() {
        // M(p) = B(½, n + ½) / (π (1 − p)ⁿ) = 1 / α in closed form.
        let found = sequence(0, 1000, Level::P95).unwrap();
        let want = 1.0 - (0.05 * ln_beta(0.5, 1000.5).exp() / std::f64::consts::PI).powf(1e-3);
        assert!(found.low == 0.0 && (found.high - want).abs() < 1e-9, "{found:?} {want}");
        assert!(found.high > planned(0, 1000, Level::P95).unwrap().high);
    }

    #[test]
    fn all_failures_mirror_none() {
        let (none, all) = (sequence(0, 50, Level::P95).unwrap(), sequence(50, 50, Level::P95).unwrap());
        assert!((none.high + all.low - 1.0).abs() < 1e-9 && all.high == 1.0);
    }

    /// Looks after each power of two and stops as soon as the interval excludes the truth: the worst that one can do.
    fn misses(interval: fn(usize, usize, Level) -> Result<Estimate, Refusal>, p: f64, rng: &mut Rng) -> bool {
        let (mut failures, mut n) = (0, 0);
        (0..13).any(|power| {
            while n < 1 << power {
                failures += usize::from(rng.uniform() < p);
                n += 1;
            }
            !interval(failures, n, Level::P95).unwrap().covers(p)
        })
    }

    #[test]
    fn looking_again_and_again_is_allowed() {
        let share = |interval, p| {
            let n = repetitions();
            (0..n as u64).filter(|&i| misses(interval, p, &mut Rng::new(i))).count() as f64 / n as f64
        };
        for p in [1e-2, 1e-3, 0.3] {
            assert!(share(sequence, p) <= 0.05, "{p}");
        }
        // The law bites: the interval of a planned number does not survive it.
        assert!(share(planned, 0.3) > 0.1);
    }

    #[test]
    fn rare_failures_are_covered() {
        for p in [1e-2, 1e-4, 1e-6] {
            let episodes = (8.0 / p) as usize;
            assert_covers(p, |rng| planned(binomial(episodes, p, rng), episodes, Level::P95).unwrap());
            assert_covers(p, |rng| sequence(binomial(episodes, p, rng), episodes, Level::P95).unwrap());
        }
    }

    /// Counts failures by the gaps between them.
    fn binomial(n: usize, p: f64, rng: &mut Rng) -> usize {
        let (mut at, mut found) = (0.0, 0);
        loop {
            at += ((1.0 - rng.uniform()).ln() / (-p).ln_1p()).floor() + 1.0;
            if at > n as f64 {
                return found;
            }
            found += 1;
        }
    }
}

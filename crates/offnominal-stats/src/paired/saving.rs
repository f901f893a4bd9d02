//! What pairs save: how far both outcomes of a pair go together.
//!
//! ```text
//! ratio = Var(Z − Y) / (Var Y + Var Z)
//! ```
//!
//! An interval of a difference is as wide with n pairs as with n / ratio episodes of each policy on seeds of their own,
//! in the first order. With equal variances the ratio is 1 − ρ, where ρ is Pearson's correlation of Y and Z: 60 % of
//! the episodes needs ρ ≥ 0.4. Both have a bootstrap interval over pairs, for a planned number of them: they are a
//! description, and nothing is decided by them.
//!
//! Reference: Glasserman, "Monte Carlo Methods in Financial Engineering", 2003, section 4.3 (common random numbers).

use crate::bootstrap::{Bootstrap, Range};
use crate::{Level, StatsError};
use offnominal_core::Seed;
use offnominal_core::estimate::Estimate;
use serde::Serialize;

/// Draws of the bootstrap.
const REPLICATES: usize = 500;

/// What pairs save.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Saving {
    /// Pearson's correlation of both outcomes of a pair.
    pub correlation: Estimate,
    /// Pairs, as a share of the independent episodes of each policy whose interval would be as wide.
    pub ratio: Estimate,
}

/// What pairs of outcomes saved.
///
/// # Errors
/// If the lengths differ, there are fewer than two pairs, or the outcomes of one policy are all the same.
pub fn saving(old: &[f64], new: &[f64], level: Level, seed: Seed) -> Result<Saving, StatsError> {
    StatsError::same_length("pairs", old.len(), new.len())?;
    let statistic = |weights: &[u32]| statistic(old, new, weights);
    let plan = Bootstrap::new(REPLICATES, level, seed);
    let [correlation, ratio] =
        plan.estimates("correlation of pairs", old.len(), [Range::Real; 2], statistic)?;
    Ok(Saving { correlation, ratio })
}

fn statistic(old: &[f64], new: &[f64], weights: &[u32]) -> Option<[f64; 2]> {
    let total: f64 = weights.iter().map(|&w| f64::from(w)).sum();
    let mean =
        |values: &[f64]| values.iter().zip(weights).map(|(v, &w)| v * f64::from(w)).sum::<f64>() / total;
    let (mo, mn) = (mean(old), mean(new));
    let [mut oo, mut nn, mut on] = [0.0; 3];
    for ((o, n), &w) in old.iter().zip(new).zip(weights) {
        let (o, n, w) = (o - mo, n - mn, f64::from(w));
        (oo, nn, on) = (oo + w * o * o, nn + w * n * n, on + w * o * n);
    }
    // What differs by rounding alone does not vary.
    let varies = |squares: f64, mean: f64| squares > 1e-18 * total * mean * mean;
    (varies(oo, mo) && varies(nn, mn)).then(|| [on / (oo * nn).sqrt(), (oo + nn - 2.0 * on) / (oo + nn)])
}

#[cfg(test)]
mod tests {
    use super::*;
    use offnominal_core::Rng;

    #[test]
    fn half_of_the_randomness_in_common_halves_the_pairs() {
        let mut rng = Rng::new(1);
        let common: Vec<f64> = (0..2000).map(|_| rng.normal()).collect();
        let mut one = || common.iter().map(|c| c + rng.normal()).collect::<Vec<f64>>();
        let found = saving(&one(), &one(), Level::P95, Seed(0)).unwrap();
        assert!(found.correlation.covers(0.5) && found.ratio.covers(0.5), "{found:?}");
        assert!(found.ratio.high - found.ratio.low < 0.1);
    }

    #[test]
    fn the_same_outcomes_need_no_pairs_and_constant_ones_say_nothing() {
        let y: Vec<f64> = (0..40).map(f64::from).collect();
        let found = saving(&y, &y, Level::P95, Seed(0)).unwrap();
        assert!(found.ratio.value.abs() < 1e-12 && (found.correlation.value - 1.0).abs() < 1e-12);
        assert!(saving(&y, &[0.1; 40], Level::P95, Seed(0)).is_err());
        assert!(saving(&y, &y[1..], Level::P95, Seed(0)).is_err());
    }
}

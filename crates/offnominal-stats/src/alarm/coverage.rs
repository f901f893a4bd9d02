//! Realised false alarms of every rule over random splits of nominal episodes.
//!
//! In each split so many episodes, drawn without replacement, set the threshold, and the others are watched. The mean
//! share of watched episodes with an alarm, over all splits, is what a rule that promises at most α must keep at α.
//! The interval holds the middle 95 % of the splits: what one calibration may get, not how well the mean is known.

use crate::bootstrap::nearest_rank;
use crate::{Level, Rule, StatsError, Threshold};
use offnominal_core::Seed;
use offnominal_core::estimate::Estimate;

/// How episodes are split.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Splits {
    /// Episodes that set a threshold.
    pub calibration: usize,
    /// How often they are drawn.
    pub n: usize,
    /// Of the draws.
    pub seed: Seed,
}

/// The realised share of nominal episodes with an alarm, at the threshold of one rule.
///
/// # Errors
/// If a score is not finite, the rule cannot work with so few episodes, or none is left to be watched.
pub fn coverage<E: AsRef<[f64]>>(nominal: &[E], rule: Rule, splits: &Splits) -> Result<Estimate, StatsError> {
    let watched = nominal.len().saturating_sub(splits.calibration);
    StatsError::require("coverage", splits.calibration + 1, "nominal episodes", nominal.len())?;
    StatsError::require("coverage", 1, "splits", splits.n)?;
    let mut shares = Vec::with_capacity(splits.n);
    for i in 0..splits.n {
        shares.push(share(nominal, rule, splits.calibration, splits.seed.child(i))?);
    }
    shares.sort_unstable_by(f64::total_cmp);
    let (mean, level) = (shares.iter().sum::<f64>() / splits.n as f64, Level::P95);
    let ends = (nearest_rank(&shares, level.tail()), nearest_rank(&shares, 1.0 - level.tail()));
    Ok(level.estimate(mean, ends, watched, "split-percentile"))
}

/// Share of alarms among the episodes that did not set the threshold, in one split.
fn share<E: AsRef<[f64]>>(
    nominal: &[E],
    rule: Rule,
    calibration: usize,
    seed: Seed,
) -> Result<f64, StatsError> {
    let mut order: Vec<usize> = (0..nominal.len()).collect();
    seed.rng().shuffle(&mut order);
    let of = |part: &[usize]| part.iter().map(|&i| nominal[i].as_ref()).collect::<Vec<&[f64]>>();
    let (set, watched) = (of(&order[..calibration]), of(&order[calibration..]));
    let threshold: Threshold = rule.threshold(&set, Level::P95)?;
    Ok(watched.iter().filter(|e| threshold.alarms(e)).count() as f64 / watched.len() as f64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Promise;
    use offnominal_core::Rng;

    const ALPHA: f64 = 0.1;

    /// Nominal episodes of different lengths: a start-up transient, a level of their own, autocorrelated, skewed scores.
    fn nominal(n: usize, rng: &mut Rng) -> Vec<Vec<f64>> {
        let mut episode = || {
            let (level, len, mut x) = (0.5 * rng.normal(), 20 + rng.below(20), 0.0);
            let mut score = |t: usize| {
                x = 0.8 * x + rng.normal();
                (0.3 * x + level).exp() + 3.0 * (-(t as f64) / 5.0).exp()
            };
            (0..len).map(&mut score).collect::<Vec<f64>>()
        };
        (0..n).map(|_| episode()).collect()
    }

    /// Mean realised share over fresh pools of episodes, each split once, and the standard error of the mean.
    fn realised(rule: Rule) -> (f64, f64) {
        let pools = if std::env::var_os("RUN_SLOW_TESTS").is_some() { 4000 } else { 200 };
        let one = |i: u64| {
            let pool = nominal(49 + 25, &mut Seed(i).child("pool").rng());
            coverage(&pool, rule, &Splits { calibration: 49, n: 1, seed: Seed(i) }).unwrap().value
        };
        let shares: Vec<f64> = (0..pools).map(one).collect();
        let mean = shares.iter().sum::<f64>() / pools as f64;
        let variance = shares.iter().map(|s| (s - mean).powi(2)).sum::<f64>() / (pools as f64 - 1.0);
        (mean, (variance / pools as f64).sqrt())
    }

    #[test]
    fn every_rule_with_a_promise_keeps_it() {
        let keeps = |rule: Rule| {
            let (mean, error) = realised(rule);
            mean <= ALPHA + 3.0 * error && mean > 0.5 * ALPHA
        };
        for rule in [
            Rule::Conformal(Promise::on_average(ALPHA)),
            Rule::Band(Promise::on_average(ALPHA)),
            Rule::Cusum(Promise::on_average(ALPHA)),
            Rule::Martingale(Promise::on_average(ALPHA)),
        ] {
            assert!(keeps(rule), "{}: {:?}", rule.id(), realised(rule));
        }
        // The law bites: a rule that counts steps instead of episodes does not.
        assert!(!keeps(Rule::Q95));
    }

    #[test]
    fn a_pool_is_split_again_and_again() {
        let pool = nominal(80, &mut Rng::new(1));
        let splits = Splits { calibration: 40, n: 200, seed: Seed(2) };
        let found = coverage(&pool, Rule::Conformal(Promise::on_average(ALPHA)), &splits).unwrap();
        assert!(found.value <= ALPHA && found.low <= found.value && found.high > found.value, "{found:?}");
        assert_eq!(found, coverage(&pool, Rule::Conformal(Promise::on_average(ALPHA)), &splits).unwrap());
        let error =
            coverage(&pool, Rule::Max, &Splits { calibration: 80, ..splits }).unwrap_err().to_string();
        assert_eq!(error, "coverage: expected at least 81 nominal episodes, found 80");
    }
}

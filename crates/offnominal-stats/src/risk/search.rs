//! What finding one failure costs, in experiments.
//!
//! | function             | number                             | assumes                                        |
//! |----------------------|------------------------------------|------------------------------------------------|
//! | [`expected_cost`]    | mean experiments to a failure, 1 / P(failure) | a chance that no experiment changes: plain draws, a fixed predictor |
//! | [`restricted_cost`]  | mean of min(cost, budget)          | searches that do not know one another; any sampler |
//! | [`times_fewer`]      | ratio of two expected costs        | as [`expected_cost`], and that neither number of searches followed from what was found |
//! | [`times_fewer_restricted`] | ratio of two restricted costs | as [`restricted_cost`]                         |
//!
//! A search that ended without a failure is not thrown away, which would make search look cheaper than it is.
//!
//! Reference: cost is that of Uesato et al. (2018), section 4.1; the ratio of rates given their sum is that of Przyborowski
//! and Wilenski, Biometrika 31, 1940; limits of a sum are those of Zou and Donner, Statistics in Medicine 27(10), 2008.

use super::bounded::Bounded;
use super::counting;
use super::refusal::Refusal;
use crate::proportion::clopper_pearson;
use crate::{Level, StatsError};
use offnominal_core::estimate::Estimate;

/// One search.
#[derive(Debug, Clone, PartialEq)]
pub struct Search {
    /// Experiments that were run.
    pub experiments: usize,
    /// Whether the last of them failed.
    pub has_failed: bool,
}

/// Mean number of experiments to the first failure; without a failure, a lower bound: ∞ with a low end.
///
/// The interval is valid for any rule to stop, so for searches that end with a failure and for those that were broken
/// off.
///
/// # Errors
/// If no experiment was run.
pub fn expected_cost(searches: &[Search], level: Level) -> Result<Estimate, Refusal> {
    let experiments = searches.iter().map(|s| s.experiments).sum();
    let failures = searches.iter().filter(|s| s.has_failed).count();
    let rate = counting::sequence(failures, experiments, level)?;
    let ends = (1.0 / rate.high, 1.0 / rate.low);
    Ok(level.estimate(1.0 / rate.value, ends, searches.len(), "inverse-beta-binomial-sequence"))
}

/// Mean of the experiments of searches that give up after `budget` of them.
///
/// # Errors
/// If there are no searches, or one had a larger budget and failed to use it: it stopped early without a failure.
pub fn restricted_cost(searches: &[Search], budget: usize, level: Level) -> Result<Estimate, Refusal> {
    StatsError::require("cost of a search", 1, "searches", searches.len())?;
    let mut costs = Bounded::new(budget as f64);
    for search in searches {
        let is_whole = search.has_failed || search.experiments >= budget;
        let (what, expected) = ("experiments of a search without failure", "the whole budget");
        StatsError::within(is_whole, what, expected, search.experiments as f64)?;
        costs.push(search.experiments.min(budget) as f64);
    }
    costs.estimate(level)
}

/// How many times fewer experiments to a failure the first searches need than the others.
///
/// Of all failures of both, those of the first are binomial: the interval of their share becomes that of the ratio. It is
/// exact where failures are rare, and too wide where they are not.
///
/// # Errors
/// If neither found a failure.
pub fn times_fewer(own: &[Search], other: &[Search], level: Level) -> Result<Estimate, Refusal> {
    let experiments = |searches: &[Search]| searches.iter().map(|s| s.experiments).sum::<usize>() as f64;
    let failures = |searches: &[Search]| searches.iter().filter(|s| s.has_failed).count();
    let both = failures(own) + failures(other);
    StatsError::require("ratio of costs", 1, "failures", both)?;
    let share = clopper_pearson(failures(own), both, level)?;
    let [value, low, high] = [share.value, share.low, share.high]
        .map(|share| share / (1.0 - share) * experiments(other) / experiments(own));
    Ok(level.estimate(value, (low, high), both, "conditional-binomial"))
}

/// How many times fewer experiments the first searches need than the others, where both give up.
pub fn times_fewer_restricted(own: &Estimate, other: &Estimate, level: Level) -> Estimate {
    let centre = (other.value / own.value).ln();
    let part = |a: f64, b: f64| (a / b).ln();
    let down = part(own.high, own.value).hypot(part(other.value, other.low));
    let up = part(own.value, own.low).hypot(part(other.high, other.value));
    let ends = ((centre - down).exp(), (centre + up).exp());
    level.estimate(centre.exp(), ends, own.n + other.n, "limits-of-a-sum")
}

#[cfg(test)]
mod tests {
    use super::super::sampler::{Outcome, Plain};
    use super::super::toy::{assert_covers, search};
    use super::*;
    use offnominal_core::Rng;

    /// Searches for a coin that falls with the given chance.
    fn searches(p: f64, n: usize, budget: usize, rng: &mut Rng) -> Vec<Search> {
        let mut fall =
            |_: &[f64], rng: &mut Rng| Outcome { failed: rng.uniform() < p, margin: None, nearest: None };
        (0..n).map(|_| search(&mut Plain, budget, &mut |_| vec![0.5], &mut fall, rng)).collect()
    }

    #[test]
    fn the_cost_is_the_inverse_of_the_chance_even_where_searches_were_broken_off() {
        assert_covers(50.0, |rng| expected_cost(&searches(0.02, 20, 60, rng), Level::P95).unwrap());
    }

    #[test]
    fn the_restricted_cost_is_a_truncated_geometric_mean() {
        // E min(T, B) = (1 − (1 − p)^B) / p.
        let mean = (1.0 - 0.98_f64.powi(60)) / 0.02;
        assert_covers(mean, |rng| restricted_cost(&searches(0.02, 60, 60, rng), 60, Level::P95).unwrap());
    }

    #[test]
    fn no_failure_is_a_lower_bound_of_the_cost() {
        let found = expected_cost(&searches(0.0, 3, 100, &mut Rng::new(1)), Level::P95).unwrap();
        assert!(found.value.is_infinite() && found.high.is_infinite() && found.low > 40.0, "{found:?}");
    }

    #[test]
    fn a_search_that_stopped_early_is_refused() {
        let message = restricted_cost(&searches(0.0, 1, 30, &mut Rng::new(1)), 60, Level::P95).unwrap_err();
        assert_eq!(
            message.to_string(),
            "experiments of a search without failure: expected the whole budget, found 30"
        );
    }

    #[test]
    fn the_ratio_of_costs_is_that_of_the_chances() {
        assert_covers(5.0, |rng| {
            let [own, other] = [searches(0.05, 20, 2000, rng), searches(0.01, 20, 2000, rng)];
            times_fewer(&own, &other, Level::P95).unwrap()
        });
        // Searches of the other kind that give up are not lost.
        assert_covers(5.0, |rng| {
            let [own, other] = [searches(0.02, 20, 60, rng), searches(0.004, 40, 60, rng)];
            times_fewer(&own, &other, Level::P95).unwrap()
        });
    }

    #[test]
    fn the_ratio_of_restricted_costs_is_that_of_their_means() {
        let mean = |p: f64| (1.0 - (1.0 - p).powi(60)) / p;
        assert_covers(mean(0.01) / mean(0.05), |rng| {
            let [own, other] =
                [0.05, 0.01].map(|p| restricted_cost(&searches(p, 60, 60, rng), 60, Level::P95).unwrap());
            times_fewer_restricted(&own, &other, Level::P95)
        });
    }

    #[test]
    fn without_a_failure_of_random_draws_the_ratio_has_a_lower_end_only() {
        let none = [Search { experiments: 1000, has_failed: false }];
        let found = times_fewer(&[Search { experiments: 10, has_failed: true }], &none, Level::P95).unwrap();
        assert!(found.low > 1.0 && found.value.is_infinite() && found.high.is_infinite(), "{found}");
        assert!(times_fewer(&none, &none, Level::P95).is_err());
    }
}

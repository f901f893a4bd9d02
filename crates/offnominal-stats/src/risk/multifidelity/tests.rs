//! Pairs with a known truth: coverage, what is saved, what is lost without a correlation, and closed forms.

use super::super::toy::repetitions;
use super::*;
use offnominal_core::Rng;

/// Outcomes of 0 and 1 that both fail with the chance p, and have a correlation.
#[derive(Clone, Copy)]
struct Law {
    p: f64,
    correlation: f64,
    per_dear: usize,
}

impl Law {
    fn push(self, pairs: &mut Multifidelity, rng: &mut Rng) {
        let fails = |chance: f64, rng: &mut Rng| f64::from(rng.uniform() < chance);
        let cheap = fails(self.p, rng);
        let chance = self.p + self.correlation * (cheap - self.p);
        let dear = fails(chance, rng);
        let fresh: Vec<f64> = (0..self.per_dear).map(|_| fails(self.p, rng)).collect();
        pairs.push(dear, cheap, &fresh);
    }

    fn of(self, n: usize, seed: u64) -> Multifidelity {
        let (mut pairs, mut rng) = (Multifidelity::new(self.per_dear), Rng::new(seed));
        (0..n).for_each(|_| self.push(&mut pairs, &mut rng));
        pairs
    }
}

#[test]
fn looking_again_and_again_is_allowed_at_any_correlation() {
    for (p, correlation) in [(0.05, 0.0), (0.1, 0.6), (0.2, 0.95)] {
        let law = Law { p, correlation, per_dear: 5 };
        let ever = |seed: u64| {
            let (mut pairs, mut rng) = (Multifidelity::new(5), Rng::new(seed));
            (1..=300).any(|n| {
                law.push(&mut pairs, &mut rng);
                n % 10 == 0 && (pairs.is_above(p, Level::P95) || pairs.is_below(p, Level::P95))
            })
        };
        let misses = (0..repetitions() as u64).filter(|&i| ever(3000 + i)).count();
        assert!(misses as f64 <= 0.05 * repetitions() as f64, "{p} {correlation}: {misses}");
    }
}

#[test]
fn as_much_is_saved_as_the_correlation_allows() {
    for (correlation, per_dear) in [(0.6, 5), (0.8, 1), (0.95, 10)] {
        let pairs = Law { p: 0.1, correlation, per_dear }.of(4000, 1);
        let found = pairs.saved(Level::P95, Seed(0)).unwrap();
        assert!((found.correlation.value - correlation).abs() < 0.05, "{found:?}");
        let most = saving(correlation, per_dear);
        assert!((found.share.value - most).abs() < 0.05, "{} {most}", found.share);
        // The estimate keeps to the truth though Z lies outside of [0, 1] at times.
        assert!(pairs.estimate(Level::P95).unwrap().covers(0.1));
    }
}

#[test]
fn little_is_lost_without_a_correlation() {
    // The mean over repetitions of Var Z / Var Y, each after 200 pairs.
    let law = Law { p: 0.1, correlation: 0.0, per_dear: 1 };
    let mean = (0..200).map(|i| law.of(200, 500 + i).ratio().unwrap()).sum::<f64>() / 200.0;
    assert!(mean < 1.03, "{mean}");
}

#[test]
fn the_interval_is_narrower_than_that_of_counting_where_simulators_agree() {
    let width = |correlation| {
        let found = Law { p: 0.1, correlation, per_dear: 5 }.of(1000, 2).estimate(Level::P95).unwrap();
        found.high - found.low
    };
    assert!(width(0.95) < 0.8 * width(0.0), "{} {}", width(0.95), width(0.0));
}

#[test]
fn without_cheap_episodes_the_bets_are_those_of_a_coefficient_of_zero() {
    let mut pairs = Multifidelity::new(1);
    (0..100).for_each(|i| pairs.push(f64::from(i % 10 == 0), 0.5, &[0.5]));
    assert_eq!(pairs.alone(Level::P95).unwrap(), pairs.estimate(Level::P95).unwrap());
}

#[test]
fn a_cheap_simulator_that_is_wrong_in_every_way_changes_no_mean() {
    // It fails three times as often, from where the high-fidelity one fails and from elsewhere, and short runs learn no good λ.
    let mut rng = Rng::new(4);
    let mut sum = 0.0;
    for _ in 0..400 {
        let mut pairs = Multifidelity::new(2);
        for _ in 0..60 {
            let (u, v) = (rng.uniform(), rng.uniform());
            let cheap = |u: f64| f64::from(u < 0.3);
            pairs.push(f64::from(u < 0.1), cheap(u), &[cheap(v), cheap(rng.uniform())]);
        }
        sum += pairs.pairs.iter().map(|pair| pair[2]).sum::<f64>() / 60.0;
    }
    // Four standard errors of the mean of 24,000 terms.
    assert!((sum / 400.0 - 0.1).abs() < 4.0 * 0.3 / 24_000.0_f64.sqrt(), "{}", sum / 400.0);
}

#[test]
fn the_ends_are_where_looks_say_they_are() {
    let pairs = Law { p: 0.2, correlation: 0.8, per_dear: 3 }.of(300, 5);
    let found = pairs.estimate(Level::P95).unwrap();
    assert!(pairs.is_above(found.low - 1e-6, Level::P95) && !pairs.is_above(found.low + 1e-6, Level::P95));
    assert!(pairs.is_below(found.high + 1e-6, Level::P95) && !pairs.is_below(found.high - 1e-6, Level::P95));
    let width = found.high - found.low;
    assert!(pairs.is_within(width + 1e-9, Level::P95) && !pairs.is_within(width - 1e-9, Level::P95));
}

#[test]
fn nothing_has_no_estimate_and_wrong_calls_are_refused() {
    let none = Multifidelity::new(1);
    assert!(none.estimate(Level::P95).is_err() && !none.is_within(1.0, Level::P95) && none.is_empty());
    let same = {
        let mut pairs = Multifidelity::new(1);
        (0..9).for_each(|_| pairs.push(0.0, 1.0, &[1.0]));
        pairs
    };
    assert!(same.saved(Level::P95, Seed(0)).is_err() && same.coefficient() == 0.0);
    assert!(std::panic::catch_unwind(|| Multifidelity::new(2).push(0.0, 0.0, &[0.0])).is_err());
    assert!(std::panic::catch_unwind(|| Multifidelity::new(1).push(2.0, 0.0, &[0.0])).is_err());
}

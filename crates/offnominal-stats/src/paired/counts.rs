//! The difference of two success rates of which only counts are known: k of n trials with each policy, in no order.
//!
//! If each trial of the shorter list is matched with one of the other at random, the capital of the gamblers of
//! [`betting`] is an e-value, and so is its mean over all matchings. The number c of pairs in which both
//! succeed is hypergeometric, so the mean is a sum over c:
//!
//! ```text
//! E(m) = Σ P(c) E(m; k₁ − c wins, k₀ − c losses)
//! ```
//!
//! With n₀ ≠ n₁ the successes of the longer list that are matched are hypergeometric too.
//!
//! Assumes: independent trials, and numbers of trials that were fixed beforehand. Unlike the capital of one matching the
//! mean is no martingale: nobody may have looked at the counts to decide when to stop.
//! Cost: a look is linear in the number of possible c.
//! Reference: Vovk and Wang, "E-values: calibration, combination and applications", Annals of Statistics 49(3), 2021,
//! section 3 (a mean of e-values is an e-value).

use super::betting::{self, Side, Terms};
use crate::Level;
use offnominal_core::estimate::Estimate;
use statrs::function::factorial::ln_binomial;

/// Matchings that are less probable are left out, which only lowers the e-value.
const RARE: f64 = 1e-9;

/// Successes and trials of each policy.
#[derive(Debug, Clone, PartialEq)]
pub struct Counts {
    difference: f64,
    pairs: u64,
    /// What matchings look like, and how probable each is.
    matchings: Vec<(f64, Terms)>,
}

impl Counts {
    /// Of (successes, trials) of the old and of the new policy.
    ///
    /// # Panics
    /// If a policy has no trials, or more successes than trials.
    pub fn new(old: (u64, u64), new: (u64, u64)) -> Counts {
        let holds = |(k, n): (u64, u64)| n > 0 && k <= n;
        assert!(holds(old) && holds(new), "expected successes in trials, found {old:?} and {new:?}");
        let pairs = old.1.min(new.1);
        let mut matchings = Vec::new();
        for (p, old) in hypergeometric(pairs, old.0, old.1) {
            for (q, new) in hypergeometric(pairs, new.0, new.1) {
                let both = hypergeometric(new, old, pairs).into_iter();
                let of = |(r, both)| (p * q * r, terms(new - both, old - both, pairs));
                matchings.extend(both.map(of).filter(|(weight, _)| *weight > RARE));
            }
        }
        let share = |(k, n): (u64, u64)| k as f64 / n as f64;
        Counts { difference: share(new) - share(old), pairs, matchings }
    }

    /// Whether the whole interval lies above m.
    pub fn is_above(&self, m: f64, level: Level) -> bool {
        betting::excludes(0.5 + 0.5 * m, Side::Above, level, |m, side| self.capital(m, side))
    }

    /// Whether the whole interval lies below m.
    pub fn is_below(&self, m: f64, level: Level) -> bool {
        betting::excludes(0.5 + 0.5 * m, Side::Below, level, |m, side| self.capital(m, side))
    }

    /// The logarithm of the e-value of the hypothesis that the difference is not on this side of m.
    pub fn evidence(&self, m: f64, side: Side) -> f64 {
        self.capital(0.5 + 0.5 * m, side)
    }

    /// The difference with its interval.
    pub fn estimate(&self, level: Level) -> Estimate {
        let middle = 0.5 + 0.5 * self.difference;
        let (low, high) = betting::ends(middle, level, |m, side| self.capital(m, side));
        let ends = (2.0 * low - 1.0, 2.0 * high - 1.0);
        level.estimate(self.difference, ends, self.pairs as usize, "betting-counts")
    }

    fn capital(&self, m: f64, side: Side) -> f64 {
        let logs = self.matchings.iter().map(|(weight, terms)| weight.ln() + terms.capital(m, side));
        let logs: Vec<f64> = logs.collect();
        betting::mean_of_logs(&logs) + (logs.len() as f64).ln()
    }
}

fn terms(wins: u64, losses: u64, pairs: u64) -> Terms {
    let mut terms = Terms::new(1.0);
    [(1.0, wins), (0.0, pairs - wins - losses), (-1.0, losses)]
        .iter()
        .for_each(|&(value, n)| terms.push_times(value, n));
    terms
}

/// How many of `drawn` out of `n` are among `k`, with the probability of each number.
fn hypergeometric(drawn: u64, k: u64, n: u64) -> Vec<(f64, u64)> {
    let all = ln_binomial(n, drawn);
    let of = |c: u64| (ln_binomial(k, c) + ln_binomial(n - k, drawn - c) - all).exp();
    let numbers = (drawn + k).saturating_sub(n)..=drawn.min(k);
    numbers.map(|c| (of(c), c)).filter(|(p, _)| *p > RARE).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use offnominal_core::Rng;

    #[test]
    fn two_trials_in_closed_form() {
        // 1/2 against 1/2: with probability ½ both successes meet, and nothing is bet; else one win and one loss.
        let counts = Counts::new((1, 2), (1, 2));
        let apart = terms(1, 1, 2).evidence(0.0, Side::Above).exp();
        let found = counts.evidence(0.0, Side::Above).exp();
        assert!((found - 0.5 * (1.0 + apart)).abs() < 1e-12, "{found} {apart}");
    }

    #[test]
    fn counts_mirror_and_decide_where_lists_do() {
        let (there, back) = (Counts::new((20, 50), (40, 50)), Counts::new((40, 50), (20, 50)));
        let (a, b) = (there.estimate(Level::P95), back.estimate(Level::P95));
        assert!((a.low + b.high).abs() < 1e-9 && (a.high + b.low).abs() < 1e-9, "{a} {b}");
        assert!((a.value - 0.4).abs() < 1e-12 && there.is_above(0.0, Level::P95));
        assert!(back.is_below(0.0, Level::P95) && !Counts::new((25, 50), (29, 50)).is_above(0.0, Level::P95));
    }

    #[test]
    fn lists_of_different_lengths_are_compared() {
        let found = Counts::new((100, 200), (38, 40));
        assert!(found.is_above(0.0, Level::P95));
        assert!((found.estimate(Level::P95).value - 0.45).abs() < 1e-12);
    }

    #[test]
    fn equal_policies_are_rarely_told_apart() {
        let mut rng = Rng::new(5);
        let mut draw = |n: u64| ((0..n).filter(|_| rng.uniform() < 0.5).count() as u64, n);
        let alarms = (0..400).filter(|_| {
            let counts = Counts::new(draw(30), draw(40));
            counts.is_above(0.0, Level::P95) || counts.is_below(0.0, Level::P95)
        });
        assert!(alarms.count() <= 20);
    }
}

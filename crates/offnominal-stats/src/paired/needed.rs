//! How many pairs decide, if differences go on as those that were seen?
//!
//! Pairs are drawn with replacement from the differences that were seen, and looked at with the capital of
//! [`betting`](super::betting) until it decides. The answer is the number after which the stated share of the draws has
//! decided. It is a plan, not an inference: it is as uncertain as the difference that it assumes.
//!
//! Cost: draws × looks × 64 × the number of different values.

use super::betting::{BETS, Side, Terms, bet, mean_of_logs};
use crate::Level;
use offnominal_core::{Rng, Seed};

/// Draws.
const DRAWS: u64 = 200;
/// A number of pairs beyond which nobody plans.
pub const MOST: u64 = 20_000;
/// One looks after this share of pairs more.
const LOOK: u64 = 25;

/// What is planned with: differences of pairs, and what is to be shown of them.
#[derive(Debug, Clone, PartialEq)]
pub struct Plan {
    /// Different differences, in order, as shares of the way from the smallest possible to the largest, with their weights.
    pub values: Vec<(f64, f64)>,
    /// The logarithm of the capital that decides.
    pub decides: f64,
    /// The share of the draws that is to decide.
    pub power: f64,
}

impl Plan {
    /// With the differences that were seen.
    pub fn of(seen: &Terms, level: Level, power: f64) -> Plan {
        let values = seen.shares().iter().map(|&(x, n)| (x, n as f64)).collect();
        Plan { values, decides: -level.tail().ln(), power }
    }

    /// With independent trials of these success rates of OLD and NEW.
    pub fn of_rates(old: f64, new: f64, level: Level, power: f64) -> Plan {
        let (wins, losses) = (new * (1.0 - old), old * (1.0 - new));
        let values = vec![(0.0, losses), (0.5, 1.0 - wins - losses), (1.0, wins)];
        Plan { values, decides: -level.tail().ln(), power }
    }

    /// The number of pairs, rounded up to two digits, as a plan is no more precise; none if more than [`MOST`] would be needed, or the mean difference is zero.
    pub fn pairs(&self, seed: Seed) -> Option<u64> {
        let weight: f64 = self.values.iter().map(|(_, w)| w).sum();
        let mean = self.values.iter().map(|(x, w)| x * w).sum::<f64>() / weight;
        if (mean - 0.5).abs() < 1e-9 {
            return None;
        }
        // Exchanged policies have the same draws, so that they need the same number.
        let mut values = self.values.clone();
        if mean < 0.5 {
            values.reverse();
            values.iter_mut().for_each(|(x, _)| *x = 1.0 - *x);
        }
        let steps: Vec<Step> =
            values.iter().map(|&(x, w)| (w / weight, steps(Side::Above.gain(x, 0.5)))).collect();
        let mut found: Vec<u64> =
            (0..DRAWS).map(|i| self.until_decided(&steps, &mut seed.child(i).rng())).collect();
        found.sort_unstable();
        let at = (self.power * DRAWS as f64).ceil() as usize - 1;
        Some(found[at]).filter(|n| *n <= MOST).map(two_digits)
    }

    /// Pairs of one draw until its capital decides.
    fn until_decided(&self, steps: &[Step], rng: &mut Rng) -> u64 {
        let (mut capitals, mut n, mut look) = ([0.0; BETS], 0, 1);
        while n < MOST {
            let step = drawn(steps, rng.uniform());
            capitals.iter_mut().zip(step).for_each(|(capital, step)| *capital += step);
            n += 1;
            if n >= look {
                look = n + 1 + n / LOOK;
                if mean_of_logs(&capitals) >= self.decides {
                    return n;
                }
            }
        }
        MOST + 1
    }
}

/// How probable a pair is, and what it adds to the logarithm of each gambler's capital.
type Step = (f64, [f64; BETS]);

fn drawn(steps: &[Step], mut at: f64) -> &[f64; BETS] {
    let found = steps.iter().find(|(weight, _)| {
        at -= weight;
        at < 0.0
    });
    &found.unwrap_or(&steps[steps.len() - 1]).1
}

fn two_digits(n: u64) -> u64 {
    let unit = 10_u64.pow(n.max(1).ilog10().saturating_sub(1));
    n.div_ceil(unit) * unit
}

fn steps(gain: f64) -> [f64; BETS] {
    std::array::from_fn(|i| (bet(i) * gain).ln_1p())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plan(wins: f64, losses: f64) -> Plan {
        let values = vec![(0.0, losses), (0.5, 1.0 - wins - losses), (1.0, wins)];
        Plan { values, decides: -Level::P95.tail().ln(), power: 0.8 }
    }

    #[test]
    fn rates_and_the_differences_that_they_give_plan_the_same() {
        let plan = Plan::of_rates(0.5, 0.75, Level::P95, 0.8);
        assert_eq!(plan.values, [(0.0, 0.125), (0.5, 0.5), (1.0, 0.375)]);
        let mut seen = Terms::new(1.0);
        [(1.0, 3), (0.0, 4), (-1.0, 1)].iter().for_each(|&(x, n)| seen.push_times(x, n));
        assert_eq!(Plan::of(&seen, Level::P95, 0.8).pairs(Seed(0)), plan.pairs(Seed(0)));
        assert_eq!([7, 99, 101, 1840].map(two_digits), [7, 99, 110, 1900]);
    }

    #[test]
    fn pairs_that_always_differ_need_as_many_as_the_closed_form() {
        // Half of 2ⁿ B(n + ½, ½) / π is 40 between seven and nine wins.
        let n = plan(1.0, 0.0).pairs(Seed(0)).unwrap();
        assert!((7..=9).contains(&n), "{n}");
    }

    #[test]
    fn smaller_differences_need_more_and_both_signs_as_many() {
        let n = |wins, losses| plan(wins, losses).pairs(Seed(0)).unwrap();
        assert!(n(0.3, 0.1) < n(0.25, 0.15) && n(0.25, 0.15) < n(0.22, 0.18));
        assert_eq!(n(0.3, 0.1), n(0.1, 0.3));
        // As many discordant pairs among twice as many pairs are twice as many pairs.
        let ratio = n(0.15, 0.05) as f64 / n(0.3, 0.1) as f64;
        assert!((1.7..2.3).contains(&ratio), "{ratio}");
    }

    #[test]
    fn no_difference_and_a_tiny_one_have_no_number() {
        assert_eq!(plan(0.2, 0.2).pairs(Seed(0)), None);
    }
}

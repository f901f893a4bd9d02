//! Means of bounded terms, by betting.
//!
//! Terms X₁, X₂, … in [0, 1] have the same mean m given those before them. A gambler who thinks that it is larger
//! than m bets b: the capital ∏ (1 + b (Xᵢ − m)) is a martingale if he is wrong, and so is the average over several
//! gamblers with bets 2⁻⁸, 2⁻⁶ … 2²⁴. It ever reaches 2 / α with probability α / 2 at most; every m at which it has
//! is excluded. The bets of those who think that m is smaller are −1 / (1 − m) at the most. The ends are found by
//! bisection, since each capital is monotone in m.
//!
//! The capital does not depend on the order of the terms, so zeros are only counted. If the terms are independent but
//! their means differ, E ∏ (1 + b (Xᵢ − m)) ≤ 1 still holds for the average m (geometric means are below arithmetic
//! ones): the interval is then valid at a planned number of terms, not at every number.
//!
//! Assumes: the bound. Blind to: nothing else; terms may be as skewed as they like.
//! Cost: an interval is linear in the number of terms that are not zero.
//! Reference: Waudby-Smith and Ramdas, "Estimating means of bounded random variables by betting", JRSS B 86(1), 2024,
//! section 5.6 (diversified Kelly betting).

use super::Refusal;
use super::crossing::crossing;
use crate::{Level, StatsError};
use offnominal_core::estimate::Estimate;

/// Number of bets: 2⁻⁸, 2⁻⁶, … 2²⁴.
const BETS: usize = 17;
/// Share of the largest allowed bet that is used, so that no capital is lost whole.
const CAUTION: f64 = 0.99;

/// Terms in [0, bound] and their mean.
///
/// ```
/// use offnominal_stats::{Level, risk::Bounded};
/// let mut terms = Bounded::new(10.0);
/// terms.push_zeros(10_000);
/// let none = terms.estimate(Level::P95).unwrap();
/// assert!(none.low == 0.0 && none.high < 0.005); // about 10 ln(2 / 0.05) / 10000
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Bounded {
    bound: f64,
    zeros: usize,
    /// Terms that are not zero, in units of the bound.
    values: Vec<f64>,
}

impl Bounded {
    /// No terms yet.
    ///
    /// # Panics
    /// If the bound is not a positive number.
    pub fn new(bound: f64) -> Bounded {
        assert!(bound > 0.0 && bound.is_finite(), "expected a positive bound, found {bound}");
        Bounded { bound, zeros: 0, values: Vec::new() }
    }

    /// One term more.
    ///
    /// # Panics
    /// If it is not in [0, bound].
    pub fn push(&mut self, term: f64) {
        let share = term / self.bound;
        assert!((0.0..=1.0 + 1e-9).contains(&share), "expected a term in [0, {}], found {term}", self.bound);
        if share == 0.0 { self.zeros += 1 } else { self.values.push(share.min(1.0)) }
    }

    /// So many terms more that are zero.
    pub fn push_zeros(&mut self, n: usize) {
        self.zeros += n;
    }

    /// How many terms there are.
    pub fn len(&self) -> usize {
        self.zeros + self.values.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The mean, with an interval that is valid at every number of terms at once.
    ///
    /// # Errors
    /// If there are no terms.
    pub fn estimate(&self, level: Level) -> Result<Estimate, Refusal> {
        StatsError::require("mean", 1, "terms", self.len())?;
        // A sum of nothing is −0, which would be printed so.
        let mean = (0.0 + self.values.iter().sum::<f64>()) / self.len() as f64;
        let limit = -level.tail().ln();
        let low = crossing(0.0, mean, |m| self.capital(m, 1.0) < limit).0;
        let high = crossing(mean, 1.0, |m| self.capital(m, -1.0) >= limit).1;
        // An end that not even the smallest positive number reaches is zero.
        let low = if low > 0.0 && self.capital(low, 1.0) >= limit { low } else { 0.0 };
        let ends = (low * self.bound, high * self.bound);
        Ok(level.estimate(mean * self.bound, ends, self.len(), "betting-sequence"))
    }

    /// Logarithm of the gamblers' mean capital if the mean were m.
    fn capital(&self, m: f64, side: f64) -> f64 {
        let most = if side > 0.0 { CAUTION / m } else { CAUTION / (1.0 - m) };
        let bet = |i: usize| 2.0_f64.powi(2 * i as i32 - 8).min(most);
        let capitals: [f64; BETS] = std::array::from_fn(|i| self.capital_of(m, side * bet(i)));
        let largest = capitals.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let mean = capitals.iter().map(|c| (c - largest).exp()).sum::<f64>() / capitals.len() as f64;
        largest + mean.ln()
    }

    fn capital_of(&self, m: f64, bet: f64) -> f64 {
        let gains: f64 = self.values.iter().map(|x| (bet * (x - m)).ln_1p()).sum();
        gains + if self.zeros == 0 { 0.0 } else { self.zeros as f64 * (-bet * m).ln_1p() }
    }
}

#[cfg(test)]
mod tests {
    use super::super::toy::assert_covers;
    use super::*;
    use offnominal_core::Rng;

    fn of(n: usize, mut term: impl FnMut() -> f64) -> Estimate {
        let mut terms = Bounded::new(1.0);
        (0..n).for_each(|_| terms.push(term()));
        terms.estimate(Level::P95).unwrap()
    }

    #[test]
    fn dense_terms_are_covered_and_the_interval_is_not_vacuous() {
        assert_covers(0.25, |rng: &mut Rng| of(500, || rng.uniform() * rng.uniform()));
        let mut rng = Rng::new(1);
        let found = of(500, || rng.uniform() * rng.uniform());
        assert!(found.high - found.low < 0.1, "{found}");
    }

    #[test]
    fn rare_large_terms_are_covered() {
        // Two terms in a thousand are 1, or 0.02: the mean alone cannot tell how much one more would add.
        assert_covers(2e-3, |rng| of(2000, || f64::from(rng.uniform() < 2e-3)));
        assert_covers(4e-5, |rng| of(2000, || if rng.uniform() < 2e-3 { 0.02 } else { 0.0 }));
    }

    #[test]
    fn two_streams_with_different_means_are_covered_at_a_planned_number() {
        assert_covers(0.105, |rng| {
            let mut term = |i: usize| f64::from(rng.uniform() < if i < 250 { 0.01 } else { 0.2 });
            let mut i = 0;
            of(500, || {
                i += 1;
                term(i - 1)
            })
        });
    }

    #[test]
    fn terms_beyond_the_bound_are_a_wrong_call() {
        assert!(std::panic::catch_unwind(|| Bounded::new(1.0).push(1.5)).is_err());
        assert!(Bounded::new(1.0).estimate(Level::P95).is_err());
    }
}

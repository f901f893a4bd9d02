//! A failure probability in two parts: where a predictor is high, and elsewhere.
//!
//! p = p_S + p_Sᶜ, with S the draws whose chance to be tried is at least some number, which is fixed before the first
//! experiment. No term of p_S exceeds one over that number, so that its interval is tight; the interval of p_Sᶜ is as
//! wide as the floor of the chances makes it.
//!
//! Whoever wants a tight interval of p must assume something of Sᶜ, and say so. Here: no larger share of the failures lies in Sᶜ
//! than in the history, where k of n did. Then p ≤ p_S / (1 − m), with m the upper end of that share.
//!
//! Assumes: for the last, that the policy under test fails in the places where those of the history did. Blind to: failures of a
//! new kind, for which there is p_Sᶜ.

use super::thinning::HorvitzThompson;
use super::{Refusal, counting};
use crate::Level;
use offnominal_core::estimate::Estimate;

/// Both parts.
#[derive(Debug, Clone, PartialEq)]
pub struct Claim {
    from: f64,
    high: HorvitzThompson,
    elsewhere: HorvitzThompson,
}

impl Claim {
    /// No draws yet; no chance will be below `floor`, and S is where it is at least `from`.
    ///
    /// # Panics
    /// If one of both is not in (0, 1].
    pub fn new(floor: f64, from: f64) -> Claim {
        Claim { from, high: HorvitzThompson::new(from), elsewhere: HorvitzThompson::new(floor) }
    }

    /// A draw that was tried, with its chance.
    ///
    /// # Panics
    /// If the chance is below the floor or above 1.
    pub fn record(&mut self, chance: f64, failed: bool) {
        let (one, other) = if chance >= self.from {
            (&mut self.high, &mut self.elsewhere)
        } else {
            (&mut self.elsewhere, &mut self.high)
        };
        one.record(chance, failed);
        other.skip();
    }

    /// So many draws that were not tried.
    pub fn skip_many(&mut self, n: usize) {
        self.high.skip_many(n);
        self.elsewhere.skip_many(n);
    }

    /// The probability to fail in S.
    ///
    /// # Errors
    /// If no experiment was made there.
    pub fn high(&self, level: Level) -> Result<Estimate, Refusal> {
        self.high.estimate(level)
    }

    /// The probability to fail elsewhere.
    ///
    /// # Errors
    /// If no experiment was made there.
    pub fn elsewhere(&self, level: Level) -> Result<Estimate, Refusal> {
        self.elsewhere.estimate(level)
    }

    /// The failure probability, if no larger share of the failures lies elsewhere than the `missed` of `failures` of the
    /// history; each of the two numbers has half of the error.
    ///
    /// # Errors
    /// If no experiment was made in S, or the history has no failure.
    pub fn assuming(&self, missed: usize, failures: usize, level: Level) -> Result<Estimate, Refusal> {
        let half = level.halved();
        let (high, share) = (self.high.estimate(half)?, counting::planned(missed, failures, half)?);
        let most = |part: f64, missed: f64| (part / (1.0 - missed)).min(1.0);
        let ends = (high.low, most(high.high, share.high));
        Ok(level.estimate(most(high.value, share.value), ends, high.n, "betting-sequence-assuming"))
    }
}

#[cfg(test)]
mod tests {
    use super::super::toy::{Toy, assert_covers};
    use super::*;
    use offnominal_core::Rng;

    /// Draws below ½ are tried with the chance .5 and fail as the toy does; others with .02, and fail with the chance q.
    fn claim(toy: Toy, q: f64, rng: &mut Rng) -> Claim {
        let mut claim = Claim::new(0.02, 0.5);
        for _ in 0..3000 {
            let x = rng.uniform();
            let chance = if x < 0.5 { 0.5 } else { 0.02 };
            if rng.uniform() >= chance {
                claim.skip_many(1);
                continue;
            }
            let failed = if x < 0.5 { toy.fails(x, rng) } else { rng.uniform() < q };
            claim.record(chance, failed);
        }
        claim
    }

    const TOY: Toy = Toy { height: 0.5, decay: 40.0 };

    #[test]
    fn both_parts_are_covered_and_the_first_is_tight() {
        assert_covers(TOY.p(), |rng| claim(TOY, 0.01, rng).high(Level::P95).unwrap());
        assert_covers(0.005, |rng| claim(TOY, 0.01, rng).elsewhere(Level::P95).unwrap());
        let found = claim(TOY, 0.0, &mut Rng::new(1));
        let [high, elsewhere] = [found.high(Level::P95), found.elsewhere(Level::P95)].map(Result::unwrap);
        let width = |e: &Estimate| e.high - e.low;
        assert!(2.0 * width(&high) < width(&elsewhere), "{high} {elsewhere}");
    }

    #[test]
    fn the_assumption_holds_the_sum_where_it_is_true_and_not_where_it_is_not() {
        // A fifth of the failures lies elsewhere.
        let q = 0.5 * TOY.p();
        let p = TOY.p() + 0.5 * q;
        assert_covers(p, |rng| claim(TOY, q, rng).assuming(200, 1000, Level::P95).unwrap());
        let (found, mut rng) = (claim(TOY, 0.2, &mut Rng::new(2)), Rng::new(3));
        assert!(!found.assuming(0, 1000, Level::P95).unwrap().covers(TOY.p() + 0.1));
        let certain = claim(TOY, 0.0, &mut rng).assuming(5, 5, Level::P95).unwrap();
        assert_eq!(certain.high, 1.0);
        assert!(found.assuming(0, 0, Level::P95).is_err());
    }
}

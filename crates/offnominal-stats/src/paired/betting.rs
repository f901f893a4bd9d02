//! The mean of differences in [−B, B], by betting: exact, at every number of them at once.
//!
//! With X = (D + B) / 2B in [0, 1], a gambler who thinks that the mean of X is above m stakes the share f of the largest
//! stake that cannot be lost whole: the capital ∏ (1 − f + f Xᵢ / m) is a martingale where m is right, and falls in the
//! mean where the truth is below m. So is the average over gamblers with f = sin θ, θ even over (0, π/2), which is the
//! density ∝ 1 / √(1 − f²). At m = ½, no difference, a factor is 1 + f Dᵢ / B: pairs that agree do not count, and for
//! D = −1, 0, 1 the capital is one half of the mixture 2ⁿ B(b + ½, c + ½) / B(½, ½) over the n = b + c discordant pairs,
//! by the sign of the bet. It ever reaches 2 / α with probability α / 2 at most (Ville); every m at which it has is
//! excluded, and likewise from above.
//!
//! Assumes: the bound. Blind to: nothing else; there is no shape to get wrong.
//! Cost: a look is linear in the number of different values: three for outcomes of yes and no.
//! Reference: Waudby-Smith and Ramdas, "Estimating means of bounded random variables by betting", JRSS B 86(1), 2024,
//! section 4; Robbins, Annals of Mathematical Statistics 41(5), 1970, for the mixture.

use crate::risk::crossing::crossing;
use crate::{Level, StatsError};
use offnominal_core::estimate::Estimate;
use std::f64::consts::FRAC_PI_2;

/// Number of gamblers on each side.
pub(super) const BETS: usize = 64;

/// Values in [−bound, bound], each with how often it came.
///
/// ```
/// use offnominal_stats::{Level, paired::betting::Terms};
/// let mut terms = Terms::new(1.0);
/// // Nine pairs in which only the old policy failed decide, whatever number of pairs agree: 2⁹ B(9½, ½) / π is 47.5, and
/// // the half of it that bets on the right side is more than 2 / 0.05.
/// (0..9).for_each(|_| terms.push(-1.0));
/// (0..1000).for_each(|_| terms.push(0.0));
/// assert!(terms.is_below(0.0, Level::P95));
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Terms {
    bound: f64,
    n: u64,
    sum: f64,
    /// Different values as shares of the way from −bound to bound, in order, and how often each came.
    values: Vec<(f64, u64)>,
}

impl Terms {
    /// No values yet.
    ///
    /// # Panics
    /// If the bound is not a positive number.
    pub fn new(bound: f64) -> Terms {
        assert!(bound > 0.0 && bound.is_finite(), "expected a positive bound, found {bound}");
        Terms { bound, n: 0, sum: 0.0, values: vec![] }
    }

    /// One value more.
    ///
    /// # Panics
    /// If it is not in [−bound, bound].
    pub fn push(&mut self, value: f64) {
        self.push_times(value, 1);
    }

    /// The same value several times.
    ///
    /// # Panics
    /// As [`Terms::push`].
    pub fn push_times(&mut self, value: f64, times: u64) {
        if times == 0 {
            return;
        }
        let share = self.share(value);
        let fits = (-1e-9..=1.0 + 1e-9).contains(&share);
        assert!(fits, "expected a value in [−{0}, {0}], found {value}", self.bound);
        let share = share.clamp(0.0, 1.0);
        self.n += times;
        self.sum += value * times as f64;
        match self.values.binary_search_by(|(x, _)| x.total_cmp(&share)) {
            Ok(at) => self.values[at].1 += times,
            Err(at) => self.values.insert(at, (share, times)),
        }
    }

    fn share(&self, value: f64) -> f64 {
        0.5 + 0.5 * value / self.bound
    }

    /// Whether the whole interval lies above m.
    pub fn is_above(&self, m: f64, level: Level) -> bool {
        self.excludes(self.share(m), Side::Above, level)
    }

    /// Whether the whole interval lies below m.
    pub fn is_below(&self, m: f64, level: Level) -> bool {
        self.excludes(self.share(m), Side::Below, level)
    }

    /// The mean with its interval.
    ///
    /// # Errors
    /// If there are no values.
    pub fn estimate(&self, level: Level) -> Result<Estimate, StatsError> {
        StatsError::require("mean", 1, "values", self.n as usize)?;
        // A sum of nothing is −0, which would be printed so.
        let mean = 0.0 + self.sum / self.n as f64;
        let middle = self.share(mean).clamp(0.0, 1.0);
        let ends = ends(middle, level, |m, side| self.capital(m, side));
        let end = |share: f64| self.bound * (2.0 * share - 1.0);
        Ok(level.estimate(mean, (end(ends.0), end(ends.1)), self.n as usize, "betting-sequence"))
    }

    /// The logarithm of what gamblers have made of 1 who think that the mean is on this side of m: an e-value of the
    /// hypothesis that it is not.
    pub fn evidence(&self, m: f64, side: Side) -> f64 {
        self.capital(self.share(m), side)
    }

    /// Different values, in order, as shares of the way from −bound to bound, and how often each came.
    pub(super) fn shares(&self) -> &[(f64, u64)] {
        &self.values
    }

    fn excludes(&self, m: f64, side: Side, level: Level) -> bool {
        excludes(m, side, level, |m, side| self.capital(m, side))
    }

    /// The logarithm of their mean capital if the mean were the share m.
    pub(super) fn capital(&self, m: f64, side: Side) -> f64 {
        let gains: Vec<(f64, f64)> = self.values.iter().map(|&(x, n)| (side.gain(x, m), n as f64)).collect();
        let of = |f: f64| gains.iter().map(|(gain, n)| n * (f * gain).ln_1p()).sum::<f64>();
        mean_of_logs(&std::array::from_fn::<f64, BETS, _>(|i| of(bet(i))))
    }
}

/// The share that gambler number i stakes of what cannot be lost whole.
pub(super) fn bet(i: usize) -> f64 {
    (FRAC_PI_2 * (i as f64 + 0.5) / BETS as f64).sin()
}

/// The logarithm of the mean of numbers whose logarithms these are.
pub(super) fn mean_of_logs(logs: &[f64]) -> f64 {
    let most = logs.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    most + (logs.iter().map(|c| (c - most).exp()).sum::<f64>() / logs.len() as f64).ln()
}

/// Whether gamblers who think that the mean is on this side of the share m have won enough to exclude m.
pub(super) fn excludes(m: f64, side: Side, level: Level, capital: impl Fn(f64, Side) -> f64) -> bool {
    let inside = if side == Side::Above { m < 1.0 } else { m > 0.0 };
    inside && capital(m, side) >= -level.tail().ln()
}

/// The ends of the shares around this one that are not excluded.
pub(super) fn ends(middle: f64, level: Level, capital: impl Fn(f64, Side) -> f64) -> (f64, f64) {
    let low = crossing(0.0, middle, |m| !excludes(m, Side::Above, level, &capital)).0;
    let high = crossing(middle, 1.0, |m| excludes(m, Side::Below, level, &capital)).1;
    (low, high)
}

/// The side of a value on which gamblers think that the mean is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Side {
    /// Larger than the value.
    Above,
    /// Smaller than the value.
    Below,
}

impl Side {
    /// What the share x adds to 1 staked in full against the share m.
    pub(super) fn gain(self, x: f64, m: f64) -> f64 {
        let gain = if self == Side::Above { x / m } else { (1.0 - x) / (1.0 - m) };
        gain - 1.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use statrs::function::beta::ln_beta;

    fn of(wins: u64, losses: u64, ties: u64) -> Terms {
        let mut terms = Terms::new(1.0);
        [(1.0, wins), (-1.0, losses), (0.0, ties)]
            .iter()
            .for_each(|&(x, n)| (0..n).for_each(|_| terms.push(x)));
        terms
    }

    #[test]
    fn at_no_difference_only_discordant_pairs_count_as_in_the_closed_form() {
        // Both signs of the bet together are 2ⁿ B(b + ½, c + ½) / B(½, ½).
        for (wins, losses) in [(3, 0), (12, 5), (40, 41)] {
            let terms = of(wins, losses, 1000);
            let both = terms.capital(0.5, Side::Above).exp() + terms.capital(0.5, Side::Below).exp();
            let (b, c) = (wins as f64, losses as f64);
            let closed = (b + c) * 2_f64.ln() + ln_beta(b + 0.5, c + 0.5) - ln_beta(0.5, 0.5);
            assert!(
                ((0.5 * both).ln() - closed).abs() < 1e-3,
                "{wins} {losses}: {} {closed}",
                (0.5 * both).ln()
            );
        }
    }

    #[test]
    fn the_interval_mirrors_with_the_policies() {
        let (there, back) =
            (of(25, 5, 70).estimate(Level::P95).unwrap(), of(5, 25, 70).estimate(Level::P95).unwrap());
        assert!(
            (there.low + back.high).abs() < 1e-9 && (there.high + back.low).abs() < 1e-9,
            "{there} {back}"
        );
        assert!((there.value - 0.2).abs() < 1e-12 && there.low > 0.0, "{there}");
    }

    #[test]
    fn agreement_narrows_the_interval_around_zero() {
        let width = |n| {
            let found = of(0, 0, n).estimate(Level::P95).unwrap();
            assert_eq!(found.value, 0.0);
            found.high - found.low
        };
        assert!(width(10) > width(100) && width(100) > width(1000) && width(1000) < 0.02, "{}", width(1000));
    }

    #[test]
    fn no_values_have_no_mean_and_what_is_beyond_the_bound_is_a_wrong_call() {
        assert!(Terms::new(1.0).estimate(Level::P95).is_err());
        assert!(std::panic::catch_unwind(|| Terms::new(1.0).push(1.5)).is_err());
    }
}

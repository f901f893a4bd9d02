//! The mean of values without a bound: an interval that is right in the limit, at every number of values at once.
//!
//! ```text
//! mean ± s √( 2 (n ρ² + 1) / (n² ρ²) · ln( √(n ρ² + 1) / α ) )
//! ```
//!
//! | symbol | meaning                                                  | unit          |
//! |--------|----------------------------------------------------------|---------------|
//! | n      | values so far                                            | 1             |
//! | s      | their standard deviation                                 | of the values |
//! | α      | 1 − level                                                | 1             |
//! | ρ      | √((−2 ln α + ln(−2 ln α) + 1) / 200): tightest near n = 200 | 1          |
//!
//! Assumes: a finite variance, and so many values that their mean is nearly normal; there is no interval before
//! [`FIRST`] values. Blind to: values so rare that none was seen. It is *not* exact: where a bound is known, use
//! [`betting`](super::betting).
//! Cost: constant.
//! Reference: Waudby-Smith, Arbour, Sinha, Kennedy and Ramdas, "Time-uniform central limit theory and asymptotic
//! confidence sequences", Annals of Statistics 52(6), 2024, theorem 2.2.

use crate::{Level, StatsError};
use offnominal_core::estimate::Estimate;

/// Values before which there is no interval.
pub const FIRST: u64 = 50;
/// Values at which the interval is tightest.
const TIGHTEST: f64 = 200.0;

/// Number, mean and sum of squares about the mean of the values so far (Welford).
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Moments {
    n: u64,
    mean: f64,
    squares: f64,
}

impl Moments {
    /// One value more.
    pub fn push(&mut self, value: f64) {
        self.n += 1;
        let off = value - self.mean;
        self.mean += off / self.n as f64;
        self.squares += off * (value - self.mean);
    }

    /// Both ends of the interval; none before [`FIRST`] values, or where all values were the same.
    pub fn ends(&self, level: Level) -> Option<(f64, f64)> {
        if self.n < FIRST || self.squares <= 0.0 {
            return None;
        }
        let n = self.n as f64;
        let alpha = 2.0 * level.tail();
        let information = -2.0 * alpha.ln();
        let nr = n * (information + information.ln() + 1.0) / TIGHTEST;
        let spread = self.squares / (n - 1.0);
        let half = (2.0 * spread * (nr + 1.0) / (n * nr) * (0.5 * (nr + 1.0).ln() - alpha.ln())).sqrt();
        Some((self.mean - half, self.mean + half))
    }

    /// The mean; with an interval without ends where there is too little for any.
    ///
    /// # Errors
    /// If there are no values.
    pub fn estimate(&self, level: Level) -> Result<Estimate, StatsError> {
        StatsError::require("mean", 1, "values", self.n as usize)?;
        let (ends, method) = match self.ends(level) {
            Some(ends) => (ends, "asymptotic-sequence"),
            None => ((f64::NEG_INFINITY, f64::INFINITY), "no interval"),
        };
        Ok(level.estimate(self.mean, ends, self.n as usize, method))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(n: u64) -> Moments {
        let mut moments = Moments::default();
        (0..n).for_each(|i| moments.push(if i % 2 == 0 { 1.0 } else { 3.0 }));
        moments
    }

    #[test]
    fn ends_in_closed_form() {
        // n = 200: n ρ² = 5.99146 + 1.79034 + 1 = 8.78180; s² = 200 / 199.
        let (low, high) = of(200).ends(Level::P95).unwrap();
        let half = (2.0 * (200.0 / 199.0) * 9.781_80 / (200.0 * 8.781_80)
            * (9.781_80_f64.sqrt() / 0.05).ln())
        .sqrt();
        assert!(
            (low - (2.0 - half)).abs() < 1e-5 && (high - (2.0 + half)).abs() < 1e-5,
            "{low} {high} {half}"
        );
    }

    #[test]
    fn too_few_values_and_equal_ones_have_no_interval() {
        assert!(of(FIRST - 1).ends(Level::P95).is_none() && of(FIRST).ends(Level::P95).is_some());
        let mut same = Moments::default();
        (0..100).for_each(|_| same.push(5.0));
        let found = same.estimate(Level::P95).unwrap();
        assert_eq!((found.value, found.high, found.method.as_str()), (5.0, f64::INFINITY, "no interval"));
        assert!(Moments::default().estimate(Level::P95).is_err());
    }
}

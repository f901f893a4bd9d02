//! How much of whether an episode fails is due to a part of where it began.
//!
//! f is 1 where an episode fails, and a function of independent parts of where it began. Of failures, chosen as often as
//! they happen, a share q fails again if one part alone is drawn anew, and a share r if all but that part is. Sobol's
//! total effect of the part is (1 − q) / (1 − p), and its first-order effect (r − p) / (1 − p).
//!
//! Both shares are means of terms in \[0, 1\], one for each failure, and have intervals by betting. The interval of an
//! effect joins that of its share and that of p, each at half of the error.
//!
//! Assumes: parts are drawn independently, and failures are those of plain draws.
//! References: Sobol, "Sensitivity estimates for nonlinear mathematical models", 1993; Jansen, "Analysis of variance
//! designs for model output", 1999.

use anyhow::Result;
use offnominal_core::estimate::Estimate;
use offnominal_stats::Level;
use offnominal_stats::risk::{Bounded, counting};

/// The failure probability of a run, as effects need it.
#[derive(Debug, Clone, PartialEq)]
pub struct Effects {
    p: Estimate,
    level: Level,
    half: Level,
}

impl Effects {
    /// Of a run of plain experiments.
    ///
    /// # Errors
    /// If there are no experiments.
    pub fn new(failures: usize, experiments: usize, level: Level) -> Result<Effects> {
        let half = Level::try_from(1.0 - level.tail())?;
        Ok(Effects { p: counting::sequence(failures, experiments, half)?, level, half })
    }

    /// The share of the failures that fail again: the mean of shares, one for each failure.
    ///
    /// # Errors
    /// If there is no failure.
    ///
    /// # Panics
    /// If a share is not in \[0, 1\].
    pub fn fails_again(&self, shares: &[f64]) -> Result<Estimate> {
        again(shares, self.level)
    }

    /// The total effect, where each failure was played again with this part alone drawn anew.
    ///
    /// # Errors
    /// As [`Effects::fails_again`].
    pub fn total(&self, shares: &[f64]) -> Result<Estimate> {
        self.effect(shares, |q, p| (1.0 - q) / (1.0 - p))
    }

    /// The first-order effect, where each failure was played again with all but this part drawn anew.
    ///
    /// # Errors
    /// As [`Effects::fails_again`].
    pub fn first(&self, shares: &[f64]) -> Result<Estimate> {
        self.effect(shares, |r, p| (r - p) / (1.0 - p))
    }

    /// An effect, which is monotone in the share and in p.
    fn effect(&self, shares: &[f64], of: fn(f64, f64) -> f64) -> Result<Estimate> {
        let share = again(shares, self.half)?;
        // Where all fail nothing varies; then the largest effect that there is holds.
        let at =
            |share: f64, p: f64| Some(of(share, p)).filter(|x| x.is_finite()).unwrap_or(1.0).clamp(0.0, 1.0);
        let corners = [share.low, share.high].map(|s| [self.p.low, self.p.high].map(|p| at(s, p)));
        let all = || corners.as_flattened().iter().copied();
        let ends = (all().fold(1.0, f64::min), all().fold(0.0, f64::max));
        Ok(self.level.estimate(at(share.value, self.p.value), ends, shares.len(), "betting-sequence"))
    }
}

fn again(shares: &[f64], level: Level) -> Result<Estimate> {
    let mut terms = Bounded::new(1.0);
    shares.iter().for_each(|share| terms.push(*share));
    Ok(terms.estimate(level)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_that_means_nothing_has_no_effect_and_one_that_decides_has_all() {
        let effects = Effects::new(400, 4000, Level::P95).unwrap();
        // Another value of a part that means nothing changes no failure; all else anew fails as often as ever.
        let nothing = (vec![1.0; 400], [vec![1.0; 40], vec![0.0; 360]].concat());
        assert_eq!(effects.total(&nothing.0).unwrap().value, 0.0);
        assert!(effects.first(&nothing.1).unwrap().value.abs() < 1e-12);
        let (total, first) = (effects.total(&nothing.1).unwrap(), effects.first(&nothing.0).unwrap());
        assert!((total.value - 1.0).abs() < 1e-12 && (first.value - 1.0).abs() < 1e-12);
        assert!(total.low > 0.85 && first.low > 0.9 && total.high <= 1.0, "{total:?} {first:?}");
        assert!(effects.total(&[]).is_err() && Effects::new(0, 0, Level::P95).is_err());
        assert_eq!(effects.fails_again(&[0.5, 0.5]).unwrap().value, 0.5);
    }
}

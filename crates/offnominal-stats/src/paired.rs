//! Two policies on the same seeds: how much better is one, when may one stop, and what did the pairs save?
//!
//! Pair i plays both policies from the same initial condition with the same randomness of the environment. With outcomes
//! Yᵢ of the old policy and Zᵢ of the new one, all that counts is Dᵢ = Zᵢ − Yᵢ.
//!
//! | file           | content                                                                                |
//! |----------------|----------------------------------------------------------------------------------------|
//! | [`betting`]    | the mean of differences with a bound: exact at every number of pairs                   |
//! | [`asymptotic`] | the mean of differences without one: right in the limit, at every number of pairs      |
//! | [`counts`]     | the difference of two rates of which only counts are known                             |
//! | [`planned`]    | when a comparison of successes is decided for which most trials were stated beforehand |
//! | [`family`]     | several comparisons with one error                                                     |
//! | [`needed`]     | how many pairs would decide                                                            |
//! | [`mod@saving`] | how far the outcomes of a pair go together, and the pairs that independent ones replace |
//!
//! Assumes: pairs do not depend on one another. Outcomes within a pair may depend on one another as they like.

pub mod asymptotic;
pub mod betting;
pub mod counts;
pub mod family;
pub mod needed;
pub mod planned;
pub mod saving;

use crate::{Level, StatsError};
use asymptotic::Moments;
use betting::{Side, Terms};
use counts::Counts;
use offnominal_core::estimate::Estimate;
pub use saving::{Saving, saving};

/// A mean that grows by one value after the other, with an interval that is valid at every number of them.
#[derive(Debug, Clone, PartialEq)]
pub enum Mean {
    /// Of values in [−bound, bound]: exact.
    Bounded(Terms),
    /// Of successes of which only counts are known: exact for numbers of trials that were fixed beforehand.
    Counted(Counts),
    /// Of any values: right in the limit.
    Unbounded(Moments),
}

impl Mean {
    /// Of values in [−bound, bound].
    ///
    /// # Panics
    /// If the bound is not a positive number.
    pub fn bounded(bound: f64) -> Mean {
        Mean::Bounded(Terms::new(bound))
    }

    /// Of values of which no bound is known.
    pub fn unbounded() -> Mean {
        Mean::Unbounded(Moments::default())
    }

    /// One value more.
    ///
    /// # Panics
    /// If it lies beyond the bound, or there are counts.
    pub fn push(&mut self, value: f64) {
        match self {
            Mean::Bounded(terms) => terms.push(value),
            Mean::Counted(_) => panic!("expected values, found counts"),
            Mean::Unbounded(moments) => moments.push(value),
        }
    }

    /// Whether the whole interval at this level lies above m.
    pub fn is_above(&self, m: f64, level: Level) -> bool {
        match self {
            Mean::Bounded(terms) => terms.is_above(m, level),
            Mean::Counted(counts) => counts.is_above(m, level),
            Mean::Unbounded(moments) => moments.ends(level).is_some_and(|(low, _)| low > m),
        }
    }

    /// Whether the whole interval at this level lies below m.
    pub fn is_below(&self, m: f64, level: Level) -> bool {
        match self {
            Mean::Bounded(terms) => terms.is_below(m, level),
            Mean::Counted(counts) => counts.is_below(m, level),
            Mean::Unbounded(moments) => moments.ends(level).is_some_and(|(_, high)| high < m),
        }
    }

    /// The logarithm of an e-value of the hypothesis that the mean is not on this side of m; none where nothing is exact.
    pub fn evidence(&self, m: f64, side: Side) -> Option<f64> {
        match self {
            Mean::Bounded(terms) => Some(terms.evidence(m, side)),
            Mean::Counted(counts) => Some(counts.evidence(m, side)),
            Mean::Unbounded(_) => None,
        }
    }

    /// The mean with its interval; one without ends where there is too little for any.
    ///
    /// # Errors
    /// If there are no values.
    pub fn estimate(&self, level: Level) -> Result<Estimate, StatsError> {
        match self {
            Mean::Bounded(terms) => terms.estimate(level),
            Mean::Counted(counts) => Ok(counts.estimate(level)),
            Mean::Unbounded(moments) => moments.estimate(level),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use offnominal_core::Rng;

    /// The share of repetitions in which somebody who looks after every pair ever sees an interval without zero, though
    /// the new policy is as good as the old one.
    fn false_alarms(mean: fn() -> Mean, pairs: usize, mut draw: impl FnMut(&mut Rng) -> f64) -> f64 {
        let n = if std::env::var_os("RUN_SLOW_TESTS").is_some() { 1000 } else { 200 };
        let mut ever = |seed| {
            let (mut rng, mut mean) = (Rng::new(seed), mean());
            (0..pairs).any(|_| {
                mean.push(draw(&mut rng));
                mean.is_above(0.0, Level::P95) || mean.is_below(0.0, Level::P95)
            })
        };
        (0..n as u64).filter(|&i| ever(7000 + i)).count() as f64 / n as f64
    }

    #[test]
    fn looking_after_every_pair_is_allowed() {
        let ternary = |p: f64| {
            move |rng: &mut Rng| {
                let u = rng.uniform();
                f64::from(u < p) - f64::from(u > 1.0 - p)
            }
        };
        for p in [0.01, 0.1, 0.5] {
            let found = false_alarms(|| Mean::bounded(1.0), 400, ternary(p));
            assert!(found <= 0.05, "{p}: {found}");
        }
        let normal = false_alarms(Mean::unbounded, 400, |rng| rng.normal());
        assert!(normal <= 0.06, "{normal}");
    }

    #[test]
    fn what_is_shown_is_what_the_interval_says() {
        for mut mean in [Mean::bounded(2.0), Mean::unbounded()] {
            let mut rng = Rng::new(3);
            (0..200).for_each(|_| mean.push(0.3 + rng.range(-1.0, 1.0)));
            let found = mean.estimate(Level::P95).unwrap();
            assert!(
                mean.is_above(found.low - 1e-6, Level::P95) && !mean.is_above(found.low + 1e-6, Level::P95)
            );
            assert!(
                mean.is_below(found.high + 1e-6, Level::P95) && !mean.is_below(found.high - 1e-6, Level::P95)
            );
            assert!(found.low > 0.0 && found.covers(0.3), "{found}");
        }
    }
}

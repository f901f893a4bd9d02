//! The failure probability in a high-fidelity simulator, of few episodes, helped by many in a low-fidelity one.
//!
//! From the same initial condition, with the same random numbers, each high-fidelity episode has a low-fidelity one; K more low-fidelity
//! episodes begin elsewhere. What the low-fidelity simulator says of the pair, less what it says on average, is a control variate:
//!
//! ```text
//! Zᵢ = Yᵢ − λᵢ (fᵢ − f̄ᵢ),    λ* = Cov(Y, f) / ((1 + 1/K) Var f),    Var Z / Var Y = 1 − ρ² / (1 + 1/K) at λ*
//! ```
//!
//! | symbol | meaning                                                                  | range   |
//! |--------|--------------------------------------------------------------------------|---------|
//! | Y      | outcome of the high-fidelity episode: 1 is a failure                               | 0, 1    |
//! | f      | score of the low-fidelity episode of the pair; its outcome, or a guess           | [0, 1]  |
//! | f̄      | mean score of the K fresh low-fidelity episodes of this pair                     | [0, 1]  |
//! | λ      | how much the low-fidelity simulator counts, known before the pair is played      | [0, 1]  |
//! | ρ      | Pearson's correlation of Y and f                                          | [−1, 1] |
//!
//! f and f̄ have the same mean, and λᵢ comes from the pairs before i only, so that E Zᵢ = P(Y = 1), however wrong the
//! low-fidelity simulator is. Zᵢ lies in [−1, 2]: its mean has the interval of [`betting`](crate::paired::betting), which is valid at
//! every number of pairs; the part of it outside of [0, 1] is cut off. A λ that is fitted to the same pairs that it
//! corrects would be biased.
//!
//! λ is estimated from all pairs before, and multiplied by max(0, 1 − 1 / (n ρ̂²)): where n pairs do not show that
//! there is a correlation, it is 0, so that little is lost where there is none. It is rounded to sixteenths, which costs
//! less than 1 / 1000 of Var f, and keeps the number of different Z small.
//!
//! Assumes: pairs do not depend on one another; the fresh low-fidelity episodes begin as the pairs do. Blind to: nothing else;
//! what the low-fidelity simulator is worth decides the width, and never whether the interval holds.
//! Cost: a pair is constant but for the place of its Z among the different ones; a look as in [`betting`](crate::paired::betting).
//! Reference: Angelopoulos, Bates, Fannjiang, Jordan and Zrnic, "Prediction-powered inference", Science 382, 2023, and
//! Angelopoulos, Duchi and Zrnic, "PPI++", 2023 (arXiv 2311.01453), for λ. Deviates: λ is predictable and the interval is
//! by betting, so that both are exact at every number of pairs.

mod coefficient;
mod saved;
#[cfg(test)]
mod tests;

use crate::paired::betting::Terms;
use crate::{Level, StatsError};
use coefficient::Past;
use offnominal_core::Seed;
use offnominal_core::estimate::Estimate;
pub use saved::Saved;

/// The largest λ.
const LARGEST: f64 = 1.0;
/// The middle of the range [−1, 2] of Z, and half of its width.
const MIDDLE: f64 = 0.5;
const HALF: f64 = 1.5;

/// The share of the high-fidelity episodes that a correlation ρ saves with K fresh low-fidelity ones per pair: ρ² / (1 + 1/K).
///
/// ```
/// use offnominal_stats::risk::multifidelity::{needed, saving};
/// assert!((saving(0.8, 4) - 0.512).abs() < 1e-12);
/// // To save a quarter takes a correlation of .71 with one fresh low-fidelity episode per pair, of .53 with ten.
/// assert!((needed(0.25, 1) - 0.7071).abs() < 1e-4 && (needed(0.25, 10) - 0.5244).abs() < 1e-4);
/// ```
pub fn saving(correlation: f64, per_dear: usize) -> f64 {
    correlation * correlation / (1.0 + 1.0 / per_dear as f64)
}

/// The correlation that is needed to save this share of the high-fidelity episodes, with K fresh low-fidelity ones per pair.
pub fn needed(share: f64, per_dear: usize) -> f64 {
    (share * (1.0 + 1.0 / per_dear as f64)).sqrt()
}

/// Pairs of a high-fidelity and a low-fidelity episode, with K fresh low-fidelity ones each, and the failure probability in the high-fidelity simulator.
///
/// ```
/// use offnominal_stats::{Level, risk::Multifidelity};
/// let mut pairs = Multifidelity::new(2);
/// for i in 0..400 {
///     let fails = f64::from(i % 10 == 0);
///     pairs.push(fails, fails, &[f64::from(i % 5 == 1), 0.0]);
/// }
/// let found = pairs.estimate(Level::P95).unwrap();
/// assert!(found.covers(0.1));
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Multifidelity {
    per_dear: usize,
    past: Past,
    terms: Terms,
    /// Outcome, low-fidelity score and Z of each pair, for what was saved.
    pairs: Vec<[f64; 3]>,
}

impl Multifidelity {
    /// No pairs yet, with so many fresh low-fidelity episodes for each.
    ///
    /// # Panics
    /// If there are none.
    pub fn new(per_dear: usize) -> Multifidelity {
        assert!(per_dear > 0, "expected at least 1 fresh low-fidelity episode per pair, found none");
        Multifidelity { per_dear, past: Past::default(), terms: Terms::new(HALF), pairs: vec![] }
    }

    /// One pair more: the outcome of the high-fidelity episode, the score of the low-fidelity one, and those of the fresh low-fidelity ones.
    ///
    /// # Panics
    /// If one of them is not in [0, 1], or there is another number of fresh ones.
    pub fn push(&mut self, dear: f64, cheap: f64, fresh: &[f64]) {
        assert_eq!(fresh.len(), self.per_dear, "fresh low-fidelity episodes of a pair");
        let fits = [dear, cheap].iter().chain(fresh).all(|score| (0.0..=1.0).contains(score));
        assert!(fits, "expected scores in [0, 1], found {dear}, {cheap}, {fresh:?}");
        let mean = fresh.iter().sum::<f64>() / self.per_dear as f64;
        let z = dear - self.coefficient() * (cheap - mean);
        self.terms.push(z - MIDDLE);
        self.pairs.push([dear, cheap, z]);
        self.past.push(dear, cheap, fresh);
    }

    /// The λ of the next pair.
    pub fn coefficient(&self) -> f64 {
        self.past.coefficient(self.per_dear).clamp(0.0, LARGEST)
    }

    /// How many pairs there are.
    pub fn len(&self) -> usize {
        self.pairs.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.pairs.is_empty()
    }

    /// Whether the whole interval lies above p.
    pub fn is_above(&self, p: f64, level: Level) -> bool {
        self.terms.is_above(p - MIDDLE, level)
    }

    /// Whether the whole interval lies below p.
    pub fn is_below(&self, p: f64, level: Level) -> bool {
        self.terms.is_below(p - MIDDLE, level)
    }

    /// Whether the interval is at most so wide.
    pub fn is_within(&self, width: f64, level: Level) -> bool {
        if self.is_empty() {
            return false;
        }
        // Both ends lie at most the width from the mean then, which takes two looks in place of eighty.
        let mean = self.pairs.iter().map(|pair| pair[2]).sum::<f64>() / self.len() as f64;
        let (low, high) = (mean - width, mean + width);
        let may_be = (low <= 0.0 || self.is_above(low, level)) && (high >= 1.0 || self.is_below(high, level));
        may_be && self.estimate(level).is_ok_and(|found| found.high - found.low <= width)
    }

    /// The failure probability in the high-fidelity simulator, with an interval that is valid at every number of pairs.
    ///
    /// # Errors
    /// If there are no pairs.
    pub fn estimate(&self, level: Level) -> Result<Estimate, StatsError> {
        Ok(self.clipped(&self.terms.estimate(level)?, level))
    }

    /// The mean of terms about the middle as a probability.
    fn clipped(&self, found: &Estimate, level: Level) -> Estimate {
        let [value, low, high] = [found.value, found.low, found.high].map(|x| (x + MIDDLE).clamp(0.0, 1.0));
        level.estimate(value, (low, high), self.len(), "betting-sequence")
    }

    /// What the same bets say of the high-fidelity episodes alone: the interval where λ is always 0.
    ///
    /// # Errors
    /// If there are no pairs.
    pub fn alone(&self, level: Level) -> Result<Estimate, StatsError> {
        let mut terms = Terms::new(HALF);
        self.pairs.iter().for_each(|pair| terms.push(pair[0] - MIDDLE));
        Ok(self.clipped(&terms.estimate(level)?, level))
    }

    /// Var Z / Var Y; none where the high-fidelity outcomes are all the same.
    pub fn ratio(&self) -> Option<f64> {
        saved::ratio(&self.pairs)
    }

    /// What the low-fidelity episodes saved.
    ///
    /// # Errors
    /// If there are fewer than two pairs, or the outcomes of one simulator are all the same.
    pub fn saved(&self, level: Level, seed: Seed) -> Result<Saved, StatsError> {
        saved::saved(&self.pairs, level, seed)
    }
}

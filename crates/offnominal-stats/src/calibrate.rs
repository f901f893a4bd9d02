//! Which magnitude of an anomaly costs how much: noisy, monotone root finding, by ask and tell.
//!
//! f(m) is the mean score of episodes disturbed with magnitude m, normalised so that the undisturbed policy has 1 and
//! the random one 0. For each target τ (0.99, 0.90, …) the magnitude with f(m) = τ is sought between the neutral value
//! and a ceiling. The caller plays the episodes:
//!
//! ```
//! use offnominal_stats::calibrate::{Calibration, Grid, Search};
//! use offnominal_stats::Level;
//! let search = Search {
//!     neutral: 0.0, first: 0.1, ceiling: 8.0, grid: Grid::Continuous, targets: vec![0.9, 0.5],
//!     pilot: 16, budget: 5_000, tolerance: 0.25, level: Level::P95,
//! };
//! let mut calibration = Calibration::new(search, vec![1.0; 200])?;
//! while let Some(request) = calibration.ask() {
//!     // Episode i has the same seed at every magnitude; here f(m) = exp(−m).
//!     let scores: Vec<f64> = request.episodes.map(|_| (-request.magnitude).exp()).collect();
//!     calibration.tell(&scores)?;
//! }
//! let found = calibration.verdicts()[1].magnitude().unwrap();
//! assert!((found - 2.0_f64.ln()).abs() < 0.05);
//! # Ok::<(), offnominal_stats::StatsError>(())
//! ```
//!
//! # Method
//! 1. *Bracketing.* From a first look, magnitudes double away from neutral, with `pilot` episodes each, until the score is
//!    below the targets or the ceiling is reached. Where even the first is below, they halve, and then fall in longer
//!    strides, until one costs nothing: on a logarithmic scale, no place between neutral and the ceiling is out of reach.
//! 2. *Retrospective approximation.* For each target the crossing of the fitted curve (isotonic regression, each
//!    magnitude weighing as much as it has episodes) is interpolated and evaluated, until a magnitude scores the target
//!    within the noise. All magnitudes share the seeds of their episodes, and scores are compared with the nominal
//!    ones of the same seeds, so most of the noise is common and cancels. Then the sample grows as far as the
//!    tolerance asks.
//! 3. *Guards.* Magnitudes at each side are evaluated, each farther away than the last, until the interval of a score
//!    excludes the target there and beyond. The interval of the magnitude is read between guards: it holds all m whose
//!    score's interval contains τ.
//!
//! The next episodes go to the target whose score is least certain, relative to its tolerance. A jump of the curve over
//! a target, a curve that stays above it, and an anomaly without any effect are verdicts of their own.
//!
//! Assumes: f does not rise with the distance from neutral; small bumps are averaged away, and of several crossings
//! the first is meant. Cost: typically 10³ episodes for four targets, where a grid search takes 500 × 500.
//! References: Chen & Schmeiser, IIE Transactions 33, 2001 (retrospective approximation); Pasupathy & Kim, ACM TOMACS
//! 21(3), 2011 (stochastic root finding); Barlow et al., 1972 (isotonic regression).

mod curve;
mod score;
mod target;
mod verdict;

pub use verdict::{At, Verdict};

use crate::{Level, StatsError};
use curve::Curve;
use std::ops::Range;
use target::{Step, Target};

/// What is sought, and how hard.
#[derive(Debug, Clone, PartialEq)]
pub struct Search {
    /// The magnitude that changes nothing, such as 0 for an offset and 1 for a factor.
    pub neutral: f64,
    /// The distance of the first look from neutral; not used by a [`Grid::Whole`].
    pub first: f64,
    /// The largest disturbance considered; may be below `neutral`.
    pub ceiling: f64,
    /// Which magnitudes exist.
    pub grid: Grid,
    /// Scores sought, each between 0 and 1.
    pub targets: Vec<f64>,
    /// Episodes of the first look at a magnitude, at least 8.
    pub pilot: usize,
    /// Episodes in all; the nominal ones do not count.
    pub budget: usize,
    /// Half-width aimed at for the score's interval, as a share of 1 − target.
    pub tolerance: f64,
    /// Confidence level of all intervals.
    pub level: Level,
}

/// Which magnitudes exist.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Grid {
    /// All numbers.
    Continuous,
    /// Neutral plus or minus whole numbers, such as steps of delay; the one whose score is nearest is found.
    Whole,
}

/// Episodes to play.
#[derive(Debug, Clone, PartialEq)]
pub struct Request {
    /// The magnitude, active from the first step.
    pub magnitude: f64,
    /// Which episodes: number i has the same seed at all magnitudes, and as number i of the nominal ones.
    pub episodes: Range<usize>,
}

/// A calibration in progress.
#[derive(Debug, Clone)]
pub struct Calibration {
    search: Search,
    curve: Curve,
    targets: Vec<Target>,
    /// What was asked for and not yet told, with its distance from neutral.
    pending: Option<(f64, Request)>,
    spent: usize,
}

impl Calibration {
    /// Starts from the normalised scores of nominal episodes. As many episodes are played at most at one magnitude, so
    /// their number limits the precision: 200 to 500 are enough for a target of 0.99.
    ///
    /// # Errors
    /// If a setting is out of range, there are fewer nominal episodes than `pilot`, or their mean is not positive.
    pub fn new(search: Search, nominal: Vec<f64>) -> Result<Calibration, StatsError> {
        search.check()?;
        StatsError::require("calibration", search.pilot, "nominal episodes", nominal.len())?;
        crate::episode::finite(&nominal, 0, false)?;
        let mean = nominal.iter().sum::<f64>() / nominal.len() as f64;
        StatsError::within(mean > 0.0, "mean of the nominal scores", "a positive number", mean)?;
        let targets = search.targets.iter().map(|&score| Target::new(score, search.pilot)).collect();
        let curve = Curve { nominal, points: Vec::new() };
        Ok(Calibration { search, curve, targets, pending: None, spent: 0 })
    }

    /// The next episodes to play; the same ones until they are told. None when every target has its verdict.
    pub fn ask(&mut self) -> Option<Request> {
        if self.pending.is_none() {
            self.pending = self.next();
        }
        self.pending.as_ref().map(|(_, request)| request.clone())
    }

    /// The normalised scores of the episodes that were asked for, in order.
    ///
    /// # Errors
    /// If their number is wrong or one is not finite; nothing is recorded then.
    pub fn tell(&mut self, scores: &[f64]) -> Result<(), StatsError> {
        let expected = self.pending.as_ref().map_or(0, |(_, request)| request.episodes.len());
        StatsError::same_length("scores of a request", expected, scores.len())?;
        crate::episode::finite(scores, 0, false)?;
        if let Some((offset, _)) = self.pending.take() {
            self.curve.add(offset, scores);
            self.spent += scores.len();
        }
        Ok(())
    }

    /// The verdicts so far, in the order of the targets; a target without one reads as out of budget.
    pub fn verdicts(&self) -> Vec<Verdict> {
        let open = |t: &Target| t.best_effort(&self.search, &self.curve);
        self.targets.iter().map(|t| t.verdict.clone().unwrap_or_else(|| open(t))).collect()
    }

    /// Episodes played so far, without the nominal ones.
    pub fn episodes_spent(&self) -> usize {
        self.spent
    }

    /// Settles what can be settled and finds the next evaluation of the least certain open target.
    fn next(&mut self) -> Option<(f64, Request)> {
        loop {
            let open = self.targets.iter_mut().filter(|t| t.verdict.is_none());
            let uncertainty = |t: &Target| t.uncertainty(&self.search, &self.curve);
            let target = open.max_by(|a, b| uncertainty(a).total_cmp(&uncertainty(b)))?;
            match target.next(&self.search, &self.curve) {
                Step::Settle(verdict) => target.verdict = Some(verdict),
                Step::Evaluate { offset, n } => {
                    let have = self.curve.n_at(offset);
                    let until = n.min(have + self.search.budget - self.spent);
                    if until > have {
                        let magnitude = self.search.magnitude(offset);
                        return Some((offset, Request { magnitude, episodes: have..until }));
                    }
                    target.verdict = Some(target.best_effort(&self.search, &self.curve));
                }
            }
        }
    }
}

impl Search {
    fn check(&self) -> Result<(), StatsError> {
        let (span, ceiling) = (self.span(), self.ceiling);
        let is_span = span > 0.0 && span.is_finite();
        StatsError::within(is_span, "ceiling", "a finite number other than the neutral value", ceiling)?;
        let is_first = self.first > 0.0 && self.first <= span;
        StatsError::within(
            is_first || self.grid == Grid::Whole,
            "first look",
            "a distance up to the ceiling",
            self.first,
        )?;
        let whole = self.grid == Grid::Continuous || span.fract() == 0.0;
        StatsError::within(whole, "ceiling", "a whole number of steps from the neutral value", ceiling)?;
        StatsError::within_unit("tolerance", self.tolerance)?;
        StatsError::within(self.pilot >= 8, "pilot", "at least 8 episodes", self.pilot as f64)?;
        self.targets.iter().try_for_each(|&target| StatsError::within_unit("target", target))
    }

    /// Distance from neutral to the ceiling.
    fn span(&self) -> f64 {
        (self.ceiling - self.neutral).abs()
    }

    /// The magnitude at a distance from neutral.
    fn magnitude(&self, offset: f64) -> f64 {
        if offset == self.span() {
            self.ceiling
        } else {
            self.neutral + offset * (self.ceiling - self.neutral).signum()
        }
    }

    fn at(&self, offset: f64, score: offnominal_core::estimate::Estimate) -> At {
        At { magnitude: self.magnitude(offset), score }
    }
}

#[cfg(test)]
mod tests;

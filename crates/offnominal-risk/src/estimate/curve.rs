//! How many episodes would have been enough: the share of runs that are off by more than a factor, against episodes.

use super::verdict::Verdict;
use anyhow::Result;
use offnominal_core::Seed;
use offnominal_stats::Level;
use offnominal_stats::risk::budget;
use offnominal_stats::risk::budget::miss;
use offnominal_stats::risk::reliability::Units;
use serde::{Deserialize, Serialize};
use std::fmt;

/// The factor that counts.
pub const DELTA: f64 = 3.0;
/// Shares of runs may miss so often.
const MOST: f64 = 0.05;
const RUNS: usize = 2000;
/// Points per factor of ten.
const PER_DECADE: usize = 12;

/// One number of episodes.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Point {
    /// Experiments.
    pub experiments: f64,
    /// Share of runs of plain counting that miss; exact.
    pub plain: f64,
    /// Share of runs of the method that miss, with its interval; none where all draws are tried.
    pub method: Option<(f64, f64, f64)>,
}

/// The curve, and the numbers that follow from it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Curve {
    /// The factor.
    pub delta: f64,
    /// The points.
    pub points: Vec<Point>,
    /// Episodes from which on plain counting misses at most as often as allowed.
    pub plain: u64,
    /// Experiments from which on runs of the method miss at most as often as allowed; none if never on the curve.
    pub method: Option<f64>,
}

impl Curve {
    /// The curve of a verdict whose estimate is the truth.
    ///
    /// # Errors
    /// If there are too few failures to say.
    pub fn of(verdict: &Verdict, is_plain: bool, seed: Seed) -> Result<Curve> {
        let n = verdict.draws;
        let weights: Vec<f64> = verdict.failures.iter().map(|(_, share)| share * n as f64).collect();
        let units = Units { n, weights };
        let plain = budget(units.mean(), DELTA, Level::P95)?;
        let per_draw = verdict.experiments as f64 / n as f64;
        let sizes = sizes(plain);
        let (mut points, mut needed) = (Vec::with_capacity(sizes.len()), None);
        for (i, &experiments) in sizes.iter().enumerate() {
            let mut rng = seed.child("curve").child(i).rng();
            let draws = ((experiments / per_draw).round() as u64).max(1);
            let share =
                (!is_plain).then(|| units.miss(DELTA, draws, RUNS, Level::P95, &mut rng)).transpose()?;
            let exact = miss(units.mean(), DELTA, experiments as u64)?;
            let is_good = share.as_ref().is_some_and(|s| s.value <= MOST);
            needed = if is_good { needed.or(Some(experiments)) } else { None };
            points.push(Point { experiments, plain: exact, method: share.map(|s| (s.value, s.low, s.high)) });
        }
        Ok(Curve { delta: DELTA, points, plain, method: needed })
    }
}

impl fmt::Display for Curve {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Curve { delta, plain, .. } = self;
        write!(f, "within a factor of {delta} in 95 % of all runs: plain counting from {plain} episodes on")?;
        self.method.map_or(Ok(()), |n| write!(f, "; so chosen from {n:.0}"))
    }
}

/// From ten experiments to three times what counting needs, evenly on a logarithmic scale.
fn sizes(most: u64) -> Vec<f64> {
    let steps = ((most as f64 * 3.0 / 10.0).log10().max(0.5) * PER_DECADE as f64) as usize;
    (0..=steps).map(|i| (10.0 * 10f64.powf(i as f64 / PER_DECADE as f64)).round()).collect()
}

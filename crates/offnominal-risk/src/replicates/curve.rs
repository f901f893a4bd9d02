//! How often an estimate is off by more than a factor, against what it cost.

use anyhow::Result;
use offnominal_core::estimate::Estimate;
use offnominal_stats::Level;
use offnominal_stats::risk::budget::{budget, miss};
use offnominal_stats::risk::replicates::{Replicate, off};
use serde::Serialize;
use std::fmt;

/// Estimates may be off so often.
pub const MOST: f64 = 0.05;

/// Replicates behind a point, at least.
const FEWEST: usize = 20;

/// Points per factor of ten.
const PER_DECADE: usize = 8;

/// One size of a run.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Point {
    /// Experiments.
    pub experiments: f64,
    /// What they cost, in plain episodes.
    pub cost: f64,
    /// Share of runs of that size that are off by more than the factor, over as many as the long run has.
    pub off: Estimate,
    /// The same of plain counting at that cost; exact.
    pub counting: f64,
}

/// The curve, and the numbers that follow from it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Curve {
    /// The factor.
    pub factor: f64,
    /// From small to large runs.
    pub points: Vec<Point>,
    /// Cost from which on, as far as the curve goes, at most 5 % of the replicates are off; none if never.
    pub enough: Option<f64>,
    /// Episodes from which on counting is off in at most 5 % of all runs.
    pub counting: u64,
}

impl Curve {
    /// That of replicates which cannot be put together: a single point.
    ///
    /// # Errors
    /// If the truth is 0 or 1.
    pub fn of_one_size(
        runs: &[Replicate],
        experiments: f64,
        p: f64,
        factor: f64,
        level: Level,
    ) -> Result<Curve> {
        Curve::through(vec![Point::of(runs, experiments, p, factor, level)?], p, factor)
    }

    /// The curve through points, where this is the truth.
    ///
    /// # Errors
    /// If the truth is 0 or 1.
    pub fn through(points: Vec<Point>, p: f64, factor: f64) -> Result<Curve> {
        let last_bad = points.iter().rposition(|point| point.off.value > MOST);
        let enough = points.get(last_bad.map_or(0, |bad| bad + 1)).map(|point| point.cost);
        Ok(Curve { factor, points, enough, counting: budget(p, factor, Level::P95)? })
    }
}

impl Point {
    /// That of runs of one size, with so many experiments on average.
    ///
    /// # Errors
    /// If the truth is 0 or 1.
    pub fn of(runs: &[Replicate], experiments: f64, p: f64, factor: f64, level: Level) -> Result<Point> {
        let cost = runs.iter().map(|r| r.cost).sum::<f64>() / runs.len() as f64;
        let counting = miss(p, factor, (cost.round() as u64).max(1))?;
        Ok(Point { experiments, cost, off: off(runs, p, factor, level)?, counting })
    }
}

/// Numbers of blocks of which the run has enough replicates, evenly on a logarithmic scale.
pub fn sizes(blocks: usize) -> Vec<usize> {
    let grid = (0..).map(|i| 10f64.powf(f64::from(i) / PER_DECADE as f64).round() as usize);
    let mut sizes: Vec<usize> = grid.take_while(|size| blocks / size >= FEWEST).collect();
    sizes.dedup();
    sizes
}

impl fmt::Display for Curve {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Curve { factor, counting, .. } = self;
        write!(
            f,
            "within a factor of {factor} in 95 % of runs: plain counting from {counting} episodes on; "
        )?;
        match (self.enough, self.points.last()) {
            (Some(cost), _) if self.points.len() > 1 => {
                write!(f, "these replicates from a cost of {cost:.0}")
            }
            (Some(cost), _) => write!(f, "these replicates at a cost of {cost:.0}"),
            (None, Some(Point { cost, .. })) => write!(f, "these replicates not up to a cost of {cost:.0}"),
            (None, None) => write!(f, "the run is too short for a curve"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_grow_and_leave_enough_replicates() {
        assert_eq!(sizes(200), [1, 2, 3, 4, 6, 7, 10]);
        assert!(sizes(19).is_empty());
    }
}

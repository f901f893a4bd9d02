//! How often an estimate is off by more than a factor, against what it cost.

use super::gain::{Replicate, off};
use anyhow::Result;
use offnominal_core::estimate::Estimate;
use offnominal_stats::Level;
use offnominal_stats::risk::budget::{budget, miss};
use serde::Serialize;

/// Estimates may be off so often.
pub const MOST: f64 = 0.05;

/// Replicates behind a point, at least.
const FEWEST: usize = 20;

/// Points per factor of ten.
const PER_DECADE: usize = 8;

/// One size of a run.
#[derive(Serialize)]
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
#[derive(Serialize)]
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
    pub fn of(runs: &[Replicate], experiments: f64, p: f64, factor: f64) -> Result<Point> {
        let cost = runs.iter().map(|r| r.cost).sum::<f64>() / runs.len() as f64;
        let counting = miss(p, factor, (cost.round() as u64).max(1))?;
        Ok(Point { experiments, cost, off: off(runs, p, factor, Level::P95)?, counting })
    }
}

/// Numbers of blocks of which the run has enough replicates, evenly on a logarithmic scale.
pub fn sizes(blocks: usize) -> Vec<usize> {
    let grid = (0..).map(|i| 10f64.powf(f64::from(i) / PER_DECADE as f64).round() as usize);
    let mut sizes: Vec<usize> = grid.take_while(|size| blocks / size >= FEWEST).collect();
    sizes.dedup();
    sizes
}

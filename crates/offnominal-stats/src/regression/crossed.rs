//! Intervals where every value belongs to two clusters at once, such as an agent's return in a body.
//!
//! A replicate draws rows (agents) and columns (bodies) independently, each with replacement, and counts a value as
//! often as its row times its column was drawn: the pigeonhole bootstrap (Owen, Annals of Applied Statistics 1(2),
//! 2007), whose variance is never too small by more than the noise of single values, and often a little too large.
//! The interval is that of the percentiles; a single row or column cannot be resampled, and the method says so.

use crate::StatsError;
use crate::bootstrap::{Bootstrap, nearest_rank};
use offnominal_core::estimate::Estimate;

/// How to resample rows and columns.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Crossed {
    /// Replicates, level and seed.
    pub plan: Bootstrap,
    /// Rows, such as agents.
    pub rows: usize,
    /// Columns, such as bodies.
    pub columns: usize,
}

impl Crossed {
    /// The estimates of K statistics. `statistic` gets how often each row and each column counts.
    ///
    /// # Errors
    /// If there are fewer than two columns, or the statistics have no value when each counts once.
    pub fn estimates<const K: usize>(
        &self,
        what: &'static str,
        statistic: impl Fn(&[u32], &[u32]) -> Option<[f64; K]>,
    ) -> Result<[Estimate; K], StatsError> {
        StatsError::require(what, 2, "columns", self.columns)?;
        let none = StatsError::TooFew { what, needed: 2, unit: "usable values", found: 0 };
        let values = statistic(&vec![1; self.rows], &vec![1; self.columns]).ok_or(none)?;
        let draws = self.draws(&statistic);
        let method = if self.rows > 1 { "bootstrap-crossed" } else { "bootstrap of columns" };
        Ok(std::array::from_fn(|k| {
            let mut column: Vec<f64> = draws.iter().map(|d| d[k]).collect();
            column.sort_unstable_by(f64::total_cmp);
            let tail = self.plan.level.tail();
            let ends = if column.is_empty() {
                (f64::NEG_INFINITY, f64::INFINITY)
            } else {
                (nearest_rank(&column, tail), nearest_rank(&column, 1.0 - tail))
            };
            self.plan.level.estimate(values[k], ends, self.rows * self.columns, method)
        }))
    }

    fn draws<const K: usize>(
        &self,
        statistic: &impl Fn(&[u32], &[u32]) -> Option<[f64; K]>,
    ) -> Vec<[f64; K]> {
        let stream = self.plan.seed.child("crossed");
        let draw = |b: usize| {
            let mut rng = stream.child(b).rng();
            let mut drawn = |n: usize| {
                let mut weights = vec![0; n];
                (0..n).for_each(|_| weights[rng.below(n)] += 1);
                weights
            };
            let (rows, columns) = (drawn(self.rows), drawn(self.columns));
            statistic(&rows, &columns)
        };
        (0..self.plan.replicates.get()).filter_map(draw).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Level;
    use offnominal_core::{Rng, Seed};

    /// The mean of a table of row effect + column effect + noise, whose true mean is 0.
    fn interval(rng: &mut Rng, rows: usize, columns: usize) -> Estimate {
        let (a, b): (Vec<f64>, Vec<f64>) =
            ((0..rows).map(|_| rng.normal()).collect(), (0..columns).map(|_| rng.normal()).collect());
        let table: Vec<f64> =
            a.iter().flat_map(|a| b.iter().map(move |b| a + b)).map(|v| v + rng.normal()).collect();
        let plan = Bootstrap::new(200, Level::P95, Seed(1));
        let mean = |r: &[u32], c: &[u32]| {
            let weights = r.iter().flat_map(|&r| c.iter().map(move |&c| f64::from(r * c)));
            let sum: f64 = weights.zip(&table).map(|(w, v)| w * v).sum();
            Some([sum / (rows * columns) as f64])
        };
        let [found] = Crossed { plan, rows, columns }.estimates("mean", mean).unwrap();
        found
    }

    #[test]
    fn intervals_cover_where_rows_and_columns_are_random() {
        let mut rng = Rng::new(1);
        let covered = (0..200).filter(|_| interval(&mut rng, 15, 15).covers(0.0)).count();
        assert!((175..=200).contains(&covered), "{covered} of 200");
    }

    #[test]
    fn a_single_row_is_said() {
        assert_eq!(interval(&mut Rng::new(2), 1, 20).method, "bootstrap of columns");
    }
}

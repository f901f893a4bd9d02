//! Means and medians over cells, with intervals that do not pretend to know more than the cells tell.
//!
//! A *cell* is one anomaly at one strength for one detector in one environment. Cells of the same anomaly share their
//! episodes and their cause, so they form a *cluster* (environment × anomaly) and count as one independent unit.
//!
//! The 95 % interval of a mean is the envelope of two intervals:
//! 1. between clusters: mean ± t₀.₉₇₅(C − 1) · s, with the cluster-robust standard error
//!    s² = C/(C − 1) · Σ_c (Σ_{i∈c} (x_i − mean))² / N² for C clusters and N cells;
//! 2. within cells: the mean of the cells' own limits, which holds however the cells depend on one another.
//!
//! The first says how much the mean depends on which anomalies were tried, the second on which episodes were drawn.
//! With fewer than three clusters only the second is used. The median (for delays, where "not reached" is a value
//! above all others) takes the order statistics of the clusters' medians.

use offnominal_core::estimate::Estimate;
use statrs::distribution::{Binomial, ContinuousCDF, DiscreteCDF, StudentsT};
use std::collections::BTreeMap;

/// Two clusters say next to nothing about a third: their 95 % interval reaches 12.7 standard errors.
const FEWEST: usize = 3;

/// One cell's value with its own interval.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Point {
    /// The cell's value.
    pub value: f64,
    /// Lower end of the cell's interval; not a number if it has none.
    pub low: f64,
    /// Upper end of the cell's interval; not a number if it has none.
    pub high: f64,
    /// Cells with the same number belong together.
    pub cluster: usize,
}

/// Mean over the cells that have a finite value, clipped to `range`; none if there are no such cells.
pub fn mean(points: &[Point], range: (f64, f64)) -> Option<Estimate> {
    let points: Vec<Point> = points.iter().copied().filter(|p| p.value.is_finite()).collect();
    if points.is_empty() {
        return None;
    }
    let value = average(points.iter().map(|p| p.value));
    let (low, high) = envelope(between_clusters(&points, value), within_cells(&points));
    let (low, high) = (low.clamp(range.0, range.1), high.clamp(range.0, range.1));
    Some(estimate(value, low, high, points.len(), "mean over cells"))
}

/// Mean of a cell over its repetitions; its limits are the means of the repetitions' limits.
pub fn over_seeds(points: &[Point]) -> Option<Point> {
    let finite: Vec<Point> = points.iter().copied().filter(|p| !p.value.is_nan()).collect();
    let first = finite.first()?;
    let mean_of = |part: fn(&Point) -> f64| average(finite.iter().map(part));
    Some(Point {
        value: mean_of(|p| p.value),
        low: mean_of(|p| p.low),
        high: mean_of(|p| p.high),
        cluster: first.cluster,
    })
}

/// Median over the cells, where infinity means "not reached"; none without cells.
pub fn median(points: &[Point]) -> Option<Estimate> {
    let values: Vec<f64> = points.iter().map(|p| p.value).filter(|v| !v.is_nan()).collect();
    if values.is_empty() {
        return None;
    }
    let value = middle(values.clone());
    let medians = cluster_medians(points);
    let (low, high) = order_statistics(&medians);
    Some(estimate(value, low.min(value), high.max(value), values.len(), "median over cells"))
}

fn estimate(value: f64, low: f64, high: f64, n: usize, method: &str) -> Estimate {
    Estimate { value, low, high, level: 0.95, n, method: method.to_string() }
}

fn average(values: impl Iterator<Item = f64>) -> f64 {
    let (n, total) = values.fold((0, 0.0), |(n, total), v| (n + 1, total + v));
    total / f64::from(n)
}

fn envelope(a: (f64, f64), b: (f64, f64)) -> (f64, f64) {
    (a.0.min(b.0), a.1.max(b.1)) // `min` and `max` pass over what is not a number
}

fn between_clusters(points: &[Point], mean: f64) -> (f64, f64) {
    let mut residual: BTreeMap<usize, f64> = BTreeMap::new();
    for p in points {
        *residual.entry(p.cluster).or_default() += p.value - mean;
    }
    let clusters = residual.len() as f64;
    if residual.len() < FEWEST {
        return (f64::NAN, f64::NAN);
    }
    let squares: f64 = residual.values().map(|r| r * r).sum();
    let error = (clusters / (clusters - 1.0) * squares).sqrt() / points.len() as f64;
    let reach = student_quantile(clusters - 1.0) * error;
    (mean - reach, mean + reach)
}

fn student_quantile(freedom: f64) -> f64 {
    StudentsT::new(0.0, 1.0, freedom).expect("positive degrees of freedom").inverse_cdf(0.975)
}

fn within_cells(points: &[Point]) -> (f64, f64) {
    let known: Vec<&Point> = points.iter().filter(|p| p.low.is_finite() && p.high.is_finite()).collect();
    (average(known.iter().map(|p| p.low)), average(known.iter().map(|p| p.high)))
}

fn middle(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    let (low, high) = (values[(values.len() - 1) / 2], values[values.len() / 2]);
    if low == high { low } else { 0.5 * (low + high) } // also for two infinities
}

fn cluster_medians(points: &[Point]) -> Vec<f64> {
    let mut clusters: BTreeMap<usize, Vec<f64>> = BTreeMap::new();
    for p in points.iter().filter(|p| !p.value.is_nan()) {
        clusters.entry(p.cluster).or_default().push(p.value);
    }
    clusters.into_values().map(middle).collect()
}

/// The widest-enough pair of order statistics: ranks r and n + 1 − r with P(Bin(n, ½) < r) ≤ 2.5 %.
fn order_statistics(values: &[f64]) -> (f64, f64) {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let n = sorted.len();
    let coin = Binomial::new(0.5, n as u64).expect("one half is a probability");
    let rank = (1..=n).take_while(|&r| coin.cdf(r as u64 - 1) <= 0.025).last();
    rank.map_or((0.0, f64::INFINITY), |r| (sorted[r - 1], sorted[n - r]))
}

#[cfg(test)]
mod tests {
    use super::*;
    use offnominal_core::rng::Rng;

    fn point(value: f64, half: f64, cluster: usize) -> Point {
        Point { value, low: value - half, high: value + half, cluster }
    }

    const ANY: (f64, f64) = (f64::NEG_INFINITY, f64::INFINITY);

    #[test]
    fn independent_cells_give_the_textbook_interval() {
        let points: Vec<Point> =
            [1.0, 2.0, 3.0, 4.0, 5.0].iter().enumerate().map(|(i, &v)| point(v, 0.0, i)).collect();
        let found = mean(&points, ANY).unwrap();
        assert_eq!((found.value, found.n), (3.0, 5));
        let reach = 2.776_445_105_198 * (2.5_f64 / 5.0).sqrt(); // t of 4 degrees of freedom, tables
        assert!((found.high - 3.0 - reach).abs() < 1e-9 && (3.0 - found.low - reach).abs() < 1e-9);
    }

    #[test]
    fn copies_of_a_cell_add_no_certainty() {
        let once: Vec<Point> = (0..4).map(|i| point(f64::from(i), 0.0, i as usize)).collect();
        let thrice: Vec<Point> = once.iter().flat_map(|p| [*p; 3]).collect();
        let (once, thrice) = (mean(&once, ANY).unwrap(), mean(&thrice, ANY).unwrap());
        assert!((once.low - thrice.low).abs() < 1e-12 && (once.high - thrice.high).abs() < 1e-12);
    }

    #[test]
    fn equal_cells_keep_their_own_uncertainty() {
        let found = mean(&[point(0.9, 0.05, 0), point(0.9, 0.05, 1)], (0.0, 1.0)).unwrap();
        assert!((found.low - 0.85).abs() < 1e-12 && (found.high - 0.95).abs() < 1e-12);
    }

    #[test]
    fn two_clusters_fall_back_on_the_cells_own_limits_and_the_range_clips() {
        let found = mean(&[point(0.97, 0.05, 3), point(0.99, 0.05, 4)], (0.0, 1.0)).unwrap();
        assert!((found.low - 0.93).abs() < 1e-12);
        assert_eq!(found.high, 1.0);
    }

    #[test]
    fn cells_without_data_are_left_out_and_nothing_gives_nothing() {
        let found = mean(&[point(0.5, 0.1, 0), point(f64::NAN, 0.0, 1)], (0.0, 1.0)).unwrap();
        assert_eq!((found.value, found.n), (0.5, 1));
        assert_eq!(mean(&[point(f64::NAN, 0.0, 0)], (0.0, 1.0)), None);
        assert_eq!(median(&[]), None);
    }

    #[test]
    fn the_median_counts_what_was_not_reached() {
        let delays = [3.0, 5.0, f64::INFINITY, 9.0, f64::INFINITY];
        let points: Vec<Point> = delays.iter().enumerate().map(|(i, &v)| point(v, 0.0, i)).collect();
        assert_eq!(median(&points).unwrap().value, 9.0);
        let (low, high) = (median(&points).unwrap().low, median(&points).unwrap().high);
        assert_eq!((low, high), (0.0, f64::INFINITY), "five clusters cannot bound a median at 95 %");
    }

    #[test]
    fn ten_clusters_use_the_second_and_the_ninth() {
        let points: Vec<Point> = (1..=10).map(|i| point(f64::from(i), 0.0, i as usize)).collect();
        let found = median(&points).unwrap();
        assert_eq!((found.low, found.value, found.high), (2.0, 5.5, 9.0)); // P(Bin(10, ½) ≤ 1) = 1.07 %
    }

    /// The interval covers the truth about as often as it says, although strengths of one anomaly go together.
    #[test]
    fn the_interval_of_the_mean_covers() {
        let mut rng = Rng::new(7);
        let covered = (0..400).filter(|_| clustered_sample_covers(&mut rng)).count();
        assert!((366..=396).contains(&covered), "covered {covered} of 400");
    }

    fn clustered_sample_covers(rng: &mut Rng) -> bool {
        let mut points = Vec::new();
        for cluster in 0..12 {
            let shared = rng.normal();
            points.extend((0..4).map(|_| point(shared + 0.3 * rng.normal(), 0.0, cluster)));
        }
        mean(&points, ANY).unwrap().covers(0.0)
    }
}

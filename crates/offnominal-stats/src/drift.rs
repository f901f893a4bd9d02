//! Whether a list of things, in the order of time, changes from the first to the last: a permutation test.
//!
//! Each thing has numbers, such as the mean and the spread of a channel. Each number is compared, by rank correlation, with two
//! things: the part of the list that it is of (before or from a given place on), and its place. The largest of all correlations
//! is compared with the largest ones of 999 random orders, so neither many numbers nor two questions make a false alarm
//! likelier: while the things are exchangeable, P(p ≤ x) ≤ x.
//!
//! ```
//! use offnominal_core::Seed;
//! use offnominal_stats::drift::drift;
//! let rows: Vec<Vec<f64>> = (0..20).map(|i| vec![f64::from(i), f64::from(i % 2)]).collect();
//! let found = drift(&rows, 10, Seed(1)).unwrap();
//! assert_eq!((found.column, found.is_gradual, found.p), (0, true, 0.001));
//! ```

use offnominal_core::{Rng, Seed};

/// Random orders that tell how much things seem to drift by chance.
const ORDERS: usize = 999;
/// Things below which nothing can be said.
const FEWEST: usize = 10;

/// The largest change.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Drift {
    /// Which number of a thing changes most.
    pub column: usize,
    /// Whether it changes with the place, more than from one part to the other.
    pub is_gradual: bool,
    /// The probability of so large a change of any number by chance, at most.
    pub p: f64,
}

/// The largest change in rows `[n][numbers]`, of which the second part begins at `second`; none if there are fewer than ten.
///
/// # Panics
/// If rows have different lengths.
pub fn drift(rows: &[Vec<f64>], second: usize, seed: Seed) -> Option<Drift> {
    let n = rows.len();
    if n < FEWEST {
        return None;
    }
    assert!(rows.iter().all(|row| row.len() == rows[0].len()), "rows are of one length");
    let column = |j: usize| rows.iter().map(|row| row[j]).collect::<Vec<_>>();
    let columns: Vec<Vec<f64>> = (0..rows[0].len()).map(|j| unit(&ranks(&column(j)))).collect();
    let places: Vec<f64> = (0..n).map(|i| i as f64).collect();
    let parts: Vec<f64> = (0..n).map(|i| f64::from(u8::from(i >= second))).collect();
    let mut order: Vec<usize> = (0..n).collect();
    let against = [unit(&parts), unit(&places)];
    let (found, column, which) = largest(&columns, &against, &order);
    let mut rng: Rng = seed.child("exchangeability").rng();
    let as_large = (0..ORDERS)
        .filter(|_| {
            rng.shuffle(&mut order);
            largest(&columns, &against, &order).0 >= found
        })
        .count();
    Some(Drift { column, is_gradual: which == 1, p: (1 + as_large) as f64 / (1 + ORDERS) as f64 })
}

/// The largest correlation, in which column, and with what.
fn largest(columns: &[Vec<f64>], against: &[Vec<f64>; 2], order: &[usize]) -> (f64, usize, usize) {
    let correlation = |a: &[f64], b: &[f64]| a.iter().zip(order).map(|(x, &i)| x * b[i]).sum::<f64>().abs();
    let all = columns.iter().enumerate().flat_map(|(at, column)| {
        against.iter().enumerate().map(move |(which, other)| (correlation(column, other), at, which))
    });
    all.fold((0.0, 0, 0), |most, new| if new.0 > most.0 { new } else { most })
}

/// The rank of each number, the same for equal ones.
fn ranks(values: &[f64]) -> Vec<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    let rank = |x: &f64| sorted.partition_point(|y| y < x) + sorted.partition_point(|y| y <= x);
    values.iter().map(|x| rank(x) as f64).collect()
}

/// The numbers around their mean, at length one; zeros if they are equal.
fn unit(values: &[f64]) -> Vec<f64> {
    let mean = values.iter().sum::<f64>() / values.len() as f64;
    let length = values.iter().map(|x| (x - mean).powi(2)).sum::<f64>().sqrt();
    values.iter().map(|x| if length > 0.0 { (x - mean) / length } else { 0.0 }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exchangeable_things_seldom_seem_to_drift() {
        let sets = 200;
        let seems = |seed: &u64| {
            let mut rng = Seed(*seed).child("rows").rng();
            let rows: Vec<Vec<f64>> = (0..20).map(|_| vec![rng.normal(), rng.normal()]).collect();
            drift(&rows, 10, Seed(*seed)).unwrap().p <= 0.1
        };
        // 20 of 200 are expected, with a standard deviation of 4.2.
        let found = (0..sets).filter(seems).count();
        assert!((8..=33).contains(&found), "{found}");
    }

    #[test]
    fn nothing_is_said_of_few_or_equal_things() {
        assert_eq!(drift(&vec![vec![1.0]; 9], 4, Seed(1)), None);
        assert_eq!(drift(&vec![vec![1.0]; 10], 5, Seed(1)).unwrap().p, 1.0);
    }
}

//! Whether a list of things, in the order of time, changes from the first to the last: a permutation test.
//!
//! Each thing has numbers, such as the mean and the spread of a channel. Each number is compared, by correlation, with the part
//! of the list that it is of (before or from a given place on); [`drift`] takes ranks, and compares with the place too. The
//! largest of all correlations is compared with the largest ones of 999 random orders, so neither many numbers nor two questions
//! make a false alarm likelier: while the things are exchangeable, P(p ≤ x) ≤ x.
//!
//! [`differences`] says the same of each number (the single-step max-T of Westfall and Young, Resampling-Based Multiple Testing,
//! 1993, section 2.3). It takes the numbers as they are: ranks of ten things and many numbers agree with some division by chance.
//! Where there are few divisions into parts of these sizes, it goes through all of them, and p is exact.
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
/// Correlations that differ by no more are equal: sums of the same numbers in another order differ by rounding.
const ROUNDING: f64 = 1e-9;
/// Numbers that differ by no more, relative to the largest, are equal for the same reason.
const EQUAL: f64 = 1e-11;

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

/// How a number differs between two parts of a list.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Difference {
    /// Its correlation with the part: positive if it is larger in the second one.
    pub correlation: f64,
    /// The probability of so large a correlation of any number by chance, at most.
    pub p: f64,
}

/// The differences of each number of rows `[n][numbers]`, of which the second part begins at `second`.
///
/// # Panics
/// If rows have different lengths, or there is none.
pub fn differences(rows: &[Vec<f64>], second: usize, seed: Seed) -> Vec<Difference> {
    let n = rows.len();
    let columns: Vec<Vec<f64>> = columns(rows).iter().map(|column| unit(&exact(column))).collect();
    let parts = [unit(&parts(n, second))];
    let same: Vec<usize> = (0..n).collect();
    let found: Vec<f64> = columns.iter().map(|column| correlation(column, &parts[0], &same)).collect();
    let is_all = divisions(second, n - second) <= ORDERS as f64;
    let orders = if is_all { all_divisions(n, second) } else { random_orders(n, seed) };
    let chance: Vec<f64> = orders.iter().map(|order| largest(&columns, &parts, order).0).collect();
    // A random order may be the one that was found; all divisions hold it.
    let own = usize::from(!is_all);
    let p = |correlation: f64| {
        let as_large = chance.iter().filter(|&&other| other >= correlation.abs() - ROUNDING).count();
        (own + as_large) as f64 / (own + chance.len()) as f64
    };
    found.into_iter().map(|correlation| Difference { correlation, p: p(correlation) }).collect()
}

/// The smallest p that so many things in two parts can give, whatever they are.
///
/// ```
/// use offnominal_stats::drift::smallest_p;
/// assert_eq!([smallest_p(1, 1), smallest_p(1, 19), smallest_p(4, 4)], [1.0, 0.05, 2.0 / 70.0]);
/// ```
pub fn smallest_p(first: usize, second: usize) -> f64 {
    // Parts of the same size may change places.
    let alike = if first == second { 2.0 } else { 1.0 };
    (alike / divisions(first, second)).max(1.0 / (1 + ORDERS) as f64)
}

/// In how many ways things can be divided into parts of two sizes.
fn divisions(first: usize, second: usize) -> f64 {
    let few = first.min(second);
    (1..=few).fold(1.0, |n, i| (n * (first + second - few + i) as f64 / i as f64).round())
}

/// Each division as an order: who is in the second part has one of its places.
fn all_divisions(n: usize, second: usize) -> Vec<Vec<usize>> {
    let mut all = Vec::new();
    let mut chosen: Vec<usize> = (0..n - second).collect();
    loop {
        let mut places = [0..second, second..n];
        let order =
            (0..n).map(|i| places[usize::from(chosen.contains(&i))].next().expect("a place for each"));
        all.push(order.collect());
        let k = chosen.len();
        let Some(at) = (0..k).rev().find(|&at| chosen[at] < n - k + at) else { return all };
        let next = chosen[at] + 1;
        (at..k).for_each(|later| chosen[later] = next + later - at);
    }
}

fn random_orders(n: usize, seed: Seed) -> Vec<Vec<usize>> {
    let (mut rng, mut order): (Rng, Vec<usize>) = (seed.child("exchangeability").rng(), (0..n).collect());
    let shuffled = |_| {
        rng.shuffle(&mut order);
        order.clone()
    };
    (0..ORDERS).map(shuffled).collect()
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
    let columns: Vec<Vec<f64>> = columns(rows).iter().map(|column| unit(&ranks(column))).collect();
    let places: Vec<f64> = (0..n).map(|i| i as f64).collect();
    let against = [unit(&parts(n, second)), unit(&places)];
    let same: Vec<usize> = (0..n).collect();
    let (found, column, which) = largest(&columns, &against, &same);
    let is_as_large = |order: &&Vec<usize>| largest(&columns, &against, order).0 >= found - ROUNDING;
    let as_large = random_orders(n, seed).iter().filter(is_as_large).count();
    Some(Drift { column, is_gradual: which == 1, p: (1 + as_large) as f64 / (1 + ORDERS) as f64 })
}

/// Each number of all rows.
fn columns(rows: &[Vec<f64>]) -> Vec<Vec<f64>> {
    assert!(rows.iter().all(|row| row.len() == rows[0].len()), "rows are of one length");
    (0..rows[0].len()).map(|j| rows.iter().map(|row| row[j]).collect()).collect()
}

/// Which part each thing is of.
fn parts(n: usize, second: usize) -> Vec<f64> {
    (0..n).map(|i| f64::from(u8::from(i >= second))).collect()
}

fn correlation(column: &[f64], against: &[f64], order: &[usize]) -> f64 {
    column.iter().zip(order).map(|(x, &i)| x * against[i]).sum()
}

/// The largest correlation, in which column, and with what.
fn largest(columns: &[Vec<f64>], against: &[Vec<f64>], order: &[usize]) -> (f64, usize, usize) {
    let all = columns.iter().enumerate().flat_map(|(at, column)| {
        let of =
            move |(which, other): (usize, &Vec<f64>)| (correlation(column, other, order).abs(), at, which);
        against.iter().enumerate().map(of)
    });
    all.fold((0.0, 0, 0), |most, new| if new.0 > most.0 { new } else { most })
}

/// The numbers; the first one in place of all that differ from it by rounding alone.
fn exact(values: &[f64]) -> Vec<f64> {
    let largest = values.iter().fold(0.0_f64, |most, x| most.max(x.abs()));
    let is_equal = |x: &f64| (x - values[0]).abs() <= EQUAL * largest;
    values.iter().map(|x| if is_equal(x) { values[0] } else { *x }).collect()
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
    fn a_shift_of_one_number_of_many_is_found_and_nothing_else() {
        let rows = |shift: f64, seed: usize| -> Vec<Vec<f64>> {
            let mut rng = Seed(3).child(seed).rng();
            let shift = |i: usize, j: usize| if i >= 6 && j == 7 { shift } else { 0.0 };
            (0..12).map(|i| (0..20).map(|j| rng.normal() + shift(i, j)).collect()).collect()
        };
        let found = differences(&rows(9.0, 0), 6, Seed(1));
        // 924 divisions, of which two say the same.
        assert!((found[7].p - 2.0 / 924.0).abs() < 1e-12 && found[7].correlation > 0.9, "{:?}", found[7]);
        assert!(found.iter().enumerate().all(|(j, one)| j == 7 || one.p > 0.05), "{found:?}");
        // Of 100 sets of the same law, 10 are expected to have any p of 0.1, with a standard deviation of 3.
        let seems = |set: &usize| differences(&rows(0.0, 1 + set), 6, Seed(1)).iter().any(|one| one.p <= 0.1);
        let n = (0..100).filter(seems).count();
        assert!((2..=19).contains(&n), "{n}");
    }

    #[test]
    fn one_thing_against_nineteen_is_ranked_among_them() {
        let mut rows: Vec<Vec<f64>> = (0..20).map(|i| vec![f64::from(i % 7)]).collect();
        assert_eq!(differences(&rows, 19, Seed(1))[0].p, 0.4, "8 of 20 lie as far from the mean as the last");
        rows[19][0] = 30.0;
        assert_eq!(differences(&rows, 19, Seed(1))[0].p, 0.05);
        assert_eq!(all_divisions(5, 2).len() as f64, divisions(2, 3));
    }

    #[test]
    fn nothing_is_said_of_few_or_equal_things() {
        assert_eq!(drift(&vec![vec![1.0]; 9], 4, Seed(1)), None);
        assert_eq!(drift(&vec![vec![1.0]; 10], 5, Seed(1)).unwrap().p, 1.0);
    }
}

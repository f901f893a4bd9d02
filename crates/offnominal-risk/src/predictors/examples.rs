//! Training episodes as a predictor sees them: rows of the initial condition and θ, and whether the episode failed.
//!
//! An initial condition that leads past many places has a row for each of them; any other has one row.

use offnominal_core::Rng;

/// Which policy played.
#[derive(Debug, Clone, Copy, PartialEq, serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Theta {
    /// Share of the training that was done.
    pub iteration: f64,
    /// How much it explored, as a share of the most that the history has.
    pub noise: f64,
}

/// Episodes in the order in which they ended.
#[derive(Debug, Clone, PartialEq)]
pub struct Examples {
    /// Numbers in a row: features of the initial condition or of a place, then iteration and noise.
    width: usize,
    /// `[rows of all, width]`
    rows: Vec<f32>,
    /// How many rows there are up to the end of each.
    ends: Vec<usize>,
    failed: Vec<f32>,
    /// The row at which each failed; [`NOWHERE`] of those that did not, or of which nobody knows.
    places: Vec<u32>,
    /// The smallest margin of each; not a number where nobody knows it.
    margins: Vec<f32>,
}

/// No row.
pub(crate) const NOWHERE: u32 = u32::MAX;

impl Examples {
    /// None yet, of initial conditions or places with so many features.
    pub fn new(width: usize) -> Examples {
        Examples::with_width(width + 2)
    }

    fn with_width(width: usize) -> Examples {
        let (rows, ends, failed) = (Vec::new(), Vec::new(), Vec::new());
        Examples { width, rows, ends, failed, places: Vec::new(), margins: Vec::new() }
    }

    /// Adds one that ended later than those before: the features of its initial condition, or of one place after the
    /// other.
    ///
    /// # Panics
    /// If there are no features, or other than so many at each place.
    pub fn push(&mut self, x: &[f64], theta: Theta, failed: bool) {
        let features = self.width - 2;
        assert!(!x.is_empty() && x.len().is_multiple_of(features), "features of an initial condition");
        self.rows.extend(rows(x, features, theta));
        self.ends.push(self.rows.len() / self.width);
        self.failed.push(f32::from(u8::from(failed)));
        self.places.push(NOWHERE);
        self.margins.push(f32::NAN);
    }

    /// Says the smallest margin of the example that was added last.
    ///
    /// # Panics
    /// If there is none.
    pub fn came_within(&mut self, margin: f64) {
        *self.margins.last_mut().expect("an example") = margin as f32;
    }

    /// Says at which place the example that was added last failed.
    ///
    /// # Panics
    /// If there is none, it did not fail, or has not so many places.
    pub fn failed_at(&mut self, place: u32) {
        let last = self.len() - 1;
        let n = self.rows_of(last).len() / self.width;
        assert!(self.failed[last] > 0.5 && (place as usize) < n, "place {place} of {n}");
        self.places[last] = place;
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.failed.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.failed.is_empty()
    }

    /// Numbers in a row.
    pub fn row_width(&self) -> usize {
        self.width
    }

    /// How many of them failed.
    pub fn failures(&self) -> usize {
        self.failed.iter().filter(|&&f| f > 0.0).count()
    }

    /// The rows, one after the other.
    pub fn rows(&self) -> &[f32] {
        &self.rows
    }

    /// The rows of one example.
    pub(crate) fn rows_of(&self, i: usize) -> &[f32] {
        let from = if i == 0 { 0 } else { self.ends[i - 1] };
        &self.rows[from * self.width..self.ends[i] * self.width]
    }

    /// Whether each has one row.
    pub(crate) fn has_single_rows(&self) -> bool {
        self.ends.last().copied().unwrap_or(0) == self.len()
    }

    /// 1 for a failure, else 0.
    pub fn failed(&self) -> &[f32] {
        &self.failed
    }

    /// The place at which each failed, or [`NOWHERE`].
    pub(crate) fn places(&self) -> &[u32] {
        &self.places
    }

    /// The smallest margin of each; not a number where nobody knows it.
    pub(crate) fn margins(&self) -> &[f32] {
        &self.margins
    }

    /// Mean cross-entropy of predicted chances to fail, which are limited to a millionth from certainty.
    pub(crate) fn cross_entropy(&self, predicted: &[f64]) -> f64 {
        let term = |(p, y): (&f64, &f32)| {
            let right = if *y > 0.5 { *p } else { 1.0 - p };
            -right.max(1e-6).ln()
        };
        // Not −0 where all are certain.
        (predicted.iter().zip(&self.failed).map(term).sum::<f64>() / predicted.len() as f64).max(0.0)
    }

    /// Those of policies that had done more than this share of their training.
    #[must_use]
    pub fn after(&self, iteration: f64) -> Examples {
        let is_late = |i: &usize| f64::from(self.rows_of(*i)[self.width - 2]) > iteration;
        self.chosen((0..self.len()).filter(is_late))
    }

    /// The first part, and the later one, which begins where so large a share of the failures is still to come.
    pub fn split(&self, share: f64) -> (Examples, Examples) {
        let mut left = (self.failures() as f64 * share).ceil();
        let is_enough = |i: &usize| {
            left -= f64::from(self.failed[*i]);
            left <= 0.0
        };
        let first = (0..self.len()).rev().find(is_enough).unwrap_or(0);
        (self.chosen(0..first), self.chosen(first..self.len()))
    }

    /// The first part, and the later one, which has so large a share of the examples.
    pub(crate) fn split_evenly(&self, share: f64) -> (Examples, Examples) {
        let first = (self.len() as f64 * (1.0 - share)).round() as usize;
        (self.chosen(0..first), self.chosen(first..self.len()))
    }

    /// At most so many of them, evenly spaced.
    pub(crate) fn at_most(&self, most: usize) -> Examples {
        let (n, kept) = (self.len(), self.len().min(most));
        self.chosen((0..kept).map(|k| k * n / kept))
    }

    /// Two parts in their order; each example is in the second one with this chance.
    pub(crate) fn split_at_random(&self, share: f64, rng: &mut Rng) -> (Examples, Examples) {
        let is_second: Vec<bool> = (0..self.len()).map(|_| rng.uniform() < share).collect();
        let part = |second: bool| self.chosen((0..self.len()).filter(|&i| is_second[i] == second));
        (part(false), part(true))
    }

    /// The same examples with other rows.
    pub(crate) fn with_rows(&self, width: usize, map: impl FnOnce(&[f32], &mut [f32])) -> Examples {
        let mut rows = vec![0.0; self.rows.len() / self.width * width];
        map(&self.rows, &mut rows);
        Examples {
            width,
            rows,
            ends: self.ends.clone(),
            failed: self.failed.clone(),
            places: self.places.clone(),
            margins: self.margins.clone(),
        }
    }

    fn chosen(&self, which: impl Iterator<Item = usize>) -> Examples {
        let mut chosen = Examples::with_width(self.width);
        which.for_each(|i| chosen.copy(self, i));
        chosen
    }

    /// Adds one of other examples.
    fn copy(&mut self, from: &Examples, i: usize) {
        self.rows.extend_from_slice(from.rows_of(i));
        self.ends.push(self.rows.len() / self.width);
        self.failed.push(from.failed[i]);
        self.places.push(from.places[i]);
        self.margins.push(from.margins[i]);
    }

    /// An empty batch of such examples.
    pub(crate) fn batch(&self) -> Examples {
        Examples::with_width(self.width)
    }

    /// Copies those with these numbers into a batch.
    pub(crate) fn gather(&self, which: &[usize], batch: &mut Examples) {
        batch.rows.clear();
        batch.ends.clear();
        batch.failed.clear();
        batch.places.clear();
        batch.margins.clear();
        which.iter().for_each(|&i| batch.copy(self, i));
    }

    /// So many random numbers of examples.
    pub(crate) fn sample(&self, which: &mut [usize], rng: &mut Rng) {
        which.iter_mut().for_each(|i| *i = rng.below(self.len()));
    }

    /// How many rows there are up to the end of each.
    pub(crate) fn ends(&self) -> &[usize] {
        &self.ends
    }

    /// Rows of the longest.
    pub(crate) fn longest(&self) -> usize {
        let starts = std::iter::once(0).chain(self.ends.iter().copied());
        starts.zip(&self.ends).map(|(start, end)| end - start).max().unwrap_or(0)
    }
}

/// The rows of an initial condition, or of one place after the other.
pub(crate) fn rows(x: &[f64], features: usize, theta: Theta) -> impl Iterator<Item = f32> {
    let row = move |place: &[f64]| {
        let numbers = place.iter().copied().chain([theta.iteration, theta.noise]);
        numbers.map(|v| v as f32).collect::<Vec<_>>()
    };
    x.chunks_exact(features).flat_map(row)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Ten episodes, one after the other, of which the last five fail.
    fn ten() -> Examples {
        let mut all = Examples::new(1);
        for i in 0..10 {
            let theta = Theta { iteration: f64::from(i) / 10.0, noise: 0.0 };
            all.push(&[f64::from(i)], theta, i >= 5);
        }
        all
    }

    #[test]
    fn the_later_part_has_its_share_of_the_failures() {
        let (first, later) = ten().split(0.4);
        assert_eq!((first.len(), later.len(), later.failures()), (8, 2, 2));
        assert_eq!(later.rows()[0], 8.0);
    }

    #[test]
    fn margins_stay_with_their_example() {
        let mut all = ten();
        all.came_within(0.75);
        let (first, later) = all.split_evenly(0.3);
        assert_eq!((first.len(), later.margins()[2]), (7, 0.75));
        assert!(first.margins().iter().all(|margin| margin.is_nan()));
    }

    #[test]
    fn no_more_than_asked_for_are_left_evenly_spaced() {
        let rows = |examples: &Examples| examples.rows().iter().step_by(3).copied().collect::<Vec<_>>();
        assert_eq!(rows(&ten().at_most(4)), [0.0, 2.0, 5.0, 7.0]);
        assert_eq!([10, 11].map(|most| ten().at_most(most).len()), [10; 2]);
    }

    #[test]
    fn early_training_can_be_left_out() {
        let late = ten().after(0.35);
        assert_eq!((late.len(), late.rows()[0], late.failures()), (6, 4.0, 5));
    }

    #[test]
    fn places_of_all_lengths_stay_with_their_example() {
        let mut all = Examples::new(2);
        for n in [3_usize, 1, 4] {
            let places: Vec<f64> = (0..2 * n).map(|v| v as f64).collect();
            all.push(&places, Theta { iteration: n as f64 / 4.0, noise: 0.0 }, n == 4);
        }
        assert_eq!((all.ends(), all.longest()), ([3, 4, 8].as_slice(), 4));
        assert_eq!(all.rows_of(1), [0.0, 1.0, 0.25, 0.0]);
        let late = all.after(0.5);
        assert_eq!(
            (late.ends(), late.rows_of(1)[4..8].to_vec()),
            ([3, 7].as_slice(), vec![2.0, 3.0, 1.0, 0.0])
        );
        let mut batch = all.batch();
        all.gather(&[2, 0, 2], &mut batch);
        assert_eq!((batch.len(), batch.failures()), (3, 2));
        assert!(batch.rows_of(1) == all.rows_of(0) && batch.rows_of(2) == all.rows_of(2));
    }
}

//! Training episodes as a predictor sees them: rows of the initial condition and θ, and whether the episode failed.

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
    /// Numbers in a row: features of the initial condition, then iteration and noise.
    width: usize,
    /// `[n, width]`
    rows: Vec<f32>,
    failed: Vec<f32>,
}

impl Examples {
    /// None yet, of initial conditions with so many features.
    pub fn new(width: usize) -> Examples {
        Examples { width: width + 2, rows: Vec::new(), failed: Vec::new() }
    }

    /// Adds one that ended later than those before.
    ///
    /// # Panics
    /// If there are more or fewer features.
    pub fn push(&mut self, x: &[f64], theta: Theta, failed: bool) {
        assert_eq!(x.len() + 2, self.width, "features of an initial condition");
        self.rows.extend(row(x, theta));
        self.failed.push(f32::from(u8::from(failed)));
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

    /// 1 for a failure, else 0.
    pub fn failed(&self) -> &[f32] {
        &self.failed
    }

    /// Those of policies that had done more than this share of their training.
    #[must_use]
    pub fn after(&self, iteration: f64) -> Examples {
        let is_late = |i: &usize| f64::from(self.rows[(i + 1) * self.width - 2]) > iteration;
        let mut late = Examples { width: self.width, rows: Vec::new(), failed: Vec::new() };
        self.gather(&(0..self.len()).filter(is_late).collect::<Vec<_>>(), &mut late.rows, &mut late.failed);
        late
    }

    /// The first part, and the later one, which begins where so large a share of the failures is still to come.
    pub fn split(&self, share: f64) -> (Examples, Examples) {
        let mut left = (self.failures() as f64 * share).ceil();
        let is_enough = |i: &usize| {
            left -= f64::from(self.failed[*i]);
            left <= 0.0
        };
        let first = (0..self.len()).rev().find(is_enough).unwrap_or(0);
        (self.part(0..first), self.part(first..self.len()))
    }

    /// The same examples with other rows.
    pub(crate) fn with_rows(&self, width: usize, map: impl FnOnce(&[f32], &mut [f32])) -> Examples {
        let mut rows = vec![0.0; self.len() * width];
        map(&self.rows, &mut rows);
        Examples { width, rows, failed: self.failed.clone() }
    }

    fn part(&self, range: std::ops::Range<usize>) -> Examples {
        let w = self.width;
        let rows = self.rows[range.start * w..range.end * w].to_vec();
        Examples { width: w, rows, failed: self.failed[range].to_vec() }
    }

    /// Copies rows with these places into a batch.
    pub(crate) fn gather(&self, places: &[usize], rows: &mut Vec<f32>, failed: &mut Vec<f32>) {
        let w = self.row_width();
        rows.clear();
        failed.clear();
        for &i in places {
            rows.extend_from_slice(&self.rows[i * w..][..w]);
            failed.push(self.failed[i]);
        }
    }

    /// So many random places.
    pub(crate) fn sample(&self, places: &mut [usize], rng: &mut Rng) {
        places.iter_mut().for_each(|p| *p = rng.below(self.len()));
    }
}

/// One row.
pub(crate) fn row(x: &[f64], theta: Theta) -> impl Iterator<Item = f32> {
    x.iter().copied().chain([theta.iteration, theta.noise]).map(|v| v as f32)
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
    fn early_training_can_be_left_out() {
        let late = ten().after(0.35);
        assert_eq!((late.len(), late.rows()[0], late.failures()), (6, 4.0, 5));
    }
}

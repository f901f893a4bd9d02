//! What a network learns from: rows of numbers, each with the chance that its episode fails.

use offnominal_core::Rng;

/// Rows of numbers, each with its target, episode after episode.
#[derive(Debug, Clone, PartialEq)]
pub struct Rows {
    width: usize,
    numbers: Vec<f32>,
    /// Chances to fail: 1 or 0, as the episode ended, where nobody knows better.
    pub targets: Vec<f32>,
    /// The row after the last one of each episode, and whether it failed.
    pub ends: Vec<(usize, bool)>,
}

impl Rows {
    /// None yet.
    pub fn new(width: usize) -> Rows {
        Rows { width, numbers: Vec::new(), targets: Vec::new(), ends: Vec::new() }
    }

    /// Adds the rows of one episode, flat and in their order, which failed or not.
    ///
    /// # Panics
    /// If they are no whole number of rows.
    pub fn push(&mut self, steps: &[f32], failed: bool) {
        assert!(steps.len().is_multiple_of(self.width), "whole rows of {}", self.width);
        self.numbers.extend_from_slice(steps);
        let n = self.numbers.len() / self.width;
        self.targets.resize(n, f32::from(u8::from(failed)));
        self.ends.push((n, failed));
    }

    /// Number of rows.
    pub(super) fn len(&self) -> usize {
        self.targets.len()
    }

    /// All numbers, row by row.
    pub fn numbers(&self) -> &[f32] {
        &self.numbers
    }

    /// Numbers in a row.
    pub fn width(&self) -> usize {
        self.width
    }

    /// The mean chance.
    pub(super) fn mean(&self) -> f64 {
        self.targets.iter().map(|&t| f64::from(t)).sum::<f64>() / self.len() as f64
    }

    /// The numbers of a row.
    pub fn row(&self, i: usize) -> &[f32] {
        &self.numbers[i * self.width..][..self.width]
    }
}

/// Rows of which batches have as many failures as others, each row in proportion to its chance.
pub(super) struct Balanced<'r> {
    rows: &'r Rows,
    /// Sums of the chances to fail and not to fail, up to each row.
    sums: [Vec<f64>; 2],
}

impl<'r> Balanced<'r> {
    /// Those of both outcomes; nothing if an outcome is missing.
    pub fn of(rows: &'r Rows) -> Option<Balanced<'r>> {
        let sums = [0.0, 1.0].map(|other| {
            let mut sum = 0.0;
            let chances = rows.targets.iter().map(|&t| f64::from(t));
            chances
                .map(|t| {
                    sum += (t - other).abs();
                    sum
                })
                .collect::<Vec<f64>>()
        });
        let has_both = sums.iter().all(|sums| sums.last().is_some_and(|sum| *sum > 0.0));
        has_both.then_some(Balanced { rows, sums })
    }

    /// So many rows of each outcome: first failures.
    pub fn batch(&self, half: usize, rng: &mut Rng) -> Vec<f32> {
        let mut batch = Vec::with_capacity(2 * half * self.rows.width);
        for sums in &self.sums {
            let all = sums[sums.len() - 1];
            for _ in 0..half {
                let at = rng.uniform() * all;
                let i = sums.partition_point(|sum| *sum <= at).min(sums.len() - 1);
                batch.extend_from_slice(self.rows.row(i));
            }
        }
        batch
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn batches_are_half_of_failures() {
        let mut rows = Rows::new(2);
        rows.push(&[0.0, 0.1, 1.0, 0.2], false);
        assert!(Balanced::of(&rows).is_none());
        rows.push(&[9.0, 0.1], true);
        assert_eq!((rows.len(), rows.row(2)), (3, &[9.0_f32, 0.1][..]));
        let batch = Balanced::of(&rows).unwrap().batch(8, &mut Rng::new(1));
        assert!(
            batch[..16].chunks(2).all(|row| row[0] == 9.0) && batch[16..].chunks(2).all(|row| row[0] < 2.0)
        );
    }
}

//! Steps of episodes as a committor learns from them: what was observed, when, and the chance that the episode fails.
//!
//! Rows need no weights: whichever states they are of, and however these were reached, what followed followed by itself.
//! The chance is at first 1 or 0, as the episode ended. A committor that was learned from that gives better ones, by
//! temporal differences (Sutton 1988): an episode that came near to failing and did not is then a part of a failure.

use offnominal_core::Rng;

/// Rows of observation and time, each with its target, episode after episode.
#[derive(Debug, Clone, PartialEq)]
pub struct Rows {
    /// Numbers in a row: the observation, then the share of the horizon that is over.
    width: usize,
    numbers: Vec<f32>,
    /// Chances to fail.
    targets: Vec<f32>,
    /// The row after the last one of each episode, and whether it failed.
    ends: Vec<(usize, bool)>,
}

impl Rows {
    /// None yet.
    pub fn new(width: usize) -> Rows {
        Rows { width, numbers: Vec::new(), targets: Vec::new(), ends: Vec::new() }
    }

    /// Adds the steps of one episode, flat and in their order, which failed or not.
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

    /// Adds all rows of others.
    pub fn extend(&mut self, other: &Rows) {
        let before = self.len();
        self.numbers.extend_from_slice(&other.numbers);
        self.targets.extend_from_slice(&other.targets);
        self.ends.extend(other.ends.iter().map(|&(end, failed)| (before + end, failed)));
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
    pub(super) fn row(&self, i: usize) -> &[f32] {
        &self.numbers[i * self.width..][..self.width]
    }

    /// Makes the targets λ-returns: of a row, the chance that is seen in the next one, and for the rest what is the next
    /// one's own target, which ends as the episode did. λ is that of one step, of which the horizon has so many.
    pub fn trace(&mut self, mut chance: impl FnMut(&[f32]) -> f64, lambda: f64, horizon: u32) {
        let mut first = 0;
        for at in 0..self.ends.len() {
            let (end, failed) = self.ends[at];
            let mut target = f64::from(u8::from(failed));
            for i in (first..end).rev() {
                self.targets[i] = target as f32;
                if i > first {
                    let (seen, steps) = (chance(self.row(i)), self.steps(i, horizon));
                    let kept = lambda.powf(steps);
                    target = kept * target + (1.0 - kept) * seen;
                }
            }
            first = end;
        }
    }

    /// Makes the targets the ends of episodes again.
    pub fn forget_traces(&mut self) {
        let mut first = 0;
        for &(end, failed) in &self.ends {
            self.targets[first..end].fill(f32::from(u8::from(failed)));
            first = end;
        }
    }

    /// Steps between a row and the one before.
    fn steps(&self, i: usize, horizon: u32) -> f64 {
        let time = |i: usize| self.row(i)[self.width - 1];
        f64::from(time(i) - time(i - 1)) * f64::from(horizon)
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

    #[test]
    fn traces_end_as_episodes_did_and_take_what_is_seen_on_the_way() {
        let mut one = Rows::new(2);
        // Two steps of ten apart; the middle row looks as failures do, and the episode did not fail.
        one.push(&[1.0, 0.0, 0.0, 0.2, 1.0, 0.4], false);
        one.trace(|row| f64::from(1.0 - row[0]), 0.5, 10);
        let [first, middle, last] = one.targets[..] else { panic!("three rows") };
        assert_eq!(last, 0.0);
        assert!(middle == 0.0 && first == 0.75, "{first} {middle}");
    }
}

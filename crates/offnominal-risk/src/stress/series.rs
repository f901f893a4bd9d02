//! The standard normal numbers of an episode's noise as one series, and how likely they are.
//!
//! A series has the numbers of the start, then a row for each step. It ends where an episode ended: later numbers are zero
//! and count for nothing.

use offnominal_core::noisy::NoiseNumbers;
use serde::{Deserialize, Serialize};

/// How many numbers the noise takes when an episode begins, and in each step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shape {
    /// At the start.
    pub start: usize,
    /// In each step.
    pub step: usize,
}

impl Shape {
    /// That of an environment's noise.
    pub fn of(numbers: &NoiseNumbers) -> Shape {
        Shape { start: numbers.start.len(), step: numbers.step.len() }
    }

    /// Numbers that can have changed an episode of so many steps.
    pub fn len(self, steps: usize) -> usize {
        self.start + self.step * steps
    }

    /// The series of an episode of so many steps: without what it did not read, and with zeros for what it read beyond.
    pub fn cut(self, mut z: Vec<f64>, steps: usize) -> Vec<f64> {
        z.resize(self.len(steps), 0.0);
        z
    }

    /// The series in which each of so many rows holds for an equal part of so many steps. The values are rows, then those of
    /// the start.
    pub fn held(self, values: &[f64], parts: usize, steps: usize) -> Vec<f64> {
        let (rows, start) = values.split_at(parts * self.step);
        let row = |t: usize| &rows[t * parts / steps * self.step..][..self.step];
        start.iter().copied().chain((0..steps).flat_map(row).copied()).collect()
    }

    /// The series whose rows come first in `values`, and then the numbers of the start.
    pub fn start_first(self, values: &[f64]) -> Vec<f64> {
        let (rows, start) = values.split_at(values.len() - self.start);
        [start, rows].concat()
    }
}

/// The sum of squares: twice the distance in logarithmic likelihood from no disturbance.
pub fn square(z: &[f64]) -> f64 {
    z.iter().map(|z| z * z).sum()
}

/// How likely the disturbances of an episode are.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Likelihood {
    /// |z|: the distance from no disturbance in standard deviations, all numbers together.
    pub distance: f64,
    /// The logarithm of the density, less that of no disturbance: −|z|²/2.
    pub log_likelihood: f64,
    /// The mean of the same for a draw of the noise: minus half of how many numbers there are.
    pub log_likelihood_of_a_draw: f64,
    /// Root mean square of all numbers, in standard deviations: 1 for a draw of the noise.
    pub rms: f64,
    /// The largest number, in standard deviations.
    pub largest: f64,
    /// Steps in which anything is disturbed.
    pub disturbed_steps: usize,
    /// Numbers that the noise took until the failure.
    pub numbers: usize,
}

impl Likelihood {
    /// Of a series.
    pub fn of(z: &[f64], shape: Shape) -> Likelihood {
        let (square, n) = (square(z), z.len());
        let is_disturbed = |row: &&[f64]| row.iter().any(|z| *z != 0.0);
        Likelihood {
            distance: square.sqrt(),
            log_likelihood: -0.5 * square,
            log_likelihood_of_a_draw: -0.5 * n as f64,
            rms: (square / n.max(1) as f64).sqrt(),
            largest: z.iter().fold(0.0, |most, z| z.abs().max(most)),
            disturbed_steps: z[shape.start..].chunks(shape.step.max(1)).filter(is_disturbed).count(),
            numbers: n,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SHAPE: Shape = Shape { start: 1, step: 2 };

    #[test]
    fn values_are_held_for_equal_parts() {
        let z = SHAPE.held(&[1.0, 2.0, 3.0, 4.0, 9.0], 2, 4);
        assert_eq!(z, [9.0, 1.0, 2.0, 1.0, 2.0, 3.0, 4.0, 3.0, 4.0]);
        // More parts than steps: some are not read.
        assert_eq!(SHAPE.held(&[1.0, 2.0, 3.0, 4.0, 9.0], 2, 1), [9.0, 1.0, 2.0]);
        assert_eq!(SHAPE.start_first(&[1.0, 2.0, 9.0]), [9.0, 1.0, 2.0]);
    }

    #[test]
    fn a_series_of_a_unit_in_each_number_is_as_likely_as_a_draw() {
        let found = Likelihood::of(&[1.0; 9], SHAPE);
        assert_eq!((found.distance, found.rms, found.disturbed_steps), (3.0, 1.0, 4));
        assert_eq!(found.log_likelihood, found.log_likelihood_of_a_draw);
        assert_eq!((SHAPE.len(4), SHAPE.cut(vec![1.0; 9], 1).len()), (9, 3));
    }
}

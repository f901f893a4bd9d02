//! Location and scale of nominal scores at each step of an episode.
//!
//! Start-up transients make nominal scores larger at some steps than at others; z = (score − location) / scale does
//! away with that. Both are pooled over the neighbouring steps, t − 2 … t + 2, of all episodes that are that long. Steps
//! of which too little is known, and those beyond the longest episode, have the values of the last known step. A scale
//! is never below a tenth of that of all steps together: a step at which a few nominal episodes happen to agree is no
//! reason for an alarm.

use crate::mean::moments;
use offnominal_core::archive::{ArchiveError, Reader, Writer};

/// Steps before and after that are pooled.
const REACH: usize = 2;

/// Scores that a step needs for a location and a scale of its own.
const LEAST_SCORES: usize = 8;

/// Smallest scale, as a share of the scale of all steps together.
const FLOOR: f64 = 0.1;

/// Location and scale at each step, `[T]` of the longest episode.
#[derive(Debug, Clone, PartialEq)]
pub struct Shape {
    steps: Vec<(f64, f64)>,
}

impl Shape {
    /// The shape of nominal episodes with at least one step among them; scores are finite.
    ///
    /// # Panics
    /// If there are no steps.
    pub fn of<E: AsRef<[f64]>>(nominal: &[E]) -> Shape {
        let all: Vec<f64> = nominal.iter().flat_map(|e| e.as_ref()).copied().collect();
        assert!(!all.is_empty(), "a shape needs nominal steps");
        let (location, overall) = spread(&all);
        let floor = if overall > 0.0 { FLOOR * overall } else { 1.0 };
        let longest = nominal.iter().map(|e| e.as_ref().len()).max().unwrap_or(0);
        let mut last = (location, overall.max(floor));
        let steps = (0..longest).map(|t| {
            let near = neighbours(nominal, t);
            if near.len() >= LEAST_SCORES {
                let (location, scale) = spread(&near);
                last = (location, scale.max(floor));
            }
            last
        });
        Shape { steps: steps.collect() }
    }

    /// Writes location and scale of each step.
    pub(crate) fn save(&self, to: &mut Writer<'_>) {
        let (location, scale): (Vec<f64>, Vec<f64>) = self.steps.iter().copied().unzip();
        to.put("location", &location);
        to.put("scale", &scale);
    }

    /// Reads location and scale of each step.
    pub(crate) fn load(from: &Reader<'_>) -> Result<Shape, ArchiveError> {
        let location = from.list::<f64>("location")?;
        from.require(!location.is_empty(), "location", "one step or more", "none")?;
        let scale = from.exactly::<f64>("scale", location.len())?;
        from.require(scale.iter().all(|&s| s > 0.0), "scale", "numbers above zero", "others")?;
        Ok(Shape { steps: location.iter().copied().zip(scale.iter().copied()).collect() })
    }

    /// z of a score at a step, counted from 0.
    pub fn standardised(&self, step: usize, score: f64) -> f64 {
        let (location, scale) = self.steps[step.min(self.steps.len() - 1)];
        (score - location) / scale
    }
}

/// All scores at the steps around `t`.
fn neighbours<E: AsRef<[f64]>>(nominal: &[E], t: usize) -> Vec<f64> {
    let around = |e: &'_ E| {
        let scores = e.as_ref();
        let end = (t + REACH + 1).min(scores.len());
        scores[t.saturating_sub(REACH).min(end)..end].to_vec()
    };
    nominal.iter().filter(|e| e.as_ref().len() > t).flat_map(around).collect()
}

/// Mean and standard deviation (divisor n).
fn spread(scores: &[f64]) -> (f64, f64) {
    let (mean, variance) = moments(scores);
    let n = scores.len() as f64;
    (mean, (variance * (n - 1.0) / n).sqrt())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_transient_is_part_of_the_shape() {
        // Ten episodes: large and varied at first, small and calm later.
        let episode = |i: usize| {
            (0..40)
                .map(move |t| if t < 10 { 100.0 + i as f64 } else { i as f64 / 10.0 })
                .collect::<Vec<f64>>()
        };
        let shape = Shape::of(&(0..10).map(episode).collect::<Vec<_>>());
        assert!((shape.standardised(3, 104.5)).abs() < 1e-9 && (shape.standardised(30, 0.45)).abs() < 1e-9);
        assert!(shape.standardised(30, 104.5) > 10.0);
        assert_eq!(shape.standardised(39, 7.0), shape.standardised(1000, 7.0));
    }

    #[test]
    fn what_is_constant_has_a_scale_nevertheless() {
        assert_eq!(Shape::of(&[vec![2.0; 5], vec![2.0; 9]]).standardised(4, 3.0), 1.0);
        // All of ten episodes agree at step 20, by chance: the scale is not zero.
        let episode =
            |i: usize| (0..30).map(move |t| if t > 14 { 0.0 } else { i as f64 }).collect::<Vec<f64>>();
        let z = Shape::of(&(0..10).map(episode).collect::<Vec<_>>()).standardised(25, 1.0);
        assert!(z > 0.0 && z < 10.0, "{z}");
    }

    #[test]
    fn steps_that_few_episodes_reach_take_over_what_is_known() {
        let mut episodes = vec![vec![1.0, 2.0, 3.0, 2.0, 1.0, 3.0]; 4];
        episodes.push([vec![2.0; 6], vec![50.0; 20]].concat());
        let shape = Shape::of(&episodes);
        assert_eq!(shape.standardised(25, 9.0), shape.standardised(12, 9.0));
    }
}

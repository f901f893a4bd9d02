//! The paper's own way to count: 400 thresholds from 0 to 1.
//!
//! tᵢ = i / 399, but t₀ = −10⁻⁷ and t₃₉₉ = 1 + 10⁻⁷; a pixel is called unknown if its score is above tᵢ. A method whose
//! scores fill only a part of \[0, 1\] has only as many thresholds: [`Curve::distinct`] tells. Scores outside are
//! clipped.
//!
//! Reference: Angus et al., section 4. ODIN at T = 1000 with 19 classes has scores within a thousandth of 18/19, all
//! between two neighbouring thresholds, so its AUROC here is that of a coin.

use super::{Curve, Group, Truth, check};
use crate::StatsError;

/// Number of thresholds.
const THRESHOLDS: usize = 400;

/// Counts between neighbouring thresholds.
#[derive(Debug, Clone)]
pub struct Paper400 {
    /// Pixels whose score is above exactly so many thresholds; indexed by [`Truth`].
    counts: Vec<[u64; 3]>,
    /// Judged pixels whose score is not in [0, 1].
    outside: u64,
}

impl Default for Paper400 {
    fn default() -> Paper400 {
        Paper400 { counts: vec![[0; 3]; THRESHOLDS], outside: 0 }
    }
}

impl Paper400 {
    /// Adds the pixels of an image.
    ///
    /// # Errors
    /// If the lengths differ or a score is not finite.
    pub fn add(&mut self, scores: &[f32], truth: &[Truth]) -> Result<(), StatsError> {
        check(scores, truth)?;
        for (&score, &truth) in scores.iter().zip(truth) {
            self.counts[above(score)][truth as usize] += 1;
            self.outside += u64::from(!(0.0..=1.0).contains(&score) && truth != Truth::Ignored);
        }
        Ok(())
    }

    /// Judged pixels whose score is not in [0, 1], where this way of counting says nothing about them.
    pub fn outside(&self) -> u64 {
        self.outside
    }

    /// One group between each two thresholds.
    pub fn curve(&self) -> Curve {
        Curve::new(self.counts.iter().enumerate().rev().map(|(n, &[known, unknown, _])| {
            let threshold = n.saturating_sub(1) as f64 / (THRESHOLDS - 1) as f64;
            Group { threshold, unknown, known }
        }))
    }
}

/// The number of thresholds below a score, which is 1 to 399 after clipping.
fn above(score: f32) -> usize {
    let at = f64::from(score).clamp(0.0, 1.0) * (THRESHOLDS - 1) as f64;
    (at.ceil() as usize).max(1)
}

#[cfg(test)]
mod tests {
    use super::super::Area;
    use super::*;

    fn counted(scores: &[f32], truth: &[Truth]) -> Paper400 {
        let mut counts = Paper400::default();
        counts.add(scores, truth).unwrap();
        counts
    }

    const PAIR: [Truth; 2] = [Truth::Unknown, Truth::Known];

    #[test]
    fn a_score_is_above_the_thresholds_below_it() {
        let n = |score: f32| {
            (0..400)
                .filter(|&i| {
                    let t = match i {
                        0 => -1e-7,
                        399 => 1.0 + 1e-7,
                        i => f64::from(i) / 399.0,
                    };
                    f64::from(score) > t
                })
                .count()
        };
        for score in [0.0, 1e-6, 0.1, 0.25, 0.5, 0.734_21, 0.999_99, 1.0] {
            assert_eq!(above(score), n(score), "{score}");
        }
    }

    #[test]
    fn scores_between_two_thresholds_cannot_be_told_apart() {
        let found = counted(&[0.9475, 0.9474], &PAIR).curve().metrics(Area::Trapezoids).unwrap();
        assert_eq!(found.auroc, 0.5);
        let found = counted(&[0.96, 0.94], &PAIR).curve().metrics(Area::Trapezoids).unwrap();
        assert_eq!(found.auroc, 1.0);
    }

    #[test]
    fn scores_outside_are_counted() {
        assert_eq!(counted(&[7.0, -3.0], &PAIR).outside(), 2);
        assert_eq!(counted(&[1.0, 0.0], &PAIR).outside(), 0);
    }
}

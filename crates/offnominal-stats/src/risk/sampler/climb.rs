//! Climbing towards failure in a series of standard normal numbers: a part of the series is drawn anew, and what is more
//! dangerous stays.
//!
//! A window of the series, from a sixteenth of it to all, becomes x' = √(1 − b²) x + b ξ with fresh standard normal ξ, and
//! the rest stays. Without a choice between x and x' every x' would be a plain draw again: so it looks for failures among
//! what plain draws look like. b adapts so that a fifth of the steps are uphill.
//!
//! Assumes: entries are independent standard normal numbers, row by row.
//! Reference: the step is that of Neal, "Regression and classification using Gaussian process priors", 1998, section 5
//! (preconditioned Crank-Nicolson); b follows [`StepSize`].

use super::step_size::StepSize;
use super::{Outcome, Predictor, Sampler, danger};
use offnominal_core::Rng;

/// Windows are the whole series halved up to so many times.
const HALVINGS: usize = 4;

/// The strategy and the most dangerous series so far.
pub struct Climb<'p> {
    row: usize,
    predict: Predictor<'p>,
    best: Option<(f64, Vec<f64>)>,
    b: StepSize,
}

impl<'p> Climb<'p> {
    /// A search among series whose rows have so many numbers.
    ///
    /// # Panics
    /// If rows are empty.
    pub fn new(row: usize, predict: Predictor<'p>) -> Climb<'p> {
        assert!(row > 0, "expected numbers in each row, found none");
        Climb { row, predict, best: None, b: StepSize::default() }
    }

    /// The numbers that are drawn anew, whole rows.
    fn window(&self, n: usize, rng: &mut Rng) -> std::ops::Range<usize> {
        let rows = n.div_ceil(self.row);
        let length = (rows >> rng.below(HALVINGS + 1)).max(1);
        let from = rng.below(rows - length + 1);
        from * self.row..((from + length) * self.row).min(n)
    }
}

impl Sampler for Climb<'_> {
    fn propose(&mut self, draw: &mut dyn FnMut(&mut Rng) -> Vec<f64>, rng: &mut Rng) -> Vec<f64> {
        let fresh = draw(rng);
        let Some((_, best)) = &self.best else { return fresh };
        let b = self.b.get();
        let (mut x, kept) = (best.clone(), (1.0 - b * b).sqrt());
        for i in self.window(x.len(), rng) {
            x[i] = kept * x[i] + b * fresh[i];
        }
        x
    }

    fn learn(&mut self, x: &[f64], outcome: Outcome) {
        let found = danger(x, outcome, self.predict);
        let is_uphill = self.best.as_ref().is_none_or(|(best, _)| found > *best);
        let is_level = self.best.as_ref().is_some_and(|(best, _)| found == *best);
        self.b.follow(is_uphill);
        if is_uphill || is_level {
            self.best = Some((found, x.to_vec()));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::risk::toy::search;

    fn normals(rng: &mut Rng) -> Vec<f64> {
        (0..40).map(|_| rng.normal()).collect()
    }

    #[test]
    fn a_sum_that_no_plain_draw_reaches_is_climbed() {
        // The sum is N(0, 40): more than 7 standard deviations are needed.
        let mut fall = |x: &[f64], _: &mut Rng| {
            let margin = 45.0 - x.iter().sum::<f64>();
            Outcome { failed: margin <= 0.0, margin: Some(margin) }
        };
        let mut cost = |seed| {
            search(&mut Climb::new(2, &|_| 0.0), 3000, &mut normals, &mut fall, &mut Rng::new(seed))
        };
        assert!((0..5).map(&mut cost).all(|found| found.has_failed && found.experiments < 2000));
    }

    #[test]
    fn without_a_choice_proposals_stay_plain_draws() {
        // Equal danger: every proposal is taken.
        let (mut climb, mut rng) = (Climb::new(1, &|_| 0.0), Rng::new(3));
        let (mut sum, mut squares, mut n) = (0.0, 0.0, 0.0);
        for _ in 0..4000 {
            let x = climb.propose(&mut normals, &mut rng);
            climb.learn(&x, Outcome { failed: false, margin: Some(1.0) });
            climb.b = StepSize::default();
            sum += x.iter().sum::<f64>();
            squares += x.iter().map(|x| x * x).sum::<f64>();
            n += x.len() as f64;
        }
        assert!((sum / n).abs() < 0.05 && (squares / n - 1.0).abs() < 0.05, "{sum} {squares} {n}");
    }
}

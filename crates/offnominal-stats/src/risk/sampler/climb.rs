//! Climbing towards failure in a series of standard normal numbers: a part of the series is drawn anew, and what is more
//! dangerous stays.
//!
//! It begins with zeros. A window of the series, from a 64th of it to all, becomes x' = √(1 − b²) x + b ξ with fresh standard
//! normal ξ, and the rest stays. Half of the windows end where the most dangerous series was nearest to failure: what is
//! before them, and so how it came there, stays. Without a choice between x and x' every number becomes a plain draw: so
//! only what leads towards failure differs from zero by more than a draw does. b adapts so that a fifth of the steps are
//! uphill. After 300 steps of which none was uphill it begins again, with a plain draw.
//!
//! Assumes: entries are independent standard normal numbers, row by row.
//! Reference: the step is that of Neal, "Regression and classification using Gaussian process priors", 1998, section 5
//! (preconditioned Crank-Nicolson); b follows [`StepSize`].

use super::step_size::StepSize;
use super::{Outcome, Predictor, Sampler, danger};
use offnominal_core::Rng;

/// Windows are the whole series halved up to so many times.
const HALVINGS: usize = 6;
/// Steps without one uphill after which it begins again.
const PATIENCE: usize = 300;

/// The strategy and the most dangerous series so far.
pub struct Climb<'p> {
    row: usize,
    predict: Predictor<'p>,
    best: Option<Best>,
    b: StepSize,
    /// Steps since one was uphill.
    stale: usize,
    begun: bool,
}

struct Best {
    danger: f64,
    x: Vec<f64>,
    /// The row in which it was nearest to failure.
    nearest: Option<usize>,
}

impl<'p> Climb<'p> {
    /// A search among series whose rows have so many numbers.
    ///
    /// # Panics
    /// If rows are empty.
    pub fn new(row: usize, predict: Predictor<'p>) -> Climb<'p> {
        assert!(row > 0, "expected numbers in each row, found none");
        Climb { row, predict, best: None, b: StepSize::default(), stale: 0, begun: false }
    }

    /// The numbers that are drawn anew, whole rows.
    fn window(&self, best: &Best, rng: &mut Rng) -> std::ops::Range<usize> {
        let (n, is_late) = (best.x.len(), rng.below(2) == 0);
        let rows = n.div_ceil(self.row);
        let length = (rows >> rng.below(HALVINGS + 1)).max(1);
        let anywhere = rng.below(rows - length + 1) + length;
        let end = best.nearest.filter(|t| is_late && *t > 0).map_or(anywhere, |t| t.min(rows));
        end.saturating_sub(length) * self.row..(end * self.row).min(n)
    }
}

impl Sampler for Climb<'_> {
    fn propose(&mut self, draw: &mut dyn FnMut(&mut Rng) -> Vec<f64>, rng: &mut Rng) -> Vec<f64> {
        let fresh = draw(rng);
        let Some(best) = &self.best else {
            return if std::mem::replace(&mut self.begun, true) { fresh } else { vec![0.0; fresh.len()] };
        };
        let b = self.b.get();
        let (mut x, kept) = (best.x.clone(), (1.0 - b * b).sqrt());
        for i in self.window(best, rng) {
            x[i] = kept * x[i] + b * fresh[i];
        }
        x
    }

    fn learn(&mut self, x: &[f64], outcome: Outcome) {
        let danger = danger(x, outcome, self.predict);
        let before = self.best.as_ref().map(|best| best.danger);
        let is_uphill = before.is_none_or(|before| danger > before);
        self.stale = if is_uphill { 0 } else { self.stale + 1 };
        if self.stale == PATIENCE {
            *self = Climb { begun: true, ..Climb::new(self.row, self.predict) };
            return;
        }
        self.b.follow(is_uphill && before.is_some());
        if before.is_none_or(|before| danger >= before) {
            self.best = Some(Best { danger, x: x.to_vec(), nearest: outcome.nearest });
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
            Outcome { failed: margin <= 0.0, margin: Some(margin), nearest: None }
        };
        let mut cost =
            |seed| search(&mut Climb::new(2, &|_| 0.0), 3000, &mut normals, &mut fall, &mut Rng::new(seed));
        assert!((0..5).map(&mut cost).all(|found| found.has_failed && found.experiments < 2000));
    }

    #[test]
    fn from_where_nothing_is_uphill_it_begins_again_with_a_draw() {
        let (mut climb, mut rng) = (Climb::new(2, &|_| 0.0), Rng::new(5));
        let mut propose = |margin: f64| {
            let x = climb.propose(&mut normals, &mut rng);
            climb.learn(&x, Outcome { failed: false, margin: Some(margin), nearest: Some(3) });
            x
        };
        assert_eq!(propose(1.0), [0.0; 40]);
        (0..PATIENCE).for_each(|_| drop(propose(2.0)));
        assert!(propose(2.0).iter().all(|x| *x != 0.0));
    }

    #[test]
    fn without_a_choice_proposals_stay_plain_draws() {
        // Equal danger: every proposal is taken.
        let (mut climb, mut rng) = (Climb::new(1, &|_| 0.0), Rng::new(3));
        let (mut sum, mut squares, mut n) = (0.0, 0.0, 0.0);
        for _ in 0..4000 {
            let x = climb.propose(&mut normals, &mut rng);
            climb.learn(&x, Outcome { failed: false, margin: Some(1.0), nearest: None });
            climb.b = StepSize::default();
            sum += x.iter().sum::<f64>();
            squares += x.iter().map(|x| x * x).sum::<f64>();
            n += x.len() as f64;
        }
        assert!((sum / n).abs() < 0.05 && (squares / n - 1.0).abs() < 0.05, "{sum} {squares} {n}");
    }
}

//! What numbers that were not read probably were.
//!
//! A gap is first filled with what the model expects there. When the step from it is read, its residual w (whitened, without
//! what was not read after the step) says more, and the fill x_j of channel j moves by
//!
//! c = −(b·w + s/p) / (b·b + 1/p), with b what one unit more adds to w, s the sum of earlier moves, and all in units of a
//! prediction error:
//!
//! a step of Gauss and Newton towards the most likely number, channel by channel, which is taken if it is one: if |w|² +
//! Σ ln σ² + s²/p falls. p is the variance of the fill: one after
//! a prediction from what was read, 1 + 1/(1/p + b·b) after one from another fill (a Kalman filter for each channel), and
//! never more than the nominal variance of the channel, which is also where an episode begins. So the fill of a sensor that
//! is lost follows what the others still tell of it.

use super::marginal::Marginal;
use super::residual::Residual;
use super::whiten::Whitener;
use crate::shared::cholesky::dot;
use offnominal_core::partial::Gaps;

/// How often all gaps are gone through.
const ROUNDS: usize = 3;
/// The farthest that one move goes, in standard deviations of the fill.
const FARTHEST: f64 = 5.0;

/// What is known of the gaps of an episode.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct GapFilter {
    /// Variance of the fill of each channel, and after the step was read.
    variances: Vec<f64>,
    after: Vec<f64>,
    /// Nominal variance of each channel.
    most: Vec<f64>,
    /// Sum of the moves of each channel in this step.
    moves: Vec<f64>,
    /// The residual where the fills are now, as it is and as w; and w where they may go.
    z: Vec<f64>,
    w: Vec<f64>,
    slope: Vec<f64>,
    next: (Vec<f64>, Vec<f64>),
    /// What was not read after the step.
    unread: Marginal,
}

impl GapFilter {
    /// Of the residuals of a model.
    pub fn new(model: &Residual) -> GapFilter {
        let d = model.width();
        let most: Vec<f64> = (0..d).map(|j| model.nominal_deviation(j).powi(2)).collect();
        let [after, moves, z, w, slope] = [(); 5].map(|()| vec![0.0; d]);
        let (next, unread) = ((z.clone(), w.clone()), Marginal::new(d));
        GapFilter { variances: most.clone(), after, most, moves, z, w, slope, next, unread }
    }

    /// Another episode begins.
    pub fn reset(&mut self) {
        self.variances.copy_from_slice(&self.most);
    }

    /// Fills the gaps before a step once more, and those after it with what the model expects.
    pub fn fill(&mut self, gaps: &mut Gaps<'_>, model: &mut Residual, whitener: &Whitener) {
        self.after.fill(0.0);
        let gap =
            |model: &Residual, j: usize| model.channels().get(j).is_some_and(|&c| gaps.missing_before[c]);
        if (0..model.width()).any(|j| gap(model, j)) {
            self.correct(gaps, model, whitener);
        }
        model.expect(gaps.obs, gaps.action, gaps.next_obs);
        for (j, &channel) in model.channels().iter().enumerate() {
            self.variances[j] =
                if gaps.missing_after[channel] { (self.after[j] + 1.0).min(self.most[j]) } else { 0.0 };
        }
    }

    /// Moves the fills before the step.
    fn correct(&mut self, gaps: &mut Gaps<'_>, model: &mut Residual, whitener: &Whitener) {
        self.unread.clear();
        for (j, &channel) in model.channels().iter().enumerate() {
            if gaps.missing_after[channel] {
                self.unread.add_channel(j, whitener);
            }
        }
        self.moves.fill(0.0);
        model.read(&gaps.seen());
        let mut cost = self.ask(gaps, model, whitener);
        self.accept();
        for _ in 0..ROUNDS {
            for j in 0..model.channels().len() {
                if gaps.missing_before[model.channels()[j]] {
                    cost = self.correct_one(j, cost, (gaps, model, whitener));
                }
            }
        }
        for j in 0..model.channels().len() {
            gaps.obs[model.channels()[j]] += model.in_units_of_channel(j, self.moves[j]);
        }
    }

    /// Moves the fill of one channel, if that makes it more likely; returns |w|² + Σ ln σ² of where it is then.
    fn correct_one(
        &mut self,
        j: usize,
        cost: f64,
        (gaps, model, whitener): (&Gaps<'_>, &mut Residual, &Whitener),
    ) -> f64 {
        let (p, s) = (self.variances[j].max(1.0), self.moves[j]);
        model.slope(j, &self.z, &mut self.slope);
        self.unread.project(&mut self.slope, whitener);
        self.after[j] = 1.0 / (1.0 / p + dot(&self.slope, &self.slope));
        let c = -(dot(&self.slope, &self.w) + s / p) * self.after[j];
        let c = c.clamp(-FARTHEST * p.sqrt(), FARTHEST * p.sqrt());
        model.shift(j, c);
        let found = self.ask(gaps, model, whitener);
        if found + (s + c).powi(2) / p < cost + s * s / p {
            self.accept();
            self.moves[j] += c;
            return found;
        }
        model.shift(j, -c);
        // The scales are those of where the fills are.
        self.ask(gaps, model, whitener);
        cost
    }

    /// Writes the residual of where the fills are now; returns |w|² + Σ ln σ².
    fn ask(&mut self, gaps: &Gaps<'_>, model: &mut Residual, whitener: &Whitener) -> f64 {
        let (z, w) = &mut self.next;
        model.ask(z);
        w.copy_from_slice(z);
        self.unread.project(w, whitener);
        let channels = model.channels();
        let is_read = |j: usize| channels.get(j).is_none_or(|&channel| !gaps.missing_after[channel]);
        dot(w, w) + model.log_variance(is_read)
    }

    fn accept(&mut self) {
        std::mem::swap(&mut self.z, &mut self.next.0);
        std::mem::swap(&mut self.w, &mut self.next.1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shared::prelude::*;
    use crate::shared::ranges::Hidden;
    use crate::shared::training::Training;

    /// Position and speed under a random push: x′ = x + 0.1 v, v′ = 0.95 v + 0.3 a, with noise.
    fn episode(rng: &mut Rng) -> (Vec<f32>, Vec<f32>) {
        let (mut x, mut v) = (rng.normal(), rng.normal());
        let (mut observations, mut actions) = (vec![x as f32, v as f32], vec![]);
        for _ in 0..60 {
            let a = rng.range(-1.0, 1.0);
            (x, v) = (x + 0.1 * v + 1e-3 * rng.normal(), 0.95 * v + 0.3 * a + 1e-2 * rng.normal());
            actions.push(a as f32);
            observations.extend([x as f32, v as f32]);
        }
        (observations, actions)
    }

    fn fitted() -> (Residual, Whitener) {
        let mut rng = Rng::new(1);
        let episodes: Vec<_> = (0..12).map(|_| episode(&mut rng)).collect();
        let train: Vec<_> = episodes.iter().map(|(o, a)| Signals::new(o, a, 2, 1)).collect();
        let training = Training { epochs: count(20), ..Training::brief() };
        let hidden: Hidden = serde_json::from_str("[16]").unwrap();
        let (model, held_out) =
            Residual::fit(Nominal::new(&train, &[]), &hidden, count(3), &training, &mut rng).unwrap();
        let whitener = Whitener::fit(held_out.iter().flat_map(|e| e.chunks_exact(2)), 2);
        (model, whitener)
    }

    /// Errors of the fill of the speed, which is never read, before each step once the step was read.
    fn errors(first: f32) -> Vec<f32> {
        let (mut model, whitener) = fitted();
        let mut filter = GapFilter::new(&model);
        let (observations, actions) = episode(&mut Rng::new(9));
        let mut fill = first;
        let rows: Vec<&[f32]> = observations.chunks_exact(2).collect();
        let mut errors = Vec::new();
        for (pair, action) in rows.windows(2).zip(&actions) {
            let (mut obs, mut next_obs) = ([pair[0][0], fill], [pair[1][0], f32::NAN]);
            let missing = [false, true];
            let action = &[*action];
            let (missing_before, missing_after) = (&missing, &missing);
            next_obs[1] = fill;
            let mut gaps =
                Gaps { obs: &mut obs, missing_before, action, next_obs: &mut next_obs, missing_after };
            filter.fill(&mut gaps, &mut model, &whitener);
            errors.push(obs[1] - pair[0][1]);
            fill = next_obs[1];
        }
        errors
    }

    #[test]
    fn a_speed_that_is_never_read_is_that_of_the_positions() {
        for first in [0.0, 3.0] {
            let errors = errors(first);
            let largest = errors[1..].iter().fold(0.0, |most: f32, e| most.max(e.abs()));
            assert!(largest < 0.1, "{errors:?}");
        }
    }
}

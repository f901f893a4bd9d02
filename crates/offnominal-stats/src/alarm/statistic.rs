//! What is compared with a limit: the score itself, or what has accumulated since the episode began.
//!
//! | statistic    | value at step t                                                   | sees              |
//! |--------------|-------------------------------------------------------------------|-------------------|
//! | `Score`      | score                                                             | large faults      |
//! | `Band`       | z, the score standardised by the [`Shape`] at t                   | large faults, whatever the time |
//! | `Cusum`      | S = max(0, S + z − ½), 0 at first                                 | small faults that last |
//! | `Blocks`     | ln M of [`Blocks`]: evidence of the blocks of a stream            | what lasts, without episodes |
//! | `Martingale` | log capital of a [`Jumper`] that bets on ranks of z               | small faults that last, whatever the law of z |
//!
//! The rank of z is p = (#larger + ½ (#equal + 1)) / (n + 1) among the n steps of the reference episodes.
//!
//! Reference: Page, "Continuous inspection schemes", Biometrika 41, 1954, for the CUSUM, whose reference value ½ is that
//! for shifts of one standard deviation.

use super::blocks::Blocks;
use super::jumper::Jumper;
use super::shape::Shape;

/// Reference value of the CUSUM, in standard deviations.
const DRIFT: f64 = 0.5;

/// How scores become what is compared with a limit.
#[derive(Debug, Clone, PartialEq, Default)]
pub enum Statistic {
    /// The score itself.
    #[default]
    Score,
    /// Standardised by time.
    Band(Shape),
    /// Standardised, accumulated, never below zero.
    Cusum(Shape),
    /// Standardised, ranked among the given sorted values, and bet on.
    Martingale(Shape, Vec<f64>),
    /// Of a stream without episodes, block by block.
    Blocks(Blocks),
}

impl Statistic {
    /// The martingale whose ranks are among the steps of the given nominal episodes.
    pub fn martingale<E: AsRef<[f64]>>(nominal: &[E]) -> Statistic {
        let shape = Shape::of(nominal);
        let standardised = |e: &E| {
            let scores = e.as_ref().iter().enumerate();
            scores.map(|(t, &s)| shape.standardised(t, s)).collect::<Vec<_>>()
        };
        let mut reference: Vec<f64> = nominal.iter().flat_map(standardised).collect();
        reference.sort_unstable_by(f64::total_cmp);
        Statistic::Martingale(shape, reference)
    }

    /// The statistic at each step of an episode.
    pub fn of(&self, scores: &[f64]) -> Vec<f64> {
        let mut past = Past::default();
        scores.iter().map(|&score| past.advance(self, score)).collect()
    }

    /// The largest value of the statistic in an episode; minus infinity without steps.
    pub fn largest(&self, scores: &[f64]) -> f64 {
        self.of(scores).into_iter().fold(f64::NEG_INFINITY, f64::max)
    }
}

/// What a statistic remembers of an episode. It is advanced by one score after the other, without allocating.
#[derive(Debug, Clone, Default)]
pub struct Past {
    step: usize,
    sum: f64,
    /// The largest score of the block.
    largest: f64,
    jumper: Jumper,
}

impl Past {
    /// The value of the statistic after one score more.
    pub fn advance(&mut self, statistic: &Statistic, score: f64) -> f64 {
        let step = self.step;
        self.step += 1;
        match statistic {
            Statistic::Score => score,
            Statistic::Band(shape) => shape.standardised(step, score),
            Statistic::Cusum(shape) => {
                self.sum = (self.sum + shape.standardised(step, score) - DRIFT).max(0.0);
                self.sum
            }
            Statistic::Blocks(blocks) => {
                let place = step % blocks.steps();
                self.largest = if place == 0 { score } else { self.largest.max(score) };
                let log_m = self.sum + blocks.log_value(self.largest);
                if place + 1 == blocks.steps() {
                    // ln (M + 1), without the exponential of what is large.
                    self.sum = log_m.max(0.0) + libm::log1p(libm::exp(-log_m.abs()));
                }
                log_m
            }
            Statistic::Martingale(shape, reference) => {
                self.jumper.bet(rank(reference, shape.standardised(step, score)))
            }
        }
    }
}

/// p of the module's documentation.
fn rank(sorted: &[f64], z: f64) -> f64 {
    let below = sorted.partition_point(|&r| r < z);
    let not_above = sorted.partition_point(|&r| r <= z);
    let (larger, equal) = ((sorted.len() - not_above) as f64, (not_above - below) as f64);
    (larger + 0.5 * (equal + 1.0)) / (sorted.len() + 1) as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Eleven episodes of twenty steps with mean 0 and standard deviation 1 at every step.
    fn nominal() -> Vec<Vec<f64>> {
        let scale = 11.0_f64.sqrt().recip();
        let level = |i: i32| f64::from(i - 5) * scale;
        (0..11).map(|i| vec![level(i); 20]).collect()
    }

    #[test]
    fn a_cusum_in_closed_form() {
        let cusum = Statistic::Cusum(Shape::of(&nominal()));
        let found = cusum.of(&[2.0, 2.0, 0.0, -9.0, 1.0]);
        let scale = Shape::of(&nominal()).standardised(0, 1.0);
        for (found, want) in
            found.iter().zip([2.0 * scale - 0.5, 4.0 * scale - 1.0, 4.0 * scale - 1.5, 0.0, scale - 0.5])
        {
            assert!((found - want).abs() < 1e-12, "{found} {want}");
        }
    }

    #[test]
    fn ranks_are_symmetric_and_never_zero() {
        let sorted = [1.0, 2.0, 2.0, 3.0];
        assert_eq!([0.0, 1.0, 2.0, 3.0, 4.0].map(|z| rank(&sorted, z)), [0.9, 0.8, 0.5, 0.2, 0.1]);
        assert_eq!(rank(&[], 7.0), 0.5);
    }

    #[test]
    fn what_lasts_accumulates_and_what_is_nominal_does_not() {
        let (episodes, steps) = (nominal(), [vec![0.0; 10], vec![1.2; 10]].concat());
        for statistic in [Statistic::Cusum(Shape::of(&episodes)), Statistic::martingale(&episodes)] {
            let found = statistic.of(&steps);
            assert!(found[9] < 0.5 && found[19] > found[12] && found[19] > 2.0, "{found:?}");
        }
        let band = Statistic::Band(Shape::of(&episodes)).of(&steps);
        assert!((band[19] - band[10]).abs() < 1e-9, "no memory");
    }
}

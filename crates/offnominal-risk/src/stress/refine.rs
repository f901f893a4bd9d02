//! From a failure to a likelier one near it.
//!
//! A step changes the series z, is played, and is taken if the episode still fails and |z| is smaller. So the likelihood
//! never falls. The steps are:
//!
//! - all of z becomes smaller, by bisection;
//! - a block of steps is left undisturbed, or each of its numbers becomes its mean over the block, which keeps what slow
//!   dynamics see and is likelier (Jensen's inequality); blocks are halved from the whole series on;
//! - a bump: a number is raised or lowered by the same amount throughout a block, and all of z, or all from the block on, is
//!   then scaled to a little less than its length before. For a failure that is linear in z this ends at the likeliest one.
//!
//! Half of the later steps are in blocks that end with the failure: where an episode depends sensitively on all that was
//! before, only its last steps can be changed without losing the failure.
//!
//! Assumes: nothing; in how far the end is the likeliest failure of all is not known.

use super::series::{Shape, square};
use anyhow::Result;
use offnominal_core::Rng;
use offnominal_stats::risk::sampler::step_size::StepSize;
use std::ops::Range;

/// Plays a series and says after how many steps the episode failed, if it did.
pub type Fails<'f> = &'f mut dyn FnMut(&[f64]) -> Result<Option<usize>>;

/// A failure on its way.
pub struct Refinement<'f> {
    shape: Shape,
    fails: Fails<'f>,
    /// The likeliest series so far.
    pub z: Vec<f64>,
    /// The steps of its episode.
    pub steps: usize,
    /// Episodes that were played.
    pub played: usize,
    budget: usize,
    /// Steps that can be disturbed: an episode may also fail later than it did.
    span: usize,
}

/// Bisections of the length of a series: to half a per cent.
const BISECTIONS: usize = 8;
/// Halvings of the series into the blocks of the first sweep, and at most into those of bumps.
const HALVINGS: (usize, usize) = (5, 7);
/// What |z| loses in a step with a bump, as a share of the bump.
const LOSS: f64 = 0.05;

impl<'f> Refinement<'f> {
    /// Of a series whose episode failed after so many steps; the undisturbed one had `span` steps.
    pub fn new(
        shape: Shape,
        z: Vec<f64>,
        (steps, span): (usize, usize),
        budget: usize,
        fails: Fails<'f>,
    ) -> Refinement<'f> {
        Refinement { shape, fails, z: shape.cut(z, steps), steps, played: 0, budget, span }
    }

    /// The series with zeros for all steps that can be disturbed.
    fn long(&self) -> Vec<f64> {
        self.shape.cut(self.z.clone(), self.rows())
    }

    fn rows(&self) -> usize {
        self.steps.max(self.span)
    }

    /// Plays until the budget is spent.
    ///
    /// # Errors
    /// If an episode cannot be played.
    pub fn run(&mut self, rng: &mut Rng) -> Result<()> {
        // Rounding is the last step, and needs room.
        let whole = self.budget;
        self.budget = whole.saturating_sub(DIGITS.len());
        self.scale()?;
        self.sweep()?;
        self.scale()?;
        self.bumps(rng)?;
        self.scale()?;
        self.budget = whole;
        self.round()
    }

    /// Plays a likelier series; one that is not likelier is not played.
    fn takes(&mut self, z: Vec<f64>) -> Result<bool> {
        if self.played >= self.budget || square(&z) >= square(&self.z) {
            return Ok(false);
        }
        self.played += 1;
        let Some(steps) = (self.fails)(&z)? else { return Ok(false) };
        (self.z, self.steps) = (self.shape.cut(z, steps), steps);
        Ok(true)
    }

    /// Bisects the length of the series between nothing, which does not fail, and what it is.
    fn scale(&mut self) -> Result<()> {
        let (whole, mut low, mut high) = (self.z.clone(), 0.0, 1.0);
        for _ in 0..BISECTIONS {
            let middle = 0.5 * (low + high);
            let shorter = whole.iter().map(|z| middle * z).collect();
            if self.takes(shorter)? {
                high = middle;
            } else {
                low = middle;
            }
        }
        Ok(())
    }

    /// Means and silence, block by block and number by number.
    fn sweep(&mut self) -> Result<()> {
        for halving in 0..=HALVINGS.0 {
            for block in 0..1 << halving {
                let one = |own: &mut Self, f: Change| own.change(own.block(halving, block), None, f);
                if !one(self, mean)? {
                    one(self, silence)?;
                }
            }
        }
        for number in 0..self.shape.step {
            self.change(0..self.rows(), Some(number), silence)?;
        }
        Ok(())
    }

    /// The rows of a block.
    fn block(&self, halving: usize, block: usize) -> Range<usize> {
        let rows = self.rows();
        (rows * block) >> halving..(rows * (block + 1)) >> halving
    }

    /// A block anywhere, or one that ends with the failure.
    fn any_block(&self, halving: usize, rng: &mut Rng) -> Range<usize> {
        if rng.below(2) == 0 {
            return self.block(halving, rng.below(1 << halving));
        }
        let length = (self.rows() >> halving).max(1);
        self.steps.saturating_sub(length)..self.steps
    }

    /// Changes one number or all in rows.
    fn change(&mut self, rows: Range<usize>, number: Option<usize>, f: Change) -> Result<bool> {
        let (mut z, Shape { start, step }) = (self.long(), self.shape);
        for i in (0..step).filter(|i| number.is_none_or(|n| n == *i)) {
            let mut values: Vec<f64> = rows.clone().map(|t| z[start + t * step + i]).collect();
            f(&mut values);
            rows.clone().zip(values).for_each(|(t, value)| z[start + t * step + i] = value);
        }
        self.takes(z)
    }

    /// Bumps, means and silence at random, to the end of the budget.
    fn bumps(&mut self, rng: &mut Rng) -> Result<()> {
        let mut size = StepSize::default();
        // What is no likelier is not played, so the number of steps needs an end of its own.
        for _ in 0..20 * self.budget {
            if self.played >= self.budget {
                break;
            }
            let halving = rng.below(HALVINGS.1 + 1);
            let rows = self.any_block(halving, rng);
            let number = rng.below(self.shape.step.max(1));
            match rng.below(6) {
                0 => drop(self.change(rows, Some(number), mean)?),
                1 => drop(self.change(rows, Some(number), silence)?),
                _ => {
                    let bumped = self.bumped(rows, number, size.get(), rng);
                    size.follow(self.takes(bumped)?);
                }
            }
        }
        Ok(())
    }

    /// The series with a bump, a little shorter than before. The numbers of the start are bumped now and then.
    fn bumped(&self, rows: Range<usize>, number: usize, size: f64, rng: &mut Rng) -> Vec<f64> {
        let (mut z, Shape { start, step }) = (self.long(), self.shape);
        let from = if rng.below(2) == 0 { 0 } else { start + step * rows.start };
        let length = square(&z[from..]).sqrt();
        let height = size * length * rng.normal();
        let place = rng.below(start + step);
        if place < start || rows.is_empty() || step == 0 {
            z[place.min(start.saturating_sub(1))] += height;
        } else {
            let each = height / (rows.len() as f64).sqrt();
            rows.for_each(|t| z[start + t * step + number] += each);
        }
        let bumped = square(&z[from..]).sqrt();
        let scale = if bumped > 0.0 { (1.0 - LOSS * size * rng.uniform()) * length / bumped } else { 0.0 };
        z[from..].iter_mut().for_each(|z| *z *= scale);
        z
    }

    /// Drops digits towards zero, if it fails without them: files are shorter.
    fn round(&mut self) -> Result<()> {
        for digits in DIGITS {
            let short: Vec<f64> = self.z.iter().map(|z| (z * digits).trunc() / digits).collect();
            if self.takes(short)? {
                break;
            }
        }
        Ok(())
    }
}

/// To how many parts of one standard deviation numbers are rounded, the shortest first.
const DIGITS: [f64; 3] = [1e3, 1e4, 1e5];

/// Changes a number throughout a block.
type Change = fn(&mut [f64]);

fn mean(values: &mut [f64]) {
    let mean = values.iter().sum::<f64>() / values.len().max(1) as f64;
    values.fill(mean);
}

fn silence(values: &mut [f64]) {
    values.fill(0.0);
}

#[cfg(test)]
mod tests {
    use super::*;

    const SHAPE: Shape = Shape { start: 0, step: 1 };
    const STEPS: usize = 64;

    /// Fails where Σ wᵢ zᵢ reaches 8; the shortest such z has the length 8 / |w|.
    fn refined(w: impl Fn(usize) -> f64, budget: usize, seed: u64) -> (f64, usize) {
        let mut rng = Rng::new(seed);
        let sum = |z: &[f64]| z.iter().enumerate().map(|(i, z)| w(i) * z).sum::<f64>();
        let mut lengths = Vec::new();
        let mut fails = |z: &[f64]| -> Result<Option<usize>> { Ok((sum(z) >= 8.0).then_some(STEPS)) };
        let z = loop {
            let z: Vec<f64> = (0..STEPS).map(|_| rng.normal()).collect();
            if sum(&z) >= 8.0 {
                break z;
            }
        };
        let first = square(&z);
        let mut own = Refinement::new(SHAPE, z, (STEPS, STEPS), budget, &mut fails);
        own.run(&mut rng).unwrap();
        assert!(square(&own.z) <= first && own.played <= budget && sum(&own.z) >= 8.0);
        lengths.push(square(&own.z).sqrt());
        (lengths[0], own.played)
    }

    #[test]
    fn a_sum_ends_at_equal_parts() {
        // 8 / √64 = 1.
        for seed in 0..3 {
            let (length, played) = refined(|_| 1.0, 300, seed);
            assert!((1.0..1.02).contains(&length), "{length} after {played}");
        }
    }

    #[test]
    fn unequal_weights_end_near_their_likeliest_failure() {
        // A filter that forgets: w = 0.9^(63 − i) · 2, |w|² = 4 (1 − 0.9^128) / (1 − 0.81).
        let w = |i: usize| 2.0 * 0.9_f64.powi(63 - i as i32);
        let best = 8.0 / (4.0 * (1.0 - 0.9_f64.powi(128)) / 0.19).sqrt();
        for seed in 0..3 {
            let (length, _) = refined(w, 1000, seed);
            assert!((1.0..1.05).contains(&(length / best)), "{length} {best}");
        }
    }

    #[test]
    fn without_a_budget_a_failure_stays_as_it_is() {
        let mut never = |_: &[f64]| -> Result<Option<usize>> { panic!("nothing is played") };
        let mut own = Refinement::new(SHAPE, vec![3.0; 4], (2, 4), 0, &mut never);
        own.run(&mut Rng::new(1)).unwrap();
        assert_eq!(own.z, [3.0; 2]);
    }
}

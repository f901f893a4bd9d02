//! Area under the per-region overlap: how much of each component is found, whatever its size.
//!
//! At a threshold, the overlap of a component of the truth is the share of its pixels that score at least that much.
//! AUPRO is the area below the mean overlap over components, as the false positive rate goes from 0 to .3, divided
//! by .3. With each unknown pixel weighted by one over the size of its component it is a part of the area below the
//! ROC curve, which is how it is computed here, from pixels counted by the leading bits of their score.
//!
//! Reference: Bergmann et al., "Uninformed students", CVPR 2020, section 4.

use super::components::Components;
use super::histogram::key;
use super::{Truth, check};
use crate::StatsError;
use crate::bootstrap::{Bootstrap, Range};
use offnominal_core::estimate::Estimate;
use std::cell::RefCell;

/// Leading bits that name a bin: its relative width is 0.2 %.
const BITS: u32 = 18;

/// The largest false positive rate.
const LIMIT: f64 = 0.3;

/// The pixels of one image in a bin: number, known ones, and the sum of the weights of unknown ones.
type Bin = (u32, u32, f64);

/// Images, counted.
#[derive(Debug, Clone, Default)]
pub struct Pro {
    images: Vec<Vec<Bin>>,
}

impl Pro {
    /// Adds an image, `width` pixels wide, whose components of fewer than `least` unknown pixels are left out.
    ///
    /// # Errors
    /// If the lengths differ or a score is not finite.
    pub fn add(
        &mut self,
        scores: &[f32],
        truth: &[Truth],
        width: usize,
        least: usize,
    ) -> Result<(), StatsError> {
        check(scores, truth)?;
        let is_unknown: Vec<bool> = truth.iter().map(|&t| t == Truth::Unknown).collect();
        let real = Components::of(&is_unknown, width);
        let mut pixels: Vec<Bin> = Vec::with_capacity(scores.len());
        for (i, (&score, &truth)) in scores.iter().zip(truth).enumerate() {
            let bin = key(score) >> (32 - BITS);
            match truth {
                Truth::Known => pixels.push((bin, 1, 0.0)),
                Truth::Unknown => {
                    let size = real.sizes[real.labels[i] as usize - 1];
                    if size >= least {
                        pixels.push((bin, 0, 1.0 / size as f64));
                    }
                }
                Truth::Ignored => {}
            }
        }
        pixels.sort_unstable_by_key(|pixel| pixel.0);
        let same = pixels.chunk_by(|a, b| a.0 == b.0);
        self.images.push(same.map(|tied| tied.iter().fold((tied[0].0, 0, 0.0), added)).collect());
        Ok(())
    }

    /// AUPRO, with an interval from resampling images.
    ///
    /// # Errors
    /// If there is no component, or no known pixel.
    pub fn area(&self, plan: &Bootstrap) -> Result<Estimate, StatsError> {
        let pool = RefCell::new(vec![[0.0; 2]; 1 << BITS]);
        let [area] =
            plan.estimates("per-region overlap", self.images.len(), [Range::Quality], |weights| {
                let mut pool = pool.borrow_mut();
                pool.fill([0.0; 2]);
                for (image, &weight) in self.images.iter().zip(weights).filter(|(_, w)| **w > 0) {
                    for &(bin, known, unknown) in image {
                        pool[bin as usize][0] += f64::from(weight) * f64::from(known);
                        pool[bin as usize][1] += f64::from(weight) * unknown;
                    }
                }
                below(&pool).map(|area| [area])
            })?;
        Ok(area)
    }
}

fn added((bin, known, unknown): Bin, pixel: &Bin) -> Bin {
    (bin, known + pixel.1, unknown + pixel.2)
}

/// The area from bins of known pixels and weights of unknown ones, in ascending order of the score.
fn below(bins: &[[f64; 2]]) -> Option<f64> {
    let [known, unknown] = bins.iter().fold([0.0; 2], |sum, bin| [sum[0] + bin[0], sum[1] + bin[1]]);
    if known == 0.0 || unknown == 0.0 {
        return None;
    }
    let (mut area, mut fpr, mut overlap) = (0.0, 0.0, 0.0);
    for bin in bins.iter().rev().filter(|bin| bin[0] > 0.0 || bin[1] > 0.0) {
        let (step, rise) = (bin[0] / known, bin[1] / unknown);
        // The part of the step that lies below the limit.
        let inside = (LIMIT - fpr).min(step);
        let share = if step > 0.0 { inside / step } else { 1.0 };
        area += inside * (overlap + 0.5 * share * rise);
        (fpr, overlap) = (fpr + step, overlap + rise);
        if fpr >= LIMIT {
            break;
        }
    }
    Some(area / LIMIT)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Level;
    use offnominal_core::Seed;

    /// Digits are scores of known pixels, letters (a = 0) those of unknown ones.
    fn area(rows: &[&str]) -> Result<f64, StatsError> {
        let text: Vec<char> = rows.iter().flat_map(|row| row.chars()).collect();
        let truth: Vec<Truth> =
            text.iter().map(|c| if c.is_ascii_digit() { Truth::Known } else { Truth::Unknown }).collect();
        let score = |c: &char| c.to_digit(10).map_or_else(|| (*c as u32 - 'a' as u32) as f32, |n| n as f32);
        let scores: Vec<f32> = text.iter().map(score).collect();
        let mut pro = Pro::default();
        pro.add(&scores, &truth, rows[0].len(), 1)?;
        pro.area(&Bootstrap::new(10, Level::P95, Seed(0))).map(|found| found.value)
    }

    #[track_caller]
    fn near(found: f64, want: f64) {
        assert!((found - want).abs() < 1e-12, "expected {want}, found {found}");
    }

    #[test]
    fn small_components_count_as_much_as_large_ones() {
        // A large one above all known pixels, a small one below all: half the overlap at every rate.
        near(area(&["jjj0123456", "jjj0123456", "0000000000", "aa00000000"]).unwrap(), 0.5);
        near(area(&["j0123456780", "00000000000"]).unwrap(), 1.0);
    }

    #[test]
    fn the_area_ends_at_the_limit_and_ties_rise_on_a_line() {
        // Ten known pixels, of which two score more than the component and one as much: half of a tenth below it.
        near(area(&["9", "8", "h", "7", "6", "5", "4", "3", "2", "1", "0"]).unwrap(), 0.05 / 0.3);
        // All tied: the overlap rises with the rate, to .3 at the limit.
        near(area(&["1b1", "111"]).unwrap(), 0.15);
    }

    #[test]
    fn without_components_there_is_no_number() {
        assert!(area(&["123"]).is_err() && area(&["bcd"]).is_err());
    }
}

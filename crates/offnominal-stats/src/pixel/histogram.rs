//! Pixels counted by the leading bits of their score: constant memory, with an error that is known.
//!
//! The bits of an f32, with the sign's turned over (and all of them for negative numbers), order like the numbers. The
//! leading b of these 32 bits name one of 2ᵇ bins: the relative width of a bin is 2^(9 − b), 0.2 % at 18 bits, whatever
//! the range of the scores. Metrics treat the pixels of a bin as tied; [`Curve::bounds`] says how far that can be off.
//!
//! Cost: one increment a pixel; 24 · 2ᵇ bytes.

use super::{Curve, Group, Truth, check};
use crate::StatsError;

/// Leading bits that name a bin where nobody asks for others: 6 MiB.
pub const DEFAULT_BITS: u32 = 18;

/// A key that orders like the score. Adding zero turns −0 into 0, which compares equal.
#[inline]
pub(super) fn key(score: f32) -> u32 {
    let bits = (score + 0.0).to_bits();
    // All bits of negative numbers, the sign of the others.
    bits ^ (((bits as i32 >> 31) as u32) | 0x8000_0000)
}

/// The score of a key.
pub(super) fn value(key: u32) -> f32 {
    let mask = if key & 0x8000_0000 == 0 { u32::MAX } else { 0x8000_0000 };
    f32::from_bits(key ^ mask)
}

/// Counts of known, unknown and ignored pixels by score.
#[derive(Debug, Clone)]
pub struct Histogram {
    shift: u32,
    /// Indexed by bin, then by [`Truth`].
    counts: Vec<[u64; 3]>,
}

impl Default for Histogram {
    fn default() -> Histogram {
        Histogram::new(DEFAULT_BITS)
    }
}

impl Histogram {
    /// No pixels yet.
    ///
    /// # Panics
    /// If the number of bits is not within 10 to 24.
    pub fn new(bits: u32) -> Histogram {
        assert!((10..=24).contains(&bits), "expected 10 to 24 bits, found {bits}");
        Histogram { shift: 32 - bits, counts: vec![[0; 3]; 1 << bits] }
    }

    /// Adds the pixels of an image.
    ///
    /// # Errors
    /// If the lengths differ or a score is not finite.
    pub fn add(&mut self, scores: &[f32], truth: &[Truth]) -> Result<(), StatsError> {
        check(scores, truth)?;
        for (&score, &truth) in scores.iter().zip(truth) {
            self.counts[(key(score) >> self.shift) as usize][truth as usize] += 1;
        }
        Ok(())
    }

    /// Forgets all pixels.
    pub(super) fn clear(&mut self) {
        self.counts.fill([0; 3]);
    }

    /// Adds known and unknown pixels to a bin.
    pub(super) fn count(&mut self, bin: usize, [known, unknown]: [u64; 2]) {
        self.counts[bin][0] += known;
        self.counts[bin][1] += unknown;
    }

    /// One group for each bin that has pixels.
    pub fn curve(&self) -> Curve {
        Curve::new(self.counts.iter().enumerate().rev().map(|(bin, &[known, unknown, _])| {
            let threshold = f64::from(value((bin as u32) << self.shift));
            Group { threshold, unknown, known }
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Area, Exact};
    use super::*;
    use offnominal_core::Rng;
    use proptest::prelude::*;

    fn gaussians(n: usize, seed: u64) -> (Vec<f32>, Vec<Truth>) {
        let mut rng = Rng::new(seed);
        let truth = |u: f64| match u {
            u if u < 0.1 => Truth::Unknown,
            u if u < 0.9 => Truth::Known,
            _ => Truth::Ignored,
        };
        let truth: Vec<Truth> = (0..n).map(|_| truth(rng.uniform())).collect();
        let scores = truth.iter().map(|&t| (rng.normal() + f64::from(t as u8)) as f32).collect();
        (scores, truth)
    }

    #[test]
    fn the_exact_metrics_lie_within_the_bounds() {
        let (scores, truth) = gaussians(40_000, 1);
        let mut exact = Exact::default();
        exact.add(&scores, &truth).unwrap();
        let want = exact.curve().metrics(Area::Steps).unwrap().shares();
        for (bits, width) in [(12, 0.2), (18, 0.005)] {
            let mut histogram = Histogram::new(bits);
            histogram.add(&scores, &truth).unwrap();
            let bounds = histogram.curve().bounds().unwrap();
            for (want, [low, high]) in want.iter().zip(bounds) {
                assert!(low <= *want && *want <= high && high - low < width, "{bits}: {low} {want} {high}");
            }
        }
    }

    #[test]
    fn a_billion_pixels_need_no_more_memory_than_one_image() {
        if !skips::is_slow_tier("a billion pixels") {
            return;
        }
        let ((scores, truth), mut many) = (gaussians(2_000_000, 3), Histogram::default());
        (0..500).for_each(|_| many.add(&scores, &truth).unwrap());
        let mut one = Histogram::default();
        one.add(&scores, &truth).unwrap();
        let (unknown, known) = one.curve().counts();
        assert_eq!(many.curve().counts(), (500 * unknown, 500 * known));
        let auroc = |h: &Histogram| h.curve().metrics(Area::Steps).unwrap().auroc;
        assert!((auroc(&many) - auroc(&one)).abs() < 1e-12);
    }

    proptest! {
        #[test]
        fn keys_order_like_scores(a in any::<f32>(), b in any::<f32>()) {
            prop_assume!(!a.is_nan() && !b.is_nan());
            prop_assert_eq!(a.partial_cmp(&b).unwrap(), key(a).cmp(&key(b)));
            prop_assert_eq!(value(key(a)), a);
        }
    }
}

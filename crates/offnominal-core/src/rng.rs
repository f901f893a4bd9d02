//! The one source of randomness: ChaCha with 8 rounds, and our own conversions to uniform and normal numbers.
//!
//! The algorithm is named (never "standard"), so the same seed gives the same bits in every release. The state is a
//! seed and a position, so a checkpoint stores sixteen bytes and resumes exactly.

use rand_chacha::ChaCha8Rng;
use rand_core::{Rng as _, SeedableRng};
use serde::{Deserialize, Serialize};

/// A seeded generator. Cloning copies the position: the clone repeats what the original will produce.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(from = "Position", into = "Position")]
pub struct Rng {
    seed: u64,
    stream: ChaCha8Rng,
}

/// Where a generator stands; what is written into checkpoints.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
struct Position {
    seed: u64,
    word: u64,
}

impl From<Position> for Rng {
    fn from(at: Position) -> Rng {
        let mut rng = Rng::new(at.seed);
        rng.stream.set_word_pos(u128::from(at.word));
        rng
    }
}

impl From<Rng> for Position {
    fn from(rng: Rng) -> Position {
        let word = u64::try_from(rng.stream.get_word_pos()).expect("fewer than 2^64 words were drawn");
        Position { seed: rng.seed, word }
    }
}

impl Rng {
    /// A generator at the start of the stream that `seed` names.
    pub fn new(seed: u64) -> Rng {
        Rng { seed, stream: ChaCha8Rng::seed_from_u64(seed) }
    }

    /// Where the stream stands: its seed, and the words that were taken from it.
    pub fn position(&self) -> (u64, u64) {
        let Position { seed, word } = self.clone().into();
        (seed, word)
    }

    /// 64 random bits.
    pub fn bits(&mut self) -> u64 {
        self.stream.next_u64()
    }

    /// Uniform on [0, 1), with 53 random bits.
    pub fn uniform(&mut self) -> f64 {
        (self.bits() >> 11) as f64 * 2.0_f64.powi(-53)
    }

    /// Uniform on [low, high).
    pub fn range(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * self.uniform()
    }

    /// Uniform on {0, …, n − 1}.
    ///
    /// # Panics
    /// If `n` is zero.
    pub fn below(&mut self, n: usize) -> usize {
        assert!(n > 0, "cannot draw from an empty range");
        // Lemire's multiply-shift; with 64 bits the bias is below n / 2^64.
        ((u128::from(self.bits()) * n as u128) >> 64) as usize
    }

    /// A standard normal number.
    pub fn normal(&mut self) -> f64 {
        self.normal_pair().0
    }

    /// Two independent standard normal numbers (Box and Muller, 1958).
    fn normal_pair(&mut self) -> (f64, f64) {
        let radius = (-2.0 * (1.0 - self.uniform()).ln()).sqrt();
        let (sin, cos) = (std::f64::consts::TAU * self.uniform()).sin_cos();
        (radius * cos, radius * sin)
    }

    /// Fills a slice with independent standard normal numbers.
    pub fn fill_normal(&mut self, out: &mut [f32]) {
        for pair in out.chunks_mut(2) {
            let (a, b) = self.normal_pair();
            pair[0] = a as f32;
            if let Some(second) = pair.get_mut(1) {
                *second = b as f32;
            }
        }
    }

    /// Puts a slice into random order (Fisher and Yates).
    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for last in (1..items.len()).rev() {
            items.swap(last, self.below(last + 1));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stored_position_resumes_exactly() {
        let mut rng = Rng::new(5);
        for _ in 0..37 {
            rng.bits();
        }
        let text = serde_json::to_string(&rng).unwrap();
        let mut resumed: Rng = serde_json::from_str(&text).unwrap();
        assert_eq!(rng.bits(), resumed.bits());
    }

    #[test]
    fn normals_have_the_moments_of_a_normal() {
        let mut rng = Rng::new(1);
        let n = 200_000;
        let mut draws = vec![0.0; n];
        rng.fill_normal(&mut draws);
        let moment = |k: i32| draws.iter().map(|&x| f64::from(x).powi(k)).sum::<f64>() / n as f64;
        // Standard errors: 1/√n, √2/√n, √96/√n.
        assert!(moment(1).abs() < 4.0 / (n as f64).sqrt());
        assert!((moment(2) - 1.0).abs() < 4.0 * (2.0 / n as f64).sqrt());
        assert!((moment(4) - 3.0).abs() < 4.0 * (96.0 / n as f64).sqrt());
    }

    #[test]
    fn below_reaches_every_value_equally() {
        let mut rng = Rng::new(2);
        let mut counts = [0_usize; 7];
        for _ in 0..70_000 {
            counts[rng.below(7)] += 1;
        }
        assert!(counts.iter().all(|&c| (9_500..10_500).contains(&c)), "{counts:?}");
    }

    #[test]
    fn shuffling_keeps_the_items() {
        let mut items: Vec<usize> = (0..100).collect();
        Rng::new(3).shuffle(&mut items);
        assert_ne!(items, (0..100).collect::<Vec<_>>());
        items.sort_unstable();
        assert_eq!(items, (0..100).collect::<Vec<_>>());
    }
}

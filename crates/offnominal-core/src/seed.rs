//! Seeds form a tree, so that every random stream has a name and no stream depends on how many were drawn before it.
//!
//! `seed.child("environment")` and `seed.child(7)` are independent of one another and of their parent. A result is
//! therefore a pure function of its seed, whichever thread computes it and in whatever order.
//!
//! ```
//! use offnominal_core::Seed;
//! let run = Seed(1);
//! assert_eq!(run.child("environment").child(3_u64), run.child("environment").child(3_u64));
//! assert_ne!(run.child("environment"), run.child("policy"));
//! ```

use crate::Rng;
use serde::{Deserialize, Serialize};

/// A node of the seed tree.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Seed(pub u64);

impl Seed {
    /// The branch of this node that carries the given name or index.
    #[must_use]
    pub fn child(self, key: impl Key) -> Seed {
        Seed(mix(mix(self.0) ^ key.hash()))
    }

    /// A generator started from this node.
    pub fn rng(self) -> Rng {
        Rng::new(self.0)
    }
}

/// What can name a branch: a word or a count.
pub trait Key {
    /// A well mixed 64-bit digest of the key.
    fn hash(&self) -> u64;
}

impl Key for &str {
    /// FNV-1a over the bytes, then mixed: words and counts must not collide.
    fn hash(&self) -> u64 {
        let fnv = self
            .bytes()
            .fold(0xcbf2_9ce4_8422_2325_u64, |h, b| (h ^ u64::from(b)).wrapping_mul(0x0100_0000_01b3));
        mix(fnv ^ 0x5bd1_e995)
    }
}

impl Key for u64 {
    fn hash(&self) -> u64 {
        mix(self.wrapping_add(0x9e37_79b9_7f4a_7c15))
    }
}

impl Key for usize {
    fn hash(&self) -> u64 {
        (*self as u64).hash()
    }
}

/// The finaliser of SplitMix64 (Steele, Lea & Flood, OOPSLA 2014): a bijection in which each input bit reaches every
/// output bit.
fn mix(mut z: u64) -> u64 {
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn siblings_and_cousins_differ() {
        let mut seen = HashSet::new();
        for parent in 0..50_u64 {
            for child in 0..200_u64 {
                assert!(seen.insert(Seed(parent).child(child)), "collision at {parent}/{child}");
            }
        }
    }

    #[test]
    fn a_word_is_not_the_count_of_its_letters() {
        assert_ne!(Seed(0).child("a"), Seed(0).child(97_u64));
    }
}

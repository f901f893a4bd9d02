//! Random choices of mutants, and the values that readers like least.

use offnominal_core::Rng;

/// Draws.
pub struct Dice(Rng);

/// Numbers at the edges of what can be meant, as text.
pub const NUMBERS: &[&str] = &[
    "0",
    "-0",
    "1",
    "-1",
    "2",
    "0.5",
    "-0.5",
    "1e-300",
    "1e300",
    "1e308",
    "-1e308",
    "1e999",
    "255",
    "256",
    "65535",
    "65536",
    "100000",
    "1000000",
    "1000000000",
    "4294967295",
    "4294967296",
    "2147483647",
    "-2147483648",
    "9007199254740993",
    "9223372036854775807",
    "9223372036854775808",
    "18446744073709551615",
    "1e9",
    "nan",
    "inf",
    "-inf",
    "NaN",
    "null",
];

/// Whole numbers at the edges of their types.
pub const EDGES: &[u64] = &[
    0,
    1,
    2,
    3,
    4,
    7,
    8,
    0x7f,
    0x80,
    0xff,
    0x100,
    0x7fff,
    0x8000,
    0xffff,
    0x1_0000,
    0x7fff_ffff,
    0x8000_0000,
    0xffff_ffff,
    0x1_0000_0000,
    1 << 40,
    1 << 53,
    1 << 62,
    i64::MAX as u64,
    1 << 63,
    u64::MAX - 1,
    u64::MAX,
];

impl Dice {
    /// The draws of the mutant of that number.
    pub fn new(seed: u64, target: &str, index: u64) -> Dice {
        Dice(offnominal_core::Seed(seed).child(target).child(index as usize).rng())
    }

    /// A whole number below `n`, which is at least 1.
    pub fn below(&mut self, n: usize) -> usize {
        self.0.below(n.max(1))
    }

    /// True once in `n` draws.
    pub fn once_in(&mut self, n: usize) -> bool {
        self.below(n) == 0
    }

    /// One of some.
    pub fn of<'a, T>(&mut self, all: &'a [T]) -> &'a T {
        &all[self.below(all.len())]
    }

    /// Any 64 bits, often at an edge.
    pub fn number(&mut self) -> u64 {
        match self.below(4) {
            0 => self.below(1 << 16) as u64,
            1 => (self.0.below(1 << 30) as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15),
            _ => *self.of(EDGES),
        }
    }

    /// A range within a length; perhaps an empty one.
    pub fn range(&mut self, len: usize) -> std::ops::Range<usize> {
        let from = self.below(len + 1);
        let most = if self.once_in(4) { len - from } else { (len - from).min(32) };
        from..from + self.below(most + 1)
    }
}

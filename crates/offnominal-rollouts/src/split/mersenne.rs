//! The random numbers of Python's module `random`, as far as `random.Random(seed).shuffle` needs them: MT19937.
//!
//! Reference: Matsumoto and Nishimura, ACM Transactions on Modeling and Computer Simulation 8(1), 1998; seeds by their
//! `init_by_array` of 2002, as CPython does.
//!
//! ```
//! let mut items: Vec<u32> = (0..10).collect();
//! offnominal_rollouts::split::mersenne::Mersenne::new(0).shuffle(&mut items);
//! // random.Random(0).shuffle(items)
//! assert_eq!(items, [7, 8, 1, 5, 3, 4, 2, 0, 9, 6]);
//! ```

const N: usize = 624;
const M: usize = 397;

/// The generator.
#[derive(Debug, Clone)]
pub struct Mersenne {
    state: [u32; N],
    at: usize,
}

impl Mersenne {
    /// `random.Random(seed)`.
    pub fn new(seed: u64) -> Mersenne {
        let (low, high) = (seed as u32, (seed >> 32) as u32);
        let key = if high == 0 { vec![low] } else { vec![low, high] };
        let mut state = first(19_650_218);
        let mut i = 1;
        for k in 0..N {
            let mixed = state[i - 1] ^ (state[i - 1] >> 30);
            let at = k % key.len();
            state[i] =
                (state[i] ^ mixed.wrapping_mul(1_664_525)).wrapping_add(key[at]).wrapping_add(at as u32);
            i = next(i, &mut state);
        }
        for _ in 1..N {
            let mixed = state[i - 1] ^ (state[i - 1] >> 30);
            state[i] = (state[i] ^ mixed.wrapping_mul(1_566_083_941)).wrapping_sub(i as u32);
            i = next(i, &mut state);
        }
        state[0] = 1 << 31;
        Mersenne { state, at: N }
    }

    /// `shuffle(items)`.
    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for i in (1..items.len()).rev() {
            let j = self.below(i as u32 + 1);
            items.swap(i, j as usize);
        }
    }

    /// A number below n, by rejection.
    fn below(&mut self, n: u32) -> u32 {
        let unused = n.leading_zeros();
        loop {
            let found = self.bits() >> unused;
            if found < n {
                return found;
            }
        }
    }

    /// 32 bits.
    fn bits(&mut self) -> u32 {
        if self.at == N {
            self.twist();
        }
        let mut y = self.state[self.at];
        self.at += 1;
        y ^= y >> 11;
        y ^= (y << 7) & 0x9d2c_5680;
        y ^= (y << 15) & 0xefc6_0000;
        y ^ (y >> 18)
    }

    fn twist(&mut self) {
        for k in 0..N {
            let y = (self.state[k] & 1 << 31) | (self.state[(k + 1) % N] & !(1 << 31));
            let odd = if y & 1 == 1 { 0x9908_b0df } else { 0 };
            self.state[k] = self.state[(k + M) % N] ^ (y >> 1) ^ odd;
        }
        self.at = 0;
    }
}

/// The state of one seed word.
fn first(seed: u32) -> [u32; N] {
    let mut state = [seed; N];
    for i in 1..N {
        let mixed = state[i - 1] ^ (state[i - 1] >> 30);
        state[i] = mixed.wrapping_mul(1_812_433_253).wrapping_add(i as u32);
    }
    state
}

/// The place after this one; the last word goes to the front.
fn next(i: usize, state: &mut [u32; N]) -> usize {
    if i + 1 < N {
        return i + 1;
    }
    state[0] = state[N - 1];
    1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bits_are_those_of_python() {
        // random.Random(0): getrandbits(32) three times.
        let mut python = Mersenne::new(0);
        assert_eq!([(); 3].map(|()| python.bits()), [3_626_764_237, 1_654_615_998, 3_255_389_356]);
    }

    #[test]
    fn long_seeds_and_more_than_one_block_of_numbers() {
        let mut items: Vec<u32> = (0..20).collect();
        Mersenne::new((1 << 40) + 5).shuffle(&mut items);
        assert_eq!(items, [9, 7, 17, 13, 4, 18, 5, 6, 10, 11, 3, 14, 12, 15, 2, 1, 0, 8, 19, 16]);
        // r = random.Random(3); [r.getrandbits(32) for _ in range(1500)][-1]
        let mut python = Mersenne::new(3);
        let last = (0..1500).map(|_| python.bits()).last();
        assert_eq!(last, Some(LAST_OF_1500));
    }

    const LAST_OF_1500: u32 = 1285400353;
}

//! What a dictionary remembers: a bounded number of examples, and which of them are nearest to a query.
//!
//! At most [`MOST`] examples are remembered, so that a prediction costs the same however long a history is. Of a longer one
//! a random part is: failures and others up to half of the memory each, and more of one kind where there are fewer of the
//! other, because few failures must not be lost among many others. Each remembered example then stands for as many of its
//! kind as there were for each that is remembered, so that votes estimate those of all.
//!
//! Cost: a search reads all remembered embeddings, `MOST` × width numbers at most.

use crate::examples::Examples;
use offnominal_core::Rng;
use offnominal_nets::simd;

/// Most examples that are remembered.
pub(crate) const MOST: usize = 8192;

/// Embeddings with their outcomes.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Memory {
    /// `[width, n]`: the first number of all embeddings, then the second one, and so on.
    columns: Vec<f32>,
    /// Their outcomes, 0 or 1.
    outcomes: Vec<f32>,
    /// How many examples one that did not fail stands for, and one that failed.
    stands_for: [f32; 2],
}

/// The buffers of a search, and what it found.
#[derive(Debug, Clone, Default)]
pub(crate) struct Near {
    squared: Vec<f32>,
    /// Bits of the squared distance, which order as the distance does, above the number of the example.
    found: Vec<u64>,
}

impl Near {
    /// The nearest in the order in which they are remembered: squared distances and numbers.
    pub(crate) fn found(&self) -> impl Iterator<Item = (f32, usize)> {
        self.found.iter().map(|&packed| (distance(packed), number(packed)))
    }
}

fn distance(packed: u64) -> f32 {
    f32::from_bits((packed >> 32) as u32)
}

fn number(packed: u64) -> usize {
    (packed & u64::from(u32::MAX)) as usize
}

impl Memory {
    /// Of embeddings `[n, width]`.
    pub(crate) fn new(keys: &[f32], outcomes: Vec<f32>, stands_for: [f32; 2]) -> Memory {
        let (n, width) = (outcomes.len(), keys.len() / outcomes.len());
        let columns = (0..width).flat_map(|j| (0..n).map(move |i| keys[i * width + j])).collect();
        Memory { columns, outcomes, stands_for }
    }

    /// The embeddings, `[n, width]`.
    pub(crate) fn keys(&self) -> Vec<f32> {
        let (n, width) = (self.len(), self.columns.len() / self.len());
        (0..n).flat_map(|i| (0..width).map(move |j| self.columns[j * n + i])).collect()
    }

    pub(crate) fn len(&self) -> usize {
        self.outcomes.len()
    }

    pub(crate) fn outcomes(&self) -> &[f32] {
        &self.outcomes
    }

    pub(crate) fn stands_for(&self) -> [f32; 2] {
        self.stands_for
    }

    /// The k nearest examples, of equally near ones the earlier; without the one that asks for itself.
    pub(crate) fn nearest(&self, query: &[f32], but: Option<usize>, k: usize, near: &mut Near) {
        let (n, Near { squared, found }) = (self.len(), near);
        squared.clear();
        squared.resize(n, 0.0);
        simd(
            #[inline(always)]
            || {
                for (column, of_query) in self.columns.chunks_exact(n).zip(query) {
                    let sums = squared.iter_mut().zip(column);
                    sums.for_each(|(sum, key)| *sum += (key - of_query) * (key - of_query));
                }
            },
        );
        if let Some(own) = but {
            squared[own] = f32::INFINITY;
        }
        found.clear();
        found.extend((0..k.min(n)).map(|i| packed(squared, i)));
        let mut worst = furthest(found);
        for i in k..n {
            if squared[i] < distance(found[worst]) {
                found[worst] = packed(squared, i);
                worst = furthest(found);
            }
        }
        found.sort_unstable_by_key(|&packed| number(packed));
    }
}

fn packed(squared: &[f32], i: usize) -> u64 {
    u64::from(squared[i].to_bits()) << 32 | i as u64
}

fn furthest(found: &[u64]) -> usize {
    (0..found.len()).max_by_key(|&i| found[i]).unwrap_or(0)
}

/// Which examples are remembered, at most so many, in their order, and how many one that did not fail stands for, and one
/// that failed.
pub(crate) fn choose(examples: &Examples, most: usize, rng: &mut Rng) -> (Vec<usize>, [f32; 2]) {
    let n = examples.len();
    if n <= most {
        return ((0..n).collect(), [1.0; 2]);
    }
    let (mut failures, mut others): (Vec<usize>, Vec<usize>) =
        (0..n).partition(|&i| examples.failed()[i] > 0.5);
    let of_failures = failures.len().min(most.saturating_sub(others.len()).max(most / 2));
    let of_others = most - of_failures;
    let share = |of: &[usize], kept: usize| of.len() as f32 / kept.max(1) as f32;
    let stands_for = [share(&others, of_others), share(&failures, of_failures)];
    rng.shuffle(&mut failures);
    rng.shuffle(&mut others);
    let mut kept = [&failures[..of_failures], &others[..of_others]].concat();
    kept.sort_unstable();
    (kept, stands_for)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::examples::Theta;

    fn examples(n: usize, failures: usize) -> Examples {
        let mut all = Examples::new(1);
        let theta = Theta { iteration: 0.5, noise: 0.0 };
        (0..n).for_each(|i| all.push(&[i as f64], theta, i < failures));
        all
    }

    #[test]
    fn a_search_finds_what_sorting_finds() {
        let mut rng = Rng::new(1);
        let (n, width) = (300, 5);
        let mut keys = vec![0.0; n * width];
        rng.fill_normal(&mut keys);
        // Two that are equally near.
        keys.copy_within(0..width, 7 * width);
        let memory = Memory::new(&keys, vec![0.0; n], [1.0; 2]);
        assert_eq!(memory.keys(), keys);
        let (query, mut near) = (keys[..width].to_vec(), Near::default());
        for (but, k) in [(None, 1), (None, 12), (Some(0), 12), (None, n)] {
            let squared = |i: usize| -> f32 {
                keys[i * width..][..width].iter().zip(&query).map(|(a, b)| (a - b) * (a - b)).sum()
            };
            let mut order: Vec<usize> = (0..n).filter(|&i| Some(i) != but).collect();
            order.sort_by(|&a, &b| squared(a).total_cmp(&squared(b)));
            order.truncate(k);
            order.sort_unstable();
            memory.nearest(&query, but, k, &mut near);
            let found: Vec<usize> = near.found().map(|(_, i)| i).collect();
            assert_eq!(found, order, "{but:?} {k}");
            assert!(near.found().all(|(distance, i)| distance == squared(i)));
        }
    }

    #[test]
    fn few_of_a_kind_are_all_remembered_and_what_is_remembered_stands_for_all() {
        for (n, failures, kept_failures) in
            [(90, 40, 40), (1000, 20, 20), (1000, 300, 50), (1000, 990, 90), (150, 150, 100)]
        {
            let all = examples(n, failures);
            let (kept, stands_for) = choose(&all, 100, &mut Rng::new(2));
            assert!(kept.len() == n.min(100) && kept.is_sorted_by(|a, b| a < b), "{n}: {}", kept.len());
            let failed = kept.iter().filter(|&&i| i < failures).count();
            assert_eq!(failed, kept_failures, "{failures} of {n}");
            let votes = |kept: usize, of: usize| (kept as f32 * stands_for[of]).round() as usize;
            assert_eq!((votes(failed, 1), votes(kept.len() - failed, 0)), (failures, n - failures));
        }
    }
}

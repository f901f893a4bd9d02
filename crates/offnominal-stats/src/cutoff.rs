//! The usual protocols for failure detectors of policies, which rank whole rollouts: the score of a rollout is the largest
//! of its first rows.
//!
//! How many rows count differs, and with it how much the length of a rollout tells of its outcome. Failed rollouts run to a
//! time limit and successful ones end early, so a protocol under which a step counter scores high measures time:
//!
//! | cut-off        | rows that count, of T                                                | tells the score              |
//! |----------------|----------------------------------------------------------------------|------------------------------|
//! | `whole`        | T                                                                    | the length, hence the outcome |
//! | `task-max` q   | min(T, max(1, ⌈q · longest rollout of the task⌉))                    | who ended before the cut     |
//! | `task-min` q   | round((shortest rollout of the task − 1) · q) + 1, halves to even    | the task, by its cut         |
//! | `episode` q    | ⌈q T⌉                                                                | the length                   |
//!
//! Longest and shortest are those of the rollouts that are judged. [`landmark`](crate::landmark) has no such row.
//!
//! References: Xu et al., arXiv 2503.08558 (FAIL-Detect); Gu et al., arXiv 2506.09937 (SAFE: `task-min`); ActProbe, arXiv
//! 2606.08508 (`task-max`, its main table with q = ¼).

use crate::ranking::Ranking;
use std::collections::BTreeMap;
use std::fmt::{self, Display, Formatter};

/// How many rows of a rollout count.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Cutoff {
    /// All.
    Whole,
    /// A share of the longest rollout of the task.
    TaskMax(f64),
    /// A share of the shortest rollout of the task.
    TaskMin(f64),
    /// A share of the rollout itself.
    Episode(f64),
}

/// The cut-offs of published tables.
pub const CUTOFFS: [Cutoff; 8] = [
    Cutoff::Whole,
    Cutoff::TaskMax(0.25),
    Cutoff::TaskMax(0.5),
    Cutoff::TaskMax(0.75),
    Cutoff::TaskMin(0.25),
    Cutoff::TaskMin(0.5),
    Cutoff::TaskMin(1.0),
    Cutoff::Episode(0.25),
];

impl Cutoff {
    /// The rows that count of each rollout, from its length and the number of its task.
    pub fn rows(self, rollouts: &[(usize, usize)]) -> Vec<usize> {
        let mut ranges = BTreeMap::<usize, (usize, usize)>::new();
        for &(length, task) in rollouts {
            let range = ranges.entry(task).or_insert((length, length));
            *range = (range.0.min(length), range.1.max(length));
        }
        let rows = |&(length, task): &(usize, usize)| {
            let (shortest, longest) = ranges[&task];
            let share = |q: f64, of: usize| (q * of as f64).ceil() as usize;
            let rows = match self {
                Cutoff::Whole => length,
                Cutoff::TaskMax(q) => share(q, longest),
                Cutoff::TaskMin(q) => ((shortest as f64 - 1.0) * q).round_ties_even() as usize + 1,
                Cutoff::Episode(q) => share(q, length),
            };
            rows.max(1).min(length)
        };
        rollouts.iter().map(rows).collect()
    }
}

impl Display for Cutoff {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Cutoff::Whole => write!(f, "whole"),
            Cutoff::TaskMax(q) => write!(f, "task-max {q}"),
            Cutoff::TaskMin(q) => write!(f, "task-min {q}"),
            Cutoff::Episode(q) => write!(f, "episode {q}"),
        }
    }
}

/// Rollouts ranked by the largest score of their first rows.
#[derive(Debug, Clone)]
pub struct Ranked(Ranking);

impl Ranked {
    /// Ranks rollouts, given as number, outcome and scores, of each of which so many rows count.
    ///
    /// # Panics
    /// If a number is not below `n_rollouts`.
    pub fn new(n_rollouts: usize, rollouts: &[(usize, bool, &[f64])], rows: &[usize]) -> Ranked {
        let largest = |scores: &[f64]| scores.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let step = |(&(rollout, fails, scores), &rows): (&(usize, bool, &[f64]), &usize)| {
            (largest(&scores[..rows.min(scores.len())]), fails, rollout)
        };
        Ranked(Ranking::new(n_rollouts, rollouts.iter().zip(rows).map(step)))
    }

    /// The mean area of several sets of rollouts that are ranked by themselves, if each rollout counted as often as its
    /// weight says; those of one outcome are left out.
    pub fn mean_area(parts: &[Ranked], weights: &[u32]) -> Option<f64> {
        let areas: Vec<f64> = parts.iter().filter_map(|part| Some(part.0.tally(weights)?.auroc)).collect();
        (!areas.is_empty()).then(|| areas.iter().sum::<f64>() / areas.len() as f64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_follow_the_table() {
        // Lengths 10 and 41 of one task, 5 of another.
        let rollouts = [(10, 0), (41, 0), (5, 1)];
        let rows = |cutoff: Cutoff| cutoff.rows(&rollouts);
        assert_eq!(rows(Cutoff::Whole), [10, 41, 5]);
        assert_eq!(rows(Cutoff::TaskMax(0.25)), [10, 11, 2]);
        assert_eq!(rows(Cutoff::Episode(0.25)), [3, 11, 2]);
        // 9 · ½ = 4.5 is rounded to 4, and 4 · ½ = 2.
        assert_eq!(rows(Cutoff::TaskMin(0.5)), [5, 5, 3]);
        assert_eq!(rows(Cutoff::TaskMax(0.0)), [1, 1, 1]);
    }

    #[test]
    fn a_clock_ranks_by_length_where_the_cut_lets_it() {
        let clock: Vec<f64> = (0..12).map(f64::from).collect();
        let rollouts = [(0, true, &clock[..12]), (1, false, &clock[..8]), (2, false, &clock[..4])];
        let lengths = [(12, 0), (8, 0), (4, 0)];
        let area = |cutoff: Cutoff| {
            Ranked::mean_area(&[Ranked::new(3, &rollouts, &cutoff.rows(&lengths))], &[1; 3]).unwrap()
        };
        assert_eq!(area(Cutoff::Whole), 1.0);
        assert_eq!(area(Cutoff::TaskMax(0.5)), 0.75, "6, 6 and 4 rows");
        assert_eq!(area(Cutoff::TaskMin(1.0)), 0.5);
    }

    #[test]
    fn parts_of_one_outcome_are_left_out() {
        let part = |fails: [bool; 2]| {
            Ranked::new(2, &[(0, fails[0], &[1.0][..]), (1, fails[1], &[0.0][..])], &[1, 1])
        };
        assert_eq!(Ranked::mean_area(&[part([true, false]), part([true, true])], &[1, 1]), Some(1.0));
        assert_eq!(Ranked::mean_area(&[part([true, true])], &[1, 1]), None);
    }
}

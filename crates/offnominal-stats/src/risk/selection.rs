//! Which of several policies fails least.
//!
//! Every policy has an interval that is valid at every moment, at the level 1 − α / (number of policies). A policy is
//! out as soon as its interval lies above that of another one. The best is never out with probability 1 − α; if several
//! are still in when the budget ends, they are reported as unresolved rather than one of them picked by chance.
//!
//! Assumes: estimates that are valid whenever one looks, such as [`sequence`](super::counting::sequence),
//! [`HorvitzThompson`](super::HorvitzThompson); draws may be shared by all policies, which need not be independent.
//! Reference: Even-Dar, Mannor and Mansour, JMLR 7, 2006 (successive elimination).

use super::refusal::Refusal;
use crate::{Level, StatsError};
use offnominal_core::estimate::Estimate;

/// Successive elimination.
#[derive(Debug, Clone, PartialEq)]
pub struct SuccessiveElimination {
    level: Level,
    policies: Vec<Option<Estimate>>,
    is_in: Vec<bool>,
}

/// How a selection stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Standing {
    /// One policy is left.
    Resolved {
        /// Its index.
        best: usize,
    },
    /// Several are left: the data do not tell them apart.
    Unresolved {
        /// Their indices.
        left: Vec<usize>,
    },
}

impl SuccessiveElimination {
    /// A selection of so many policies whose outcome is wrong with probability 1 − level at most.
    ///
    /// # Errors
    /// If there are no policies.
    pub fn new(policies: usize, level: Level) -> Result<SuccessiveElimination, Refusal> {
        StatsError::require("selection", 1, "policies", policies)?;
        Ok(SuccessiveElimination { level, policies: vec![None; policies], is_in: vec![true; policies] })
    }

    /// The level at which each policy's interval must be made.
    pub fn level_of_each(&self) -> Level {
        let alpha = (1.0 - self.level.get()) / self.policies.len() as f64;
        Level::try_from(1.0 - alpha).expect("between the level of the selection and 1")
    }

    /// What is known by now of a policy that is still in.
    ///
    /// # Errors
    /// If the interval was made at a lower level than [`level_of_each`](SuccessiveElimination::level_of_each).
    ///
    /// # Panics
    /// If there is no such policy.
    pub fn update(&mut self, policy: usize, risk: Estimate) -> Result<(), Refusal> {
        let wanted = self.level_of_each().get();
        let expected = "the level of the selection shared among all policies";
        StatsError::within(risk.level >= wanted - 1e-12, "level of an estimate", expected, risk.level)?;
        self.policies[policy] = Some(risk);
        let highs = self.policies.iter().flatten().map(|e| e.high);
        let best = highs.fold(f64::INFINITY, f64::min);
        for (is_in, risk) in self.is_in.iter_mut().zip(&self.policies) {
            *is_in &= risk.as_ref().is_none_or(|e| e.low <= best);
        }
        Ok(())
    }

    /// Whether a policy may still be the best, so that more experiments on it are worth it.
    pub fn is_in(&self, policy: usize) -> bool {
        self.is_in[policy]
    }

    /// Those with the lowest estimate among the policies that are left; several if they tie, as where none has failed.
    pub fn lowest(&self) -> Vec<usize> {
        let value = |i: usize| self.policies[i].as_ref().map_or(f64::INFINITY, |e| e.value);
        let left = || (0..self.policies.len()).filter(|&i| self.is_in[i]);
        let least = left().map(value).fold(f64::INFINITY, f64::min);
        left().filter(|&i| value(i) <= least).collect()
    }

    /// Who is left.
    pub fn standing(&self) -> Standing {
        let left: Vec<usize> = (0..self.policies.len()).filter(|&i| self.is_in[i]).collect();
        match left[..] {
            [best] => Standing::Resolved { best },
            _ => Standing::Unresolved { left },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::counting::sequence;
    use super::super::toy::repetitions;
    use super::*;
    use offnominal_core::Rng;

    /// Selections policies on plain episodes, in rounds of a hundred.
    fn selection(risks: &[f64], rounds: usize, rng: &mut Rng) -> Standing {
        let mut selection = SuccessiveElimination::new(risks.len(), Level::P95).unwrap();
        let mut failures = vec![0; risks.len()];
        for round in 1..=rounds {
            for (i, &p) in risks.iter().enumerate() {
                if !selection.is_in(i) {
                    continue;
                }
                failures[i] += (0..100).filter(|_| rng.uniform() < p).count();
                let risk = sequence(failures[i], 100 * round, selection.level_of_each()).unwrap();
                selection.update(i, risk).unwrap();
            }
        }
        selection.standing()
    }

    #[test]
    fn the_best_is_found_and_hardly_ever_thrown_out() {
        let wrong = (0..repetitions() as u64 / 4)
            .filter(|&i| match selection(&[0.05, 0.02, 0.03], 30, &mut Rng::new(i)) {
                Standing::Resolved { best } => best != 1,
                Standing::Unresolved { left } => !left.contains(&1),
            })
            .count();
        assert!(wrong as f64 <= 0.05 * repetitions() as f64 / 4.0, "{wrong}");
        assert_eq!(selection(&[0.2, 0.02, 0.1], 30, &mut Rng::new(1)), Standing::Resolved { best: 1 });
    }

    #[test]
    fn the_lowest_is_one_of_those_left_and_ties_are_told() {
        let mut selection = SuccessiveElimination::new(3, Level::P95).unwrap();
        let level = selection.level_of_each();
        let mut saw = |i, failures, n| {
            selection.update(i, sequence(failures, n, level).unwrap()).unwrap();
            selection.lowest()
        };
        assert_eq!(saw(0, 90, 100), [0]);
        assert_eq!(saw(1, 1, 1000), [1]);
        assert_eq!(saw(2, 0, 100), [2]);
        assert_eq!(saw(1, 0, 1000), [1, 2]);
    }

    #[test]
    fn equals_stay_unresolved() {
        assert_eq!(selection(&[0.02, 0.02], 20, &mut Rng::new(1)), Standing::Unresolved { left: vec![0, 1] });
    }

    #[test]
    fn an_interval_of_too_low_a_level_is_refused() {
        let mut selection = SuccessiveElimination::new(2, Level::P95).unwrap();
        let risk = sequence(1, 100, Level::P95).unwrap();
        assert!(selection.update(0, risk).unwrap_err().to_string().starts_with("level of an estimate"));
    }
}

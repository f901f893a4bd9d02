//! What is known of a rollout from its task and its step alone.

use std::collections::BTreeMap;

/// Rollouts of all tasks that count as much as those of the task itself: with few of those, the task is like the others.
const BORROWED: f64 = 5.0;
/// The least distance of a probability from 0 and 1, as a number of rollouts.
const HALF: f64 = 0.5;

/// The probability to fail from each step on.
#[derive(Debug, Clone, PartialEq)]
pub struct Baseline {
    tasks: BTreeMap<usize, Vec<f64>>,
    all: Vec<f64>,
}

/// Rollouts that run at each step, and the probability to fail from there on.
struct Curve {
    running: Vec<f64>,
    fails: Vec<f64>,
}

impl Baseline {
    /// From rollouts, given as task, number of steps and outcome.
    ///
    /// # Panics
    /// If there is none.
    pub fn of(rollouts: &[(usize, usize, bool)]) -> Baseline {
        let all = Curve::of(rollouts);
        let smooth = |curve: &Curve| -> Vec<f64> {
            let at = |k: usize| {
                let (n, own) = curve.at(k);
                let (n_all, common) = all.at(k);
                let common = (n_all * common + HALF) / (n_all + 2.0 * HALF);
                (n * own + BORROWED * common) / (n + BORROWED)
            };
            (0..all.running.len()).map(at).collect()
        };
        let mut tasks: BTreeMap<usize, Vec<(usize, usize, bool)>> = BTreeMap::new();
        rollouts.iter().for_each(|&r| tasks.entry(r.0).or_default().push(r));
        Baseline {
            tasks: tasks.into_iter().map(|(task, own)| (task, smooth(&Curve::of(&own)))).collect(),
            all: smooth(&all),
        }
    }

    /// The log odds to fail from step k on; those of the last known step beyond it. A task that is not known is like all.
    pub fn logit(&self, task: usize, k: usize) -> f64 {
        let curve = self.tasks.get(&task).unwrap_or(&self.all);
        let p = curve[k.min(curve.len() - 1)];
        (p / (1.0 - p)).ln()
    }
}

impl Curve {
    /// Aalen–Johansen by hazards, from the last step backwards: F(k) = h₁(k) + (1 − h₁(k) − h₀(k)) F(k + 1).
    fn of(rollouts: &[(usize, usize, bool)]) -> Curve {
        let longest = rollouts.iter().map(|r| r.1).max().expect("a rollout");
        let (mut running, mut ends) = (vec![0.0; longest], vec![[0.0; 2]; longest]);
        for &(_, steps, fails) in rollouts {
            running[..steps].iter_mut().for_each(|n| *n += 1.0);
            ends[steps - 1][usize::from(fails)] += 1.0;
        }
        let (mut fails, mut next) = (vec![0.0; longest], 0.0);
        for k in (0..longest).rev() {
            let [h0, h1] = ends[k].map(|n| n / running[k]);
            next = h1 + (1.0 - h1 - h0) * next;
            fails[k] = next;
        }
        Curve { running, fails }
    }

    /// Rollouts that run at a step, and their probability to fail; nobody beyond the longest.
    fn at(&self, k: usize) -> (f64, f64) {
        self.running.get(k).map_or((0.0, 0.0), |&n| (n, self.fails[k]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn with_complete_outcomes_it_is_the_share_that_fails_of_those_that_run() {
        let rollouts = [(0, 2, false), (0, 3, true), (0, 5, true), (0, 4, false), (0, 5, false)];
        let curve = Curve::of(&rollouts);
        for k in 0..5 {
            let running = || rollouts.iter().filter(move |r| r.1 > k);
            let want = running().filter(|r| r.2).count() as f64 / running().count() as f64;
            assert!((curve.fails[k] - want).abs() < 1e-12, "step {k}");
        }
    }

    #[test]
    fn an_unknown_task_is_like_all_and_a_small_one_nearly_so() {
        let mut rollouts: Vec<_> = (0..40).map(|i| (0, 3, i % 4 == 0)).collect();
        rollouts.push((1, 3, true));
        let baseline = Baseline::of(&rollouts);
        let p = |task: usize| 1.0 / (1.0 + (-baseline.logit(task, 0)).exp());
        assert!((p(9) - 11.0 / 41.0).abs() < 0.01, "{}", p(9));
        assert!(p(1) > p(9) && p(1) < 0.5, "{}", p(1));
        assert_eq!(baseline.logit(0, 2), baseline.logit(0, 7), "beyond the last step");
    }
}

//! Rollouts of the same task at the same step, among those that still run: the comparison that takes out clock and task.

use crate::rollout::Rollouts;
use offnominal_stats::landmark::{Course, Landmark};
use std::collections::BTreeMap;

/// The landmark area by pairs of what was said of rollouts; none if there is nothing to compare.
pub(super) fn area(data: &Rollouts, rollouts: &[usize], scores: &[Vec<f64>]) -> Option<f64> {
    let mut courses = Vec::with_capacity(rollouts.len());
    for (rollout, (&i, scores)) in rollouts.iter().zip(scores).enumerate() {
        let r = &data.rollouts[i];
        courses.push(Course { rollout, task: r.task, fails: r.fails, scores });
    }
    let found = Landmark::new(&courses, 0).ok()?;
    found.areas(&vec![1; rollouts.len()]).map(|[pairs, ..]| pairs)
}

/// Places of the failures and of the successes of each task among rollouts.
pub(super) fn by_task(data: &Rollouts, rollouts: &[usize]) -> Vec<[Vec<usize>; 2]> {
    let mut tasks = BTreeMap::<usize, [Vec<usize>; 2]>::new();
    for (place, &i) in rollouts.iter().enumerate() {
        let r = &data.rollouts[i];
        tasks.entry(r.task).or_default()[usize::from(!r.fails)].push(place);
    }
    tasks.into_values().filter(|both| both.iter().all(|of| !of.is_empty())).collect()
}

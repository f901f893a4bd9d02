//! Early detection of failed rollouts at an equal share of false alarms in every task.
//!
//! The threshold of a task is the smallest score that at most a share α of its successful rollouts exceed, each by its
//! largest score. So every detector pays the same number of false alarms in the same tasks, and what is compared is how many
//! failed rollouts have an alarm, and how long before their end. A task without a success has no threshold and is left out.
//!
//! | number     | of all failed rollouts                                                      |
//! |------------|-----------------------------------------------------------------------------|
//! | `detected` | the share that has an alarm                                                 |
//! | `lead`     | the mean of the steps from the first alarm to the end; 0 without an alarm   |
//!
//! The thresholds are chosen on the rollouts that are judged, as an ROC curve does: this compares detectors, and promises
//! nothing. A lead over all failures, and not only over those detected, cannot be raised by missing the hard ones.
//!
//! ```
//! use offnominal_stats::{early::Early, landmark::Course};
//! let course = |rollout, fails, scores| Course { rollout, task: 0, fails, scores };
//! let found = Early::new(&[course(0, true, &[0.0, 3.0, 0.0, 4.0][..]), course(1, false, &[2.0, 1.0][..])]);
//! // The success sets the threshold 2, which the failure exceeds three steps before its end.
//! assert_eq!(found.measure(0.1, &[1, 1]), Some([1.0, 3.0]));
//! ```

use crate::landmark::Course;
use std::collections::BTreeMap;

/// The rollouts of each task, ready for any share of false alarms.
#[derive(Debug, Clone)]
pub struct Early(BTreeMap<usize, Task>);

#[derive(Debug, Clone, Default)]
struct Task {
    /// Largest score of each success with the number of the rollout, in descending order.
    successes: Vec<(f64, usize)>,
    /// The largest score so far at each step of each failure, with its number.
    failures: Vec<(Vec<f64>, usize)>,
}

impl Early {
    /// Sorts what a detector said.
    pub fn new(courses: &[Course<'_>]) -> Early {
        let mut tasks = BTreeMap::<usize, Task>::new();
        for course in courses.iter().filter(|course| !course.scores.is_empty()) {
            let task = tasks.entry(course.task).or_default();
            let so_far = running_largest(course.scores);
            match course.fails {
                true => task.failures.push((so_far, course.rollout)),
                false => task.successes.push((so_far[so_far.len() - 1], course.rollout)),
            }
        }
        tasks.values_mut().for_each(|task| task.successes.sort_by(|a, b| b.0.total_cmp(&a.0)));
        Early(tasks)
    }

    /// Share detected and mean lead at a share of false alarms, if each rollout counted as often as its weight says; none
    /// if no failure counts.
    pub fn measure(&self, alpha: f64, weights: &[u32]) -> Option<[f64; 2]> {
        let (mut n, mut detected, mut lead) = (0.0, 0.0, 0.0);
        for (length, alarm, weight) in self.alarms(alpha, weights) {
            n += weight;
            detected += weight * f64::from(u8::from(alarm.is_some()));
            lead += weight * alarm.map_or(0.0, |step| (length - step) as f64);
        }
        (n > 0.0).then(|| [detected / n, lead / n])
    }

    /// The share of failed rollouts with an alarm by the end of each step 0, 1, … of the longest.
    pub fn curve(&self, alpha: f64, n_rollouts: usize) -> Vec<f64> {
        let once = vec![1; n_rollouts];
        let alarms: Vec<(usize, Option<usize>, f64)> = self.alarms(alpha, &once).collect();
        let longest = alarms.iter().map(|(length, ..)| *length).max().unwrap_or(0);
        let by =
            |step: usize| alarms.iter().filter(|(_, alarm, _)| alarm.is_some_and(|at| at <= step)).count();
        (0..longest).map(|step| by(step) as f64 / alarms.len() as f64).collect()
    }

    /// Length, first alarm and weight of each failed rollout of a task with a threshold.
    fn alarms<'a>(
        &'a self,
        alpha: f64,
        weights: &'a [u32],
    ) -> impl Iterator<Item = (usize, Option<usize>, f64)> + 'a {
        self.0.values().flat_map(move |task| {
            let threshold = task.threshold(alpha, weights);
            let failures = task.failures.iter().filter(move |_| threshold.is_some());
            failures.map(move |(so_far, rollout)| {
                let step = so_far.partition_point(|&largest| threshold.is_some_and(|t| largest <= t));
                (so_far.len(), (step < so_far.len()).then_some(step), f64::from(weights[*rollout]))
            })
        })
    }
}

impl Task {
    /// The smallest score that at most a share of the successes exceeds; none if there is no success.
    fn threshold(&self, alpha: f64, weights: &[u32]) -> Option<f64> {
        let weight = |rollout: usize| f64::from(weights[rollout]);
        let n: f64 = self.successes.iter().map(|(_, rollout)| weight(*rollout)).sum();
        if n == 0.0 {
            return None;
        }
        let (mut above, mut at_or_above) = (0.0, 0.0);
        let mut threshold = None;
        for tied in self.successes.chunk_by(|a, b| a.0 == b.0) {
            at_or_above += tied.iter().map(|(_, rollout)| weight(*rollout)).sum::<f64>();
            // The subtrahend keeps rounding from forbidding an alarm that the share allows.
            if above <= alpha * n + 1e-9 {
                threshold = Some(tied[0].0);
            }
            above = at_or_above;
        }
        threshold
    }
}

fn running_largest(scores: &[f64]) -> Vec<f64> {
    let mut largest = f64::NEG_INFINITY;
    let so_far = scores.iter().map(|&score| {
        largest = largest.max(score);
        largest
    });
    so_far.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn course(rollout: usize, task: usize, fails: bool, scores: &[f64]) -> Course<'_> {
        Course { rollout, task, fails, scores }
    }

    #[test]
    fn a_share_of_the_successes_of_each_task_may_have_an_alarm() {
        let scores: Vec<[f64; 1]> = (1..=10).map(|i| [f64::from(i)]).collect();
        let mut courses: Vec<_> = (0..10).map(|i| course(i, 0, false, &scores[i])).collect();
        let failure = [0.0, 9.5, 20.0];
        courses.push(course(10, 0, true, &failure));
        let early = Early::new(&courses);
        let measure = |alpha: f64| early.measure(alpha, &[1; 11]).unwrap();
        assert_eq!(measure(0.0), [1.0, 1.0], "the threshold is 10");
        assert_eq!(measure(0.09), [1.0, 1.0], "a tenth of the successes is more");
        assert_eq!(measure(0.1), [1.0, 2.0], "the threshold is 9");
        assert_eq!(early.curve(0.1, 11), [0.0, 1.0, 1.0]);
    }

    #[test]
    fn weights_count_like_copies_and_a_task_without_success_is_left_out() {
        let (high, low, failure, other) = ([5.0], [1.0], [3.0, 6.0], [9.0]);
        let courses = [
            course(0, 0, false, &high),
            course(1, 0, false, &low),
            course(2, 0, true, &failure),
            course(3, 1, true, &other),
        ];
        let early = Early::new(&courses);
        assert_eq!(early.measure(0.5, &[1, 1, 1, 1]), Some([1.0, 2.0]));
        assert_eq!(early.measure(0.5, &[2, 1, 1, 1]), Some([1.0, 1.0]), "two thirds would be above 1");
        assert_eq!(early.measure(0.5, &[0, 1, 1, 1]), Some([1.0, 2.0]));
        assert_eq!(early.measure(0.5, &[1, 1, 0, 5]), None);
    }

    #[test]
    fn a_missed_failure_has_no_lead() {
        let (success, quiet, loud) = ([2.0], [1.0; 4], [3.0, 0.0]);
        let courses = [course(0, 0, false, &success), course(1, 0, true, &quiet), course(2, 0, true, &loud)];
        assert_eq!(Early::new(&courses).measure(0.05, &[1; 3]), Some([0.5, 1.0]));
    }
}

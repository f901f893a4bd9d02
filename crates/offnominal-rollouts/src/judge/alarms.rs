//! Alarms at thresholds that held-out successes of the same task set (Mondrian conformal prediction).

use super::document::Alarms;
use crate::rollout::Rollouts;
use crate::split::Part;
use anyhow::Result;
use offnominal_core::estimate::Estimate;
use offnominal_stats::proportion::clopper_pearson;
use offnominal_stats::{GroupThresholds, Level, Promise, Rule};

/// Counts of judged rollouts.
#[derive(Default)]
struct Counts {
    /// Alarms and rollouts among successes, and among failures.
    successes: [usize; 2],
    failures: [usize; 2],
    own: usize,
    pooled: usize,
    without: usize,
}

/// Counts alarms in all parts, from the scores of held-out successes and of judged rollouts, `[parts][rollouts][steps]`;
/// none if no part has successes that set thresholds.
pub(super) fn alarms(
    data: &Rollouts,
    parts: &[Part],
    alpha: f64,
    [held_out, judged]: [&[Vec<Vec<f64>>]; 2],
) -> Result<Option<Alarms>> {
    let rule = Rule::Conformal(Promise::on_average(alpha));
    let task = |rollout: usize| data.tasks[data.rollouts[rollout].task].as_str();
    let mut counts = Counts::default();
    for (part, (held_out, judged)) in parts.iter().zip(held_out.iter().zip(judged)) {
        let tasks: Vec<&str> = part.held_out_successes(data).map(task).collect();
        if tasks.is_empty() {
            counts.without += part.test.len();
            continue;
        }
        let thresholds = rule.group_thresholds(held_out, &tasks, Level::P95)?;
        for (&i, scores) in part.test.iter().zip(judged) {
            let Some(threshold) = counts.threshold(&thresholds, task(i)) else { continue };
            let is_alarm = usize::from(scores.iter().any(|&score| score > threshold));
            let of = if data.rollouts[i].fails { &mut counts.failures } else { &mut counts.successes };
            *of = [of[0] + is_alarm, of[1] + 1];
        }
    }
    counts.end()
}

impl Counts {
    /// The threshold of a task, which is counted by where it comes from.
    fn threshold(&mut self, thresholds: &GroupThresholds, task: &str) -> Option<f64> {
        if let Some((.., own)) = thresholds.own.iter().find(|(name, ..)| name == task) {
            self.own += 1;
            return Some(own.value);
        }
        let is_pooled = thresholds.pooled.iter().any(|(name, _)| name == task);
        let pool = thresholds.pool.as_ref().filter(|_| is_pooled);
        *(if pool.is_some() { &mut self.pooled } else { &mut self.without }) += 1;
        pool.map(|pool| pool.value)
    }

    fn end(self) -> Result<Option<Alarms>> {
        let share =
            |[alarms, n]: [usize; 2]| -> Result<Estimate> { Ok(clopper_pearson(alarms, n, Level::P95)?) };
        if self.successes[1] == 0 {
            return Ok(None);
        }
        Ok(Some(Alarms {
            false_alarms: share(self.successes)?,
            detected: (self.failures[1] > 0).then(|| share(self.failures)).transpose()?,
            own: self.own,
            pooled: self.pooled,
            without: self.without,
        }))
    }
}

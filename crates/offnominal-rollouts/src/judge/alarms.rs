//! Alarms at thresholds that held-out successes of the same task set (Mondrian conformal prediction).

use super::document::Alarms;
use super::section::{Scored, Section};
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

/// Counts alarms in all parts; none if no part has successes that set thresholds.
pub(super) fn alarms(section: &Section<'_>, scored: &Scored) -> Result<Option<Alarms>> {
    let mut counts = Counts::default();
    for (k, part) in section.parts.iter().enumerate() {
        let tasks: Vec<&str> = section.successes(part).map(|i| section.task_of(i)).collect();
        let rule = Rule::Conformal(Promise::on_average(section.request.alpha));
        if tasks.is_empty() {
            counts.without += part.test.len();
            continue;
        }
        let thresholds = rule.group_thresholds(&scored.calibration[k], &tasks, Level::P95)?;
        for (&i, scores) in part.test.iter().zip(&scored.scores[k]) {
            let threshold = counts.threshold(&thresholds, section.task_of(i));
            if let Some(threshold) = threshold {
                let is_alarm = usize::from(scores.iter().any(|&score| score > threshold));
                let fails = section.data.rollouts[i].fails;
                let of = if fails { &mut counts.failures } else { &mut counts.successes };
                *of = [of[0] + is_alarm, of[1] + 1];
            }
        }
    }
    counts.end()
}

impl Section<'_> {
    fn task_of(&self, rollout: usize) -> &str {
        &self.data.tasks[self.data.rollouts[rollout].task]
    }
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

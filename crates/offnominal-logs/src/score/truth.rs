//! What alarms are worth, where labels or outcomes say what was wrong.

use crate::score::ScoredRecording;
use anyhow::Result;
use offnominal_core::estimate::Estimate;
use offnominal_stats::Level;
use offnominal_stats::proportion::clopper_pearson;
use serde::Serialize;
use std::fmt::{self, Display, Formatter};

/// Recordings counted by what is known of them.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Truth {
    /// Recordings of which nothing is known.
    pub unknown: usize,
    /// Of these, those with an alarm.
    pub unknown_with_alarm: usize,
    /// The share of nominal recordings with an alarm, with its exact 95 % interval; `None` without such recordings.
    pub false_alarms: Option<Estimate>,
    /// The share of anomalous recordings with an alarm at or after the first labelled step (anywhere, if only the outcome
    /// is known), with its exact 95 % interval.
    pub detected: Option<Estimate>,
    /// Of those that were detected, the time from the first labelled step to the next alarm in seconds: the median.
    pub median_delay_secs: Option<f64>,
    /// Anomalous recordings with an alarm before the first labelled step.
    pub early: usize,
}

impl Truth {
    /// That of scored recordings.
    pub(super) fn of(recordings: &[ScoredRecording]) -> Result<Truth> {
        let (mut nominal, mut anomalous, mut unknown) = (Vec::new(), Vec::new(), Vec::new());
        for recording in recordings {
            match recording.is_anomalous() {
                Some(false) => nominal.push(recording),
                Some(true) => anomalous.push(recording),
                None => unknown.push(recording),
            }
        }
        let has_alarm = |r: &&&ScoredRecording| !r.alarms.is_empty();
        let mut delays: Vec<f64> = anomalous.iter().filter_map(|r| delay(r)).collect();
        delays.sort_by(f64::total_cmp);
        let share = |k: usize, n: usize| (n > 0).then(|| clopper_pearson(k, n, Level::P95)).transpose();
        let is_early = |r: &&&ScoredRecording| {
            r.alarms.first().zip(r.labelled_secs).is_some_and(|(alarm, onset)| alarm.secs < onset)
        };
        Ok(Truth {
            unknown: unknown.len(),
            unknown_with_alarm: unknown.iter().filter(has_alarm).count(),
            false_alarms: share(nominal.iter().filter(has_alarm).count(), nominal.len())?,
            detected: share(delays.len(), anomalous.len())?,
            median_delay_secs: median(&delays),
            early: anomalous.iter().filter(is_early).count(),
        })
    }
}

/// The middle of sorted numbers; of an even number of them, the mean of the two in the middle.
fn median(sorted: &[f64]) -> Option<f64> {
    let upper = *sorted.get(sorted.len() / 2)?;
    Some(if sorted.len() % 2 == 1 { upper } else { (sorted[sorted.len() / 2 - 1] + upper) / 2.0 })
}

/// Seconds from the first labelled step to the next moment with an alarm; without a label, to the first alarm.
fn delay(recording: &ScoredRecording) -> Option<f64> {
    let onset = recording.labelled_secs.unwrap_or(0.0);
    let next = recording.alarms.iter().find(|alarm| alarm.secs >= onset);
    next.map(|alarm| alarm.secs - onset)
}

impl Display for Truth {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        let mut lines = Vec::new();
        let said = |what: &str, share: &Estimate| {
            let Estimate { value, low, high, n, .. } = share;
            format!("{what}: {value:.3} [{low:.3}, {high:.3}] of {n} recordings")
        };
        if self.unknown > 0 {
            lines.push(format!(
                "recordings without label or outcome: {}, with an alarm: {}",
                self.unknown, self.unknown_with_alarm
            ));
        }
        lines.extend(self.false_alarms.iter().map(|share| said("false alarms", share)));
        if let Some(share) = &self.detected {
            let delay =
                self.median_delay_secs.map_or(String::new(), |secs| format!(", median delay {secs:.3} s"));
            lines.push(format!(
                "{}{delay}; {} with an alarm before the label",
                said("detected", share),
                self.early
            ));
        }
        write!(out, "{}", lines.join("\n"))
    }
}

//! What alarms are worth, where labels or outcomes say what was wrong.

use crate::score::event::{Event, between, events};
use crate::score::{ScoredRecording, Whole};
use anyhow::Result;
use offnominal_core::estimate::Estimate;
use offnominal_stats::Level;
use offnominal_stats::proportion::clopper_pearson;
use serde::Serialize;
use std::fmt::{self, Display, Formatter};

/// Recordings counted by what is known of them, and events by whether they were found.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Truth {
    /// Recordings of which nothing is known.
    pub unknown: usize,
    /// Of these, those with an alarm.
    pub unknown_with_alarm: usize,
    /// The share of nominal recordings with an alarm, with its exact 95 % interval; `None` without such recordings.
    pub false_alarms: Option<Estimate>,
    /// The share of events with an alarm while they last, with its exact 95 % interval. An event is a stretch of labelled
    /// steps, of which a recording may have several, or a whole recording of which only the outcome says that it was wrong.
    pub detected: Option<Estimate>,
    /// Of the events that were detected, the time from the first labelled step to the alarm in seconds: the median.
    pub median_delay_secs: Option<f64>,
    /// The same of each kind of event, where several are told apart.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub kinds: Vec<KindFound>,
    /// Alarms that were raised before, between or after the events of anomalous recordings.
    pub outside_events: usize,
    /// How long those recordings last without their events, in hours.
    pub outside_events_hours: f64,
    /// How well bad recordings are told from good ones, where they were called so as a whole.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub whole: Option<Whole>,
}

/// Events of a kind.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct KindFound {
    /// The column of the label, or the word of the file of events.
    pub kind: String,
    /// The share with an alarm while they last, with its exact 95 % interval.
    pub detected: Estimate,
    /// The median time from the first labelled step to the alarm in seconds.
    pub median_delay_secs: Option<f64>,
}

impl KindFound {
    /// Of the events of a kind; none where there are no such events.
    fn of(recordings: &[ScoredRecording], kind: &str) -> Result<Option<KindFound>> {
        let events = events(recordings, Some(kind));
        let delays = delays(&events);
        let of = |detected| KindFound { kind: kind.into(), detected, median_delay_secs: median(&delays) };
        Ok(share(delays.len(), events.len())?.map(of))
    }
}

/// The delays of the events that were found, sorted.
fn delays(events: &[Event]) -> Vec<f64> {
    let mut delays: Vec<f64> = events.iter().filter_map(Event::delay_secs).collect();
    delays.sort_by(f64::total_cmp);
    delays
}

/// A share with its exact interval; none of nothing.
fn share(k: usize, n: usize) -> Result<Option<Estimate>> {
    Ok((n > 0).then(|| clopper_pearson(k, n, Level::P95)).transpose()?)
}

impl Truth {
    /// That of scored recordings.
    pub(super) fn of(recordings: &[ScoredRecording]) -> Result<Truth> {
        let known = |what: Option<bool>| recordings.iter().filter(move |r| r.is_anomalous() == what);
        let has_alarm = |r: &&ScoredRecording| !r.alarms.is_empty();
        let events = events(recordings, None);
        let delays = delays(&events);
        let mut names: Vec<&str> =
            recordings.iter().flat_map(|r| r.recorded.kinds.iter().map(|one| one.kind.as_str())).collect();
        names.sort_unstable();
        names.dedup();
        let of_kinds = names.into_iter().map(|kind| KindFound::of(recordings, kind));
        let kinds = of_kinds.collect::<Result<Vec<_>>>()?.into_iter().flatten().collect();
        let (outside_events, secs) =
            known(Some(true)).map(between).fold((0, 0.0), |(n, secs), (more, time)| (n + more, secs + time));
        Ok(Truth {
            unknown: known(None).count(),
            unknown_with_alarm: known(None).filter(has_alarm).count(),
            false_alarms: share(known(Some(false)).filter(has_alarm).count(), known(Some(false)).count())?,
            detected: share(delays.len(), events.len())?,
            median_delay_secs: median(&delays),
            kinds,
            outside_events,
            outside_events_hours: secs / 3600.0,
            whole: None,
        })
    }
}

/// The middle of sorted numbers; of an even number of them, the mean of the two in the middle.
fn median(sorted: &[f64]) -> Option<f64> {
    let upper = *sorted.get(sorted.len() / 2)?;
    Some(if sorted.len() % 2 == 1 { upper } else { (sorted[sorted.len() / 2 - 1] + upper) / 2.0 })
}

impl Display for Truth {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        let mut lines = Vec::new();
        let said = |what: &str, share: &Estimate, of: &str| {
            let Estimate { value, low, high, n, .. } = share;
            format!("{what}: {value:.3} [{low:.3}, {high:.3}] of {n} {of}")
        };
        if self.unknown > 0 {
            let (alarmed, n) = (self.unknown_with_alarm, self.unknown);
            let s = if n == 1 { "" } else { "s" };
            lines.push(format!("{alarmed} of {n} unlabelled recording{s} raised an alarm"));
        }
        lines.extend(self.false_alarms.iter().map(|share| said("false alarms", share, "recordings")));
        if let Some(share) = &self.detected {
            let delay =
                self.median_delay_secs.map_or(String::new(), |secs| format!(", median delay {secs:.3} s"));
            let of = self.whole.as_ref().map_or("events".into(), |whole| format!("bad {}", whole.judged));
            lines.push(format!("{}{delay}", said("detected", share, &of)));
            for KindFound { kind, detected, median_delay_secs } in &self.kinds {
                let delay =
                    median_delay_secs.map_or(String::new(), |secs| format!(", median delay {secs:.3} s"));
                lines.push(format!("  {}{delay}", said(kind, detected, "events")));
            }
        }
        lines.extend(self.whole.iter().map(Whole::to_string));
        if self.detected.is_some() && self.whole.is_none() {
            lines.push(format!(
                "alarms outside of events, in the same recordings: {} in {:.3} hours",
                self.outside_events, self.outside_events_hours
            ));
        }
        write!(out, "{}", lines.join("\n"))
    }
}

//! Events: stretches of a recording in which its label says that something was wrong.
//!
//! An event is found if an alarm is on in one of its steps; an alarm that comes later says nothing of it. A label that goes on
//! in the next part of the same log, such as the next window, is one event. An outcome says something of its own recording
//! only, so it never goes on.

use crate::score::{AlarmSpan, ScoredRecording};
use std::collections::HashMap;
use std::ops::Range;

/// An event, and when it was found, in nanoseconds of the clock of the log.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Event {
    /// The end of its first step.
    begun: i64,
    /// The first alarm while it lasted.
    alarm: Option<i64>,
}

impl Event {
    /// The time from its beginning to the first step with an alarm; `None` if there was none while it lasted.
    pub(super) fn delay_secs(&self) -> Option<f64> {
        self.alarm.map(|alarm| (alarm - self.begun).max(0) as f64 * 1e-9)
    }

    /// The event with what came of it in the next part of its log.
    fn continued(self, next: Event) -> Event {
        Event { begun: self.begun, alarm: self.alarm.or(next.alarm) }
    }
}

/// The events of all recordings; of one kind, if it is named.
pub(super) fn events(recordings: &[ScoredRecording], kind: Option<&str>) -> Vec<Event> {
    let mut all: Vec<Event> = Vec::new();
    // The recording before, if its label is on when it ends.
    let mut open: Option<&ScoredRecording> = None;
    for recording in by_log(recordings) {
        let before = open.take().filter(|before| follows(before, recording));
        for steps in stretches(recording, kind) {
            let has_labels = labels(recording, kind).is_some();
            let is_same = steps.start == 0 && before.is_some() && has_labels;
            open = (steps.end == recording.steps && has_labels).then_some(recording);
            let event = found(recording, steps);
            match all.last_mut().filter(|_| is_same) {
                Some(last) => *last = last.continued(event),
                None => all.push(event),
            }
        }
    }
    all
}

/// The recordings of each log together: those of logs whose clocks all begin at zero come one beside the other.
fn by_log(recordings: &[ScoredRecording]) -> Vec<&ScoredRecording> {
    let mut first = HashMap::new();
    let mut ordered: Vec<&ScoredRecording> = recordings.iter().collect();
    for (at, recording) in recordings.iter().enumerate() {
        first.entry(&recording.log).or_insert(at);
    }
    ordered.sort_by_key(|recording| first[&recording.log]);
    ordered
}

/// Whether a recording is the next part of the same log.
fn follows(before: &ScoredRecording, recording: &ScoredRecording) -> bool {
    before.log == recording.log && before.number + 1 == recording.number
}

/// The steps of each event; all of them where only the outcome is known, none in a nominal recording.
fn stretches(recording: &ScoredRecording, kind: Option<&str>) -> Vec<Range<usize>> {
    if recording.is_anomalous() != Some(true) {
        return Vec::new();
    }
    let Some(labels) = labels(recording, kind) else {
        return std::iter::once(0..recording.steps).filter(|_| kind.is_none()).collect();
    };
    let mut at = 0;
    let runs = labels.chunk_by(|a, b| a == b).map(|run| {
        at += run.len();
        (run[0], at - run.len()..at)
    });
    runs.filter_map(|(is_event, steps)| is_event.then_some(steps)).collect()
}

/// When the events of a recording begin and end, in seconds since its first observation.
pub(super) fn spans(recording: &ScoredRecording) -> impl Iterator<Item = (f64, f64)> {
    stretches(recording, None).into_iter().map(|steps| ends(recording, &steps))
}

/// When some steps begin and end, in seconds since the first observation.
fn ends(recording: &ScoredRecording, steps: &Range<usize>) -> (f64, f64) {
    (recording.recorded.secs[steps.start], recording.recorded.after(steps.end as u64 - 1))
}

/// The label of each step, if it is on in any; that of a kind, if it is named.
fn labels<'a>(recording: &'a ScoredRecording, kind: Option<&str>) -> Option<&'a [bool]> {
    let recorded = &recording.recorded;
    let of_kind = |kind| recorded.kinds.iter().find(|one| one.kind == kind).map(|one| one.steps.as_slice());
    let labels = kind.map_or(recorded.labels.as_deref(), of_kind);
    labels.filter(|labels| labels.contains(&true))
}

fn found(recording: &ScoredRecording, steps: Range<usize>) -> Event {
    let (begun, until) = ends(recording, &steps);
    let is_on = |alarm: &&AlarmSpan| alarm.secs <= until && alarm.until_secs > begun;
    Event {
        begun: recording.time_nanos(recording.recorded.after(steps.start as u64)),
        alarm: recording.alarms.iter().find(is_on).map(|alarm| recording.time_nanos(alarm.secs)),
    }
}

/// Alarms of a recording that were raised outside of its events, and how long it lasts without them in seconds.
pub(super) fn between(recording: &ScoredRecording) -> (usize, f64) {
    let events = stretches(recording, None);
    let is_outside = |alarm: &&AlarmSpan| !events.iter().any(|steps| steps.contains(&(alarm.step as usize)));
    let inside: f64 = spans(recording).map(|(begun, until)| until - begun).sum();
    (recording.alarms.iter().filter(is_outside).count(), (recording.length_secs - inside).max(0.0))
}

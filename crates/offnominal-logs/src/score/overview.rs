//! What is drawn on one axis: the recordings of a log that follow one another, with all that happened to them.

use crate::score::recording::ScoredRecording;
use crate::score::{event, gaps, when};
use offnominal_topics::clock::nanos;
use std::collections::BTreeMap;
use std::path::Path;

/// Recordings of one log, in the order of time; none begins before the one before it has ended.
pub(super) struct Overview<'a> {
    /// Each with its number among all recordings.
    pub parts: Vec<(usize, &'a ScoredRecording)>,
    /// The longest time between two readings that is no gap, in seconds.
    pub longest_step: f64,
    pub marks: Marks,
}

/// Stretches of time in seconds since the overview begins, in the order of time.
#[derive(Default)]
pub(super) struct Marks {
    pub alarms: Vec<(f64, f64)>,
    /// Labelled, or in a recording that failed.
    pub events: Vec<(f64, f64)>,
    /// A sensor was lost.
    pub lost: Vec<(f64, f64)>,
    /// Nothing was recorded.
    pub gaps: Vec<(f64, f64)>,
}

/// All recordings, which stand in the order in which they begin. Parts of a log whose clock begins anew stand alone.
pub(super) fn overviews(recordings: &[ScoredRecording]) -> Vec<Overview<'_>> {
    let mut all: Vec<Vec<(usize, &ScoredRecording)>> = Vec::new();
    let mut of_log: BTreeMap<&Path, usize> = BTreeMap::new();
    for (i, recording) in recordings.iter().enumerate() {
        let follows = |last: &(usize, &ScoredRecording)| end_nanos(last.1) <= recording.start_nanos;
        match of_log.get(recording.log.as_path()) {
            Some(&at) if all[at].last().is_some_and(follows) => all[at].push((i, recording)),
            _ => {
                of_log.insert(&recording.log, all.len());
                all.push(vec![(i, recording)]);
            }
        }
    }
    all.into_iter().map(Overview::of).collect()
}

fn end_nanos(recording: &ScoredRecording) -> i64 {
    recording.start_nanos + nanos(recording.length_secs)
}

impl<'a> Overview<'a> {
    fn of(parts: Vec<(usize, &'a ScoredRecording)>) -> Overview<'a> {
        let longest_step = gaps::longest_step(parts.iter().map(|part| &part.1.recorded));
        let mut overview = Overview { parts, longest_step, marks: Marks::default() };
        overview.marks = overview.marks();
        overview
    }

    /// The time of its first observation.
    pub fn start_nanos(&self) -> i64 {
        self.parts[0].1.start_nanos
    }

    pub fn length_secs(&self) -> f64 {
        when::secs(end_nanos(self.parts[self.parts.len() - 1].1) - self.start_nanos())
    }

    pub fn n_alarms(&self) -> usize {
        self.parts.iter().map(|part| part.1.alarms.len()).sum()
    }

    /// When a part begins, in seconds since the overview does.
    pub fn begins(&self, part: &ScoredRecording) -> f64 {
        when::secs(part.start_nanos - self.start_nanos())
    }

    fn marks(&self) -> Marks {
        let mut marks = Marks::default();
        let mut end = 0.0;
        for (_, part) in &self.parts {
            let begins = self.begins(part);
            let at = |(from, until): (f64, f64)| (begins + from, begins + until);
            if begins - end > self.longest_step {
                marks.gaps.push((end, begins));
            }
            end = begins + part.length_secs;
            marks.gaps.extend(gaps::gaps(&part.recorded, self.longest_step).into_iter().map(at));
            marks.events.extend(event::spans(part).map(at));
            marks.alarms.extend(part.alarms.iter().map(|alarm| at((alarm.secs, alarm.until_secs))));
            let lost =
                part.lost.iter().map(|sensor| (sensor.secs, sensor.until_secs.unwrap_or(part.length_secs)));
            marks.lost.extend(lost.map(at));
        }
        marks
    }
}

//! The page of scored recordings: what the monitor promises, a table of alarms, and a picture of each moment.

use crate::score::draw;
use crate::score::recording::{AlarmSpan, ScoredRecording};
use crate::score::{Ranked, ScoredLogs};
use anyhow::Result;
use minijinja::Value;
use offnominal_report::{number, page};
use serde::Serialize;

/// Recordings that are drawn, those with an alarm first; more would make a page that nobody reads.
const MOST_RECORDINGS: usize = 60;
/// Alarms of one recording that are drawn with their channels.
const MOST_ALARMS: usize = 5;
/// Channels that are drawn around an alarm.
const MOST_CHANNELS: usize = 4;

#[derive(Serialize)]
struct Page<'a> {
    detector: &'a str,
    promise: String,
    truth: Vec<String>,
    ranked: Vec<String>,
    alarms: Vec<Row>,
    recordings: Vec<Drawn<'a>>,
    n_recordings: usize,
    n_alarms: usize,
}

/// An alarm in the table.
#[derive(Serialize)]
struct Row {
    link: String,
    recording: String,
    secs: String,
    lasts: String,
    onset: String,
    peak: String,
    channels: String,
}

/// A recording with its pictures.
#[derive(Serialize)]
struct Drawn<'a> {
    name: &'a str,
    facts: String,
    timeline: Value,
    alarms: Vec<Moment>,
    n_more: usize,
}

/// An alarm with its channels.
#[derive(Serialize)]
struct Moment {
    link: String,
    says: String,
    channels: Vec<Value>,
}

/// The page.
///
/// # Errors
/// If the template cannot be filled, which is a mistake of ours.
pub fn page(found: &ScoredLogs) -> Result<String> {
    let mut order: Vec<(usize, &ScoredRecording)> = found.recordings.iter().enumerate().collect();
    order.sort_by_key(|(_, recording)| recording.alarms.is_empty());
    let rows = found
        .recordings
        .iter()
        .enumerate()
        .flat_map(|(i, r)| r.alarms.iter().enumerate().map(move |(k, a)| row(i, k, r, a)));
    let content = Page {
        detector: &found.detector,
        promise: promise(found),
        truth: found.truth.to_string().lines().map(String::from).collect(),
        ranked: found.ranked.iter().map(Ranked::to_string).collect(),
        alarms: rows.collect(),
        recordings: order
            .iter()
            .take(MOST_RECORDINGS)
            .map(|(i, recording)| drawn(found, *i, recording))
            .collect(),
        n_recordings: found.recordings.len(),
        n_alarms: found.recordings.iter().map(|r| r.alarms.len()).sum(),
    };
    page::render(&[("score.html", include_str!("../../templates/score.html"))], content)
}

fn promise(found: &ScoredLogs) -> String {
    let set = &found.about.threshold;
    let share = match &set.false_alarms {
        Some(share) => format!("an alarm is expected in {:.2} % of nominal recordings", 100.0 * share.value),
        None => "the rule promises nothing about false alarms".into(),
    };
    format!(
        "The threshold {} of the {} was set by the rule {} on {} nominal recordings: {share}.",
        number::plain(set.value),
        set.statistic,
        set.rule,
        set.episodes
    )
}

fn link(recording: usize, alarm: usize) -> String {
    format!("alarm-{}-{}", recording + 1, alarm + 1)
}

fn row(i: usize, k: usize, recording: &ScoredRecording, alarm: &AlarmSpan) -> Row {
    let secs = |value: f64| format!("{value:.2}");
    let names: Vec<&str> = alarm.channels.iter().take(MOST_CHANNELS).map(|c| c.name.as_str()).collect();
    Row {
        link: link(i, k),
        recording: recording.name.clone(),
        secs: secs(alarm.secs),
        lasts: secs(alarm.until_secs - alarm.secs),
        onset: alarm.onset_secs.map_or("–".into(), secs),
        peak: number::plain(alarm.peak),
        channels: names.join(", "),
    }
}

fn drawn<'a>(found: &'a ScoredLogs, i: usize, recording: &'a ScoredRecording) -> Drawn<'a> {
    let mut facts = format!("{} steps in {:.2} s", recording.steps, recording.length_secs);
    if recording.share_missing > 0.0 {
        facts += &format!(
            ", {:.1} % of the values missing, for which the last ones were taken",
            100.0 * recording.share_missing
        );
    }
    let moments = recording.alarms.iter().enumerate().take(MOST_ALARMS);
    Drawn {
        name: &recording.name,
        facts,
        timeline: Value::from_safe_string(draw::timeline(recording, found.about.threshold.value)),
        alarms: moments.map(|(k, alarm)| moment(found, link(i, k), recording, alarm)).collect(),
        n_more: recording.alarms.len().saturating_sub(MOST_ALARMS),
    }
}

fn moment(found: &ScoredLogs, link: String, recording: &ScoredRecording, alarm: &AlarmSpan) -> Moment {
    let names = &found.about.observation;
    let shown = alarm.channels.iter().take(MOST_CHANNELS);
    let draw = |name: &str| {
        let number = names.iter().position(|channel| channel.name == name)?;
        let usual = found.about.usual.get(number).copied();
        Some(Value::from_safe_string(draw::channel(recording, alarm, (number, &names[number]), usual)))
    };
    let off: Vec<String> = shown.clone().map(|c| format!("{} ({:.1} σ)", c.name, c.size)).collect();
    let off = if off.is_empty() { String::new() } else { format!(": {}", off.join(", ")) };
    Moment {
        link,
        says: format!("Alarm at {:.2} s{off}", alarm.secs),
        channels: shown.filter_map(|c| draw(&c.name)).collect(),
    }
}

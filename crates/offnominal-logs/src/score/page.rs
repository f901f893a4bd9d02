//! The page of scored recordings: what the monitor promises, a table of alarms, and a picture of each moment.

use crate::score::draw;
use crate::score::recording::{AlarmSpan, ScoredRecording};
use crate::score::{Ranked, ScoredLogs};
use anyhow::Result;
use minijinja::Value;
use offnominal_detectors::diagnosis::Family;
use offnominal_monitor::Calibrated;
use offnominal_report::{number, page};
use serde::Serialize;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// Recordings that are drawn, those with an alarm first; more would make a page that nobody reads.
const MOST_RECORDINGS: usize = 60;
/// Alarms of one recording that are drawn with their channels.
const MOST_ALARMS: usize = 5;
/// Channels that are drawn around an alarm.
const MOST_CHANNELS: usize = 4;
/// Of a channel that is so many widths of its usual range outside of it, it is said how many.
const FAR: f64 = 1.0;

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
    diagnoses: bool,
}

/// An alarm in the table.
#[derive(Serialize)]
struct Row {
    link: String,
    recording: String,
    secs: String,
    lasts: String,
    onset: String,
    fault: String,
    peak: String,
    channels: String,
    evidence: String,
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
    told: Option<String>,
    channels: Vec<Value>,
}

/// The page.
///
/// # Errors
/// If the template cannot be filled, which is a mistake of ours.
pub fn page(found: &ScoredLogs) -> Result<String> {
    let mut order: Vec<(usize, &ScoredRecording)> = found.recordings.iter().enumerate().collect();
    order.sort_by_key(|(_, recording)| recording.alarms.is_empty());
    let names = names(&found.recordings);
    let rows = found.recordings.iter().zip(&names).enumerate().flat_map(|(i, (r, name))| {
        r.alarms.iter().enumerate().map(move |(k, alarm)| row((i, name), k, alarm))
    });
    let content = Page {
        detector: &found.detector,
        promise: promise(found),
        truth: found
            .remarks
            .iter()
            .cloned()
            .chain(found.truth.to_string().lines().map(String::from))
            .collect(),
        ranked: found.ranked.iter().map(Ranked::to_string).collect(),
        alarms: rows.collect(),
        recordings: order
            .iter()
            .take(MOST_RECORDINGS)
            .map(|(i, recording)| drawn(found, (*i, &names[*i]), recording))
            .collect(),
        n_recordings: found.recordings.len(),
        diagnoses: found.about.diagnoses,
        n_alarms: found.recordings.iter().map(|r| r.alarms.len()).sum(),
    };
    page::render(&[("score.html", include_str!("../../templates/score.html"))], content)
}

fn promise(found: &ScoredLogs) -> String {
    let set = &found.about.threshold;
    format!(
        "The threshold {} of the {} was set by the rule {} on {} nominal recordings: {}.",
        number::plain(set.value),
        set.statistic,
        set.rule,
        set.episodes,
        share(set)
    )
}

/// Which promise is meant, and what is to be expected.
fn share(set: &Calibrated) -> String {
    if let Some(run_length) = set.run_length {
        return run_length.to_string();
    }
    let Some(expected) = &set.false_alarms else {
        return "the rule promises nothing about false alarms".into();
    };
    let percent = |x: f64| format!("{:.1} %", 100.0 * x);
    let [value, low, high] = [expected.value, expected.low, expected.high].map(percent);
    let promised = set.alpha.map_or(String::new(), |alpha| {
        let how = set.confidence.map_or("on average over calibration sets".into(), |confidence| {
            format!("with {} confidence in this calibration set", percent(confidence))
        });
        format!("at most {} of nominal recordings have an alarm, {how}; ", percent(alpha))
    });
    format!("{promised}it is expected in {value} of them (95 % interval: {low} to {high})")
}

fn link(recording: usize, alarm: usize) -> String {
    format!("alarm-{}-{}", recording + 1, alarm + 1)
}

fn row((i, name): (usize, &String), k: usize, alarm: &AlarmSpan) -> Row {
    let secs = |value: f64| format!("{value:.2}");
    Row {
        link: link(i, k),
        recording: name.clone(),
        secs: secs(alarm.secs),
        lasts: secs(alarm.until_secs - alarm.secs),
        onset: alarm.onset().unwrap_or("–".into()),
        fault: alarm.family.map_or("–".into(), |(family, p)| match fault(family) {
            Some(place) => format!("{place} ({:.0} %)", 100.0 * p),
            None => "unknown: nothing tells without commands".into(),
        }),
        peak: number::plain(alarm.peak),
        channels: shown(alarm).join(", "),
        evidence: alarm.evidence.clone().unwrap_or("–".into()),
    }
}

/// Where a fault lies, in the words of a machine that is watched.
fn fault(family: Family) -> Option<&'static str> {
    match family {
        Family::Observation => Some("sensors"),
        Family::Action => Some("actuators"),
        Family::Dynamics => Some("the machine itself"),
        Family::Unknown => None,
    }
}

/// The channels that are shown of an alarm: those whose prediction is off, the farthest first; without a diagnosis those of
/// the largest parts of the score. Only then come others that left their usual range, as a consequence may leave it before
/// its cause does.
fn shown(alarm: &AlarmSpan) -> Vec<&str> {
    let diagnosed = alarm.channels.iter().map(|c| c.name.as_str());
    let scored = alarm.shares.iter().filter(|_| alarm.channels.is_empty()).map(|share| share.name.as_str());
    let left = alarm.outside.iter().map(|c| c.name.as_str());
    let mut shown: Vec<&str> = Vec::new();
    for name in diagnosed.chain(scored).chain(left) {
        if shown.len() < MOST_CHANNELS && !shown.contains(&name) {
            shown.push(name);
        }
    }
    shown
}

/// Names that tell the recordings apart: as many of the last parts of their paths as that takes.
fn names(recordings: &[ScoredRecording]) -> Vec<String> {
    let tail = |path: &Path, n: usize| -> PathBuf {
        let parts: Vec<_> = path.components().collect();
        parts[parts.len().saturating_sub(n)..].iter().collect()
    };
    let logs: BTreeSet<&Path> = recordings.iter().map(|r| r.log.as_path()).collect();
    let is_enough =
        |n: &usize| logs.iter().map(|log| tail(log, *n)).collect::<BTreeSet<_>>().len() == logs.len();
    let n = (1..8).find(is_enough).unwrap_or(usize::MAX);
    let named = |r: &ScoredRecording| r.recorded.name_of(&tail(&r.log, n));
    recordings.iter().map(named).collect()
}

/// When the first step of a recording was, in the clock of its log.
fn begins(nanos: i64) -> String {
    // What counts from 1970 is shown as a date.
    const YEAR: i64 = 31_536_000_000_000_000;
    if nanos > 20 * YEAR {
        return chrono::DateTime::from_timestamp_nanos(nanos).format("%Y-%m-%d %H:%M:%S%.3f").to_string();
    }
    format!("{:.3} s", nanos as f64 * 1e-9)
}

fn drawn<'a>(
    found: &'a ScoredLogs,
    (i, name): (usize, &'a String),
    recording: &'a ScoredRecording,
) -> Drawn<'a> {
    let mut facts = format!(
        "{} steps in {:.2} s; the first at {} of the log's clock",
        recording.steps,
        recording.length_secs,
        begins(recording.start_nanos)
    );
    if recording.share_missing > 0.0 {
        facts += &format!("; {:.1} % of the values missing", 100.0 * recording.share_missing);
    }
    recording.lost.iter().for_each(|sensor| facts += &format!("; {sensor}"));
    let moments = recording.alarms.iter().enumerate().take(MOST_ALARMS);
    Drawn {
        name,
        facts,
        timeline: Value::from_safe_string(draw::timeline(recording, name, recording.threshold)),
        alarms: moments.map(|(k, alarm)| moment(found, link(i, k), recording, alarm)).collect(),
        n_more: recording.alarms.len().saturating_sub(MOST_ALARMS),
    }
}

fn moment(found: &ScoredLogs, link: String, recording: &ScoredRecording, alarm: &AlarmSpan) -> Moment {
    let channels = &found.about.observation;
    let draw = |name: &str| {
        let number = channels.iter().position(|channel| channel.name == name)?;
        let usual = found.about.usual_of(number);
        Some(Value::from_safe_string(draw::channel(recording, alarm, (number, &channels[number]), usual)))
    };
    let shown = shown(alarm);
    let said: Vec<String> = shown.iter().map(|name| says(alarm, name)).collect();
    let off = if said.is_empty() { String::new() } else { format!(": {}", said.join(", ")) };
    Moment {
        link,
        says: format!("Alarm at {:.2} s{off}", alarm.secs),
        told: alarm.told(),
        channels: shown.iter().filter_map(|name| draw(name)).collect(),
    }
}

/// How far a channel is off.
fn says(alarm: &AlarmSpan, name: &str) -> String {
    let diagnosed = alarm.channels.iter().find(|c| c.name == name);
    let part = alarm.shares.iter().find(|share| share.name == name).filter(|_| alarm.channels.is_empty());
    let all: f64 = alarm.shares.iter().map(|share| share.share).sum();
    let off = match (diagnosed, part) {
        // A size is cut off there.
        (Some(c), _) if c.size >= 1000.0 => Some("more than 1000 σ".into()),
        (Some(c), _) => Some(format!("{:.1} σ", c.size)),
        (None, Some(part)) => Some(format!("{:.0} % of the score", 100.0 * part.share / all)),
        (None, None) => None,
    };
    let outside = alarm.outside.iter().find(|c| c.name == name).map(|c| match c.widths >= FAR {
        true => format!("{:.1} widths outside of its usual range", c.widths),
        false => "outside of its usual range".into(),
    });
    format!("{name} ({})", off.into_iter().chain(outside).collect::<Vec<_>>().join(", "))
}

//! An alarm on the page: in a row of the table, and with its channels.

use crate::score::overview::Overview;
use crate::score::recording::{AlarmSpan, ScoredRecording};
use crate::score::{ScoredLogs, draw, when};
use minijinja::Value;
use offnominal_detectors::diagnosis::Family;
use offnominal_report::number;
use serde::Serialize;

/// Channels that are drawn around an alarm.
const MOST_CHANNELS: usize = 4;
/// Of a channel that is so many widths of its usual range outside of it, it is said how many.
const FAR: f64 = 1.0;

/// An alarm in words.
#[derive(Serialize)]
pub(super) struct Row {
    link: String,
    pub is_drawn: bool,
    recording: String,
    at: String,
    lasts: String,
    start: String,
    source: String,
    peak: String,
    channels: String,
    evidence: String,
}

/// An alarm with its channels.
#[derive(Serialize)]
pub(super) struct Moment {
    row: Row,
    says: String,
    channels: Vec<Value>,
}

/// Where the alarm with a number in the recording with a number is drawn.
pub(super) fn link(recording: usize, alarm: usize) -> String {
    format!("alarm-{}-{}", recording + 1, alarm + 1)
}

impl Row {
    /// The alarm with a number in the recording with a number, which has a name.
    pub fn of((i, name): (usize, &str), k: usize, (recording, alarm): (&ScoredRecording, &AlarmSpan)) -> Row {
        Row {
            link: link(i, k),
            is_drawn: true,
            recording: name.into(),
            at: at(recording, alarm.secs),
            lasts: when::lasting(alarm.until_secs - alarm.secs),
            start: start(recording, alarm).unwrap_or("–".into()),
            source: source(alarm),
            peak: format!("{} against {}", number::plain(alarm.peak), number::plain(recording.threshold)),
            channels: shown(alarm).join(", "),
            evidence: alarm.evidence.clone().unwrap_or("–".into()),
        }
    }
}

impl Moment {
    /// Where it stands.
    pub fn link(&self) -> &str {
        &self.row.link
    }

    /// That of a row.
    pub fn of(
        found: &ScoredLogs,
        overview: &Overview<'_>,
        row: Row,
        (recording, alarm): (&ScoredRecording, &AlarmSpan),
    ) -> Moment {
        let channels = &found.about.observation;
        let draw = |name: &str| {
            let number = channels.iter().position(|channel| channel.name == name)?;
            let (of, channel) = ((recording, alarm), (number, &channels[number]));
            Some(Value::from_safe_string(draw::channel(overview, of, channel, found.about.usual_of(number))))
        };
        let shown = shown(alarm);
        let said: Vec<String> = shown.iter().map(|name| says(alarm, name)).collect();
        Moment { row, says: said.join(", "), channels: shown.iter().filter_map(|name| draw(name)).collect() }
    }
}

/// A time in a recording, on the clock of its log.
fn at(recording: &ScoredRecording, secs: f64) -> String {
    when::said(recording.time_nanos(secs))
}

/// When it likely began.
fn start(recording: &ScoredRecording, alarm: &AlarmSpan) -> Option<String> {
    let earlier = if alarm.may_be_earlier { "before " } else { "" };
    alarm.onset_secs.map(|secs| format!("{earlier}{}", at(recording, secs)))
}

/// Where the fault likely lies, in the words of a machine that is watched.
fn source(alarm: &AlarmSpan) -> String {
    let Some((family, p)) = alarm.family else { return "–".into() };
    let place = match family {
        Family::Observation => "sensors",
        Family::Action => "actuators",
        Family::Dynamics => "the machine itself",
        Family::Unknown => return "unknown, as no command is mapped".into(),
    };
    format!("{place} ({:.0} %)", 100.0 * p)
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

//! The page of scored recordings: how many raised an alarm, an overview of each log with its alarms, and only then what the
//! alarms are worth and what the threshold promises.

mod alarm;

use crate::score::overview::{Overview, overviews};
use crate::score::recording::{AlarmSpan, ScoredRecording};
use crate::score::{Ranked, ScoredLogs, draw, when};
use alarm::{Moment, Row, link};
use anyhow::Result;
use minijinja::Value;
use offnominal_report::{number, page};
use offnominal_work::fitted::Alarm;
use serde::Serialize;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// Overviews that are drawn, those with an alarm first; more would make a page that nobody reads.
const MOST_OVERVIEWS: usize = 60;
/// So many overviews without an alarm are not folded.
const FEW: usize = 3;
/// Quiet parts of one overview that are listed.
const MOST_PARTS: usize = 500;
/// Alarms of one overview that are drawn with their channels.
const MOST_ALARMS: usize = 12;

#[derive(Serialize)]
struct Page<'a> {
    detector: &'a str,
    facts: Vec<(&'static str, String)>,
    lede: String,
    loud: Vec<Drawn>,
    quiet: Vec<Drawn>,
    is_folded: bool,
    n_more: usize,
    kind: &'a str,
    alarms: Vec<Row>,
    diagnoses: bool,
    truth: Vec<String>,
    ranked: Vec<String>,
    promise: Vec<String>,
    remarks: &'a [String],
    script: Value,
}

/// A log with its alarms.
#[derive(Serialize)]
struct Drawn {
    name: String,
    facts: String,
    picture: Value,
    alarms: Vec<Moment>,
    n_more: usize,
    n_quiet: usize,
    quiet: Vec<Part>,
}

/// A part of a log without an alarm.
#[derive(Serialize)]
struct Part {
    name: String,
    begins: String,
    steps: usize,
    peak: String,
    missing: String,
    lost: String,
}

/// The page.
///
/// # Errors
/// If the template cannot be filled, which is a mistake of ours.
pub fn page(found: &ScoredLogs) -> Result<String> {
    let names = names(&found.recordings);
    let (loud, quiet): (Vec<_>, Vec<_>) =
        overviews(&found.recordings).into_iter().partition(|overview| overview.n_alarms() > 0);
    let n_more = (loud.len() + quiet.len()).saturating_sub(MOST_OVERVIEWS);
    let drawn = |all: &[Overview<'_>], n: usize| -> Vec<Drawn> {
        all.iter().take(n).map(|overview| Drawn::of(found, overview, &names)).collect()
    };
    let (loud_drawn, quiet_drawn) =
        (drawn(&loud, MOST_OVERVIEWS), drawn(&quiet, MOST_OVERVIEWS.saturating_sub(loud.len())));
    let content = Page {
        detector: &found.detector,
        facts: facts(found),
        lede: lede(found),
        alarms: rows(found, &names, &loud_drawn),
        loud: loud_drawn,
        quiet: quiet_drawn,
        is_folded: quiet.len() > FEW,
        n_more,
        kind: found.kind,
        diagnoses: found.about.diagnoses,
        truth: found.truth.to_string().lines().map(String::from).collect(),
        ranked: found.ranked.iter().map(Ranked::to_string).collect(),
        promise: Alarm(&found.about).to_string().lines().map(String::from).collect(),
        remarks: &found.remarks,
        script: Value::from_safe_string(include_str!("../../templates/zoom.js").into()),
    };
    page::render(&[("score.html", include_str!("../../templates/score.html"))], content)
}

/// The alarms of recordings with a number, each with its own number.
fn numbered<'a>(
    recordings: &[(usize, &'a ScoredRecording)],
) -> impl Iterator<Item = (usize, usize, (&'a ScoredRecording, &'a AlarmSpan))> {
    recordings
        .iter()
        .flat_map(|&(i, part)| part.alarms.iter().enumerate().map(move |(k, alarm)| (i, k, (part, alarm))))
}

/// All alarms; those that are drawn lead there.
fn rows(found: &ScoredLogs, names: &[String], drawn: &[Drawn]) -> Vec<Row> {
    let links: BTreeSet<&str> = drawn.iter().flat_map(|log| log.alarms.iter().map(Moment::link)).collect();
    let all: Vec<(usize, &ScoredRecording)> = found.recordings.iter().enumerate().collect();
    let row = |(i, k, of)| {
        let mut row = Row::of((i, &names[i]), k, of);
        row.is_drawn = links.contains(link(i, k).as_str());
        row
    };
    numbered(&all).map(row).collect()
}

/// What the page is of.
fn facts(found: &ScoredLogs) -> Vec<(&'static str, String)> {
    let (set, logs) =
        (&found.about.threshold, found.recordings.iter().map(|r| &r.log).collect::<BTreeSet<_>>());
    let steps: usize = found.recordings.iter().map(|r| r.steps).sum();
    vec![
        ("Detector", found.detector.clone()),
        ("Threshold", format!("{} by the rule {}", number::plain(set.value), set.rule)),
        ("Logs", logs.len().to_string()),
        ("Recordings", found.recordings.len().to_string()),
        ("Steps", steps.to_string()),
    ]
}

/// The decision in a sentence.
fn lede(found: &ScoredLogs) -> String {
    let n: usize = found.recordings.iter().map(|r| r.alarms.len()).sum();
    let loud = found.recordings.iter().filter(|r| !r.alarms.is_empty()).count();
    let of = format!("{} {}", found.recordings.len(), found.kinds(found.recordings.len()));
    match n {
        0 => format!("No alarm in {of}."),
        1 => format!("1 alarm in {of}."),
        _ => format!("{n} alarms, in {loud} of {of}."),
    }
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

impl Drawn {
    fn of(found: &ScoredLogs, overview: &Overview<'_>, names: &[String]) -> Drawn {
        let (first, last) = (&overview.parts[0], &overview.parts[overview.parts.len() - 1]);
        let is_alone = overview.parts.len() == 1;
        let name = match is_alone {
            true => names[first.0].clone(),
            false => format!("{} to {}", names[first.0].replace(", part ", ", parts "), last.1.number),
        };
        let quiet: Vec<_> =
            overview.parts.iter().filter(|part| !is_alone && part.1.alarms.is_empty()).collect();
        Drawn {
            facts: described(overview),
            picture: Value::from_safe_string(draw::overview(overview, &name)),
            name,
            alarms: numbered(&overview.parts)
                .take(MOST_ALARMS)
                .map(|(i, k, of)| Moment::of(found, overview, Row::of((i, &names[i]), k, of), of))
                .collect(),
            n_more: overview.n_alarms().saturating_sub(MOST_ALARMS),
            n_quiet: quiet.len(),
            quiet: quiet.iter().take(MOST_PARTS).map(|(i, part)| Part::of(&names[*i], part)).collect(),
        }
    }
}

/// What an overview is of.
fn described(overview: &Overview<'_>) -> String {
    let parts = || overview.parts.iter().map(|part| part.1);
    let steps: usize = parts().map(|part| part.steps).sum();
    let missing: f64 = parts().map(|part| part.share_missing * part.steps as f64).sum();
    let start = overview.start_nanos();
    let end = start + offnominal_topics::clock::nanos(overview.length_secs());
    let mut facts = format!("{steps} steps from {} to {}", when::said(start), when::said(end));
    if missing > 0.0 {
        facts += &format!("; {:.1} % of the values missing", 100.0 * missing / steps as f64);
    }
    parts().flat_map(ScoredRecording::lost_sensors).for_each(|sensor| facts += &format!("; {sensor}"));
    facts
}

impl Part {
    fn of(name: &str, part: &ScoredRecording) -> Part {
        let peak = part.verdicts.iter().map(|v| v.statistic).fold(f64::NEG_INFINITY, f64::max);
        let lost: Vec<String> = part.lost_sensors().collect();
        Part {
            name: name.into(),
            begins: when::said(part.start_nanos),
            steps: part.steps,
            peak: format!("{} against {}", number::plain(peak), number::plain(part.threshold)),
            missing: format!("{:.1} %", 100.0 * part.share_missing),
            lost: if lost.is_empty() { "–".into() } else { lost.join(", ") },
        }
    }
}

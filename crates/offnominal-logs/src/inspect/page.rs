//! The page of an inspection: a table of channels for each topic, each with its picture.

use crate::inspect::Inspected;
use crate::inspect::against::{ChannelDrift, Compared, LEGEND, picture};
use crate::inspect::column::ColumnReport;
use crate::inspect::guess::Proposal;
use crate::inspect::survey::{LogReport, TopicReport};
use crate::recordings;
use anyhow::Result;
use minijinja::Value;
use offnominal_report::{number, page};
use serde::Serialize;
use std::collections::BTreeSet;

/// Channels that are drawn of one topic; more would make a page that nobody reads.
const MOST_ROWS: usize = 400;

/// What the template needs.
#[derive(Serialize)]
struct Page<'a> {
    facts: [(&'static str, String); 3],
    logs: Vec<Log>,
    mapping: &'a str,
    not_in_all: &'a [(String, usize)],
    n_logs: usize,
    against: Option<Against<'a>>,
}

/// How the logs differ from a reference.
#[derive(Serialize)]
struct Against<'a> {
    decision: String,
    legend: &'static str,
    channels: Vec<Drawn<'a>>,
    remarks: &'a [String],
    not_compared: &'a [(String, String)],
}

#[derive(Serialize)]
struct Drawn<'a> {
    name: &'a str,
    unit: &'a str,
    cells: [String; 5],
    differs: bool,
    picture: Value,
}

#[derive(Serialize)]
struct Log {
    path: String,
    topics: Vec<Topic>,
    left_out: Vec<String>,
}

#[derive(Serialize)]
struct Topic {
    name: String,
    kind: String,
    facts: String,
    rows: Vec<Row>,
    n_more: usize,
}

#[derive(Serialize)]
struct Row {
    name: String,
    unit: String,
    kind: serde_json::Value,
    role: &'static str,
    why: String,
    is_guess: bool,
    missing: String,
    range: String,
    picture: Value,
}

/// The page.
///
/// # Errors
/// If the template cannot be filled, which is a mistake of ours.
pub fn page(found: &Inspected, proposal: &Proposal) -> Result<String> {
    let logs = found.logs.iter().map(|log| of_log(log, proposal)).collect();
    let content = Page {
        facts: facts(found),
        logs,
        mapping: &found.mapping,
        not_in_all: &found.not_in_all,
        n_logs: found.logs.len(),
        against: found.against.as_ref().map(of_reference),
    };
    page::render(&[("inspect.html", include_str!("../../templates/inspect.html"))], content)
}

fn of_reference(found: &Compared) -> Against<'_> {
    Against {
        decision: found.decision(),
        legend: LEGEND,
        channels: found.channels.iter().map(drawn).collect(),
        remarks: &found.remarks,
        not_compared: &found.not_compared,
    }
}

fn drawn(channel: &ChannelDrift) -> Drawn<'_> {
    Drawn {
        name: &channel.name,
        unit: channel.unit.as_deref().unwrap_or_default(),
        cells: channel.cells(),
        differs: channel.differs(),
        picture: Value::from_safe_string(picture(channel, (240.0, 48.0))),
    }
}

/// What the page is of.
fn facts(found: &Inspected) -> [(&'static str, String); 3] {
    let formats: BTreeSet<String> =
        found.logs.iter().filter_map(|log| Some(serde_json::json!(log.format).as_str()?.into())).collect();
    let rows: u64 = found.logs.iter().flat_map(|log| &log.topics).map(|topic| topic.rows).sum();
    let formats = formats.into_iter().collect::<Vec<_>>().join(", ");
    [("Logs", found.logs.len().to_string()), ("Format", formats), ("Rows", rows.to_string())]
}

fn of_log(log: &LogReport, proposal: &Proposal) -> Log {
    Log {
        path: log.path.display().to_string(),
        topics: log.topics.iter().map(|topic| of_topic(topic, proposal)).collect(),
        left_out: log.left_out.clone(),
    }
}

fn of_topic(topic: &TopicReport, proposal: &Proposal) -> Topic {
    let mut facts = format!("{} rows", topic.rows);
    let of_clock = topic.of_clock(proposal);
    if let Some(rate) = topic.rate().or(of_clock.map(|clock| 1.0 / clock.0)) {
        facts += &format!(", {}", recordings::rate(1.0 / rate));
    }
    if let Some(gap) = topic.longest_gap().or(of_clock.map(|clock| clock.1)) {
        facts += &format!(", longest time without a row {} s", number::plain(gap));
    }
    if topic.jumps_back > 0 {
        facts += &format!(", {} time stamps before the one before them", topic.jumps_back);
    }
    Topic {
        name: topic.name.clone(),
        kind: topic.kind.clone(),
        facts,
        rows: topic.columns.iter().take(MOST_ROWS).map(|column| of_column(topic, column, proposal)).collect(),
        n_more: topic.columns.len().saturating_sub(MOST_ROWS),
    }
}

fn of_column(topic: &TopicReport, column: &ColumnReport, proposal: &Proposal) -> Row {
    let name = topic.full_name(column);
    let range = match (column.low, column.high) {
        (Some(low), Some(high)) => format!("{} to {}", number::plain(low), number::plain(high)),
        _ => column.words.iter().take(4).cloned().collect::<Vec<_>>().join(", "),
    };
    let missing =
        if column.missing > 0.0 { format!("{:.1} %", 100.0 * column.missing) } else { String::new() };
    let why = proposal.why.get(&name).cloned().unwrap_or_default();
    Row {
        role: proposal.role_of(&name),
        is_guess: why.starts_with("guess"),
        why,
        picture: Value::from_safe_string(column.picture.svg((240.0, 32.0), &column.name)),
        name: column.name.clone(),
        unit: column.unit.clone().unwrap_or_default(),
        kind: serde_json::json!(column.kind),
        missing,
        range,
    }
}

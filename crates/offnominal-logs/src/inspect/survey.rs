//! One pass over logs: what each topic and each column holds.

use crate::formats::Format;
use crate::inspect::column::{ColumnReport, ColumnSummary};
use crate::inspect::steps::Steps;
use crate::record::{Column, Sink, Topic, Value};
use crate::source::Source;
use anyhow::Result;
use serde::Serialize;
use std::path::PathBuf;

/// What a log holds.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct LogReport {
    /// The file or folder.
    pub path: PathBuf,
    /// Its format.
    pub format: Format,
    /// Its topics.
    pub topics: Vec<TopicReport>,
    /// What its reader left out.
    pub left_out: Vec<String>,
    /// What its reader took for granted.
    pub assumed: Vec<String>,
}

/// What a topic holds.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct TopicReport {
    /// Its name; empty for a table that is a file of its own.
    pub name: String,
    /// The type of its messages.
    pub kind: String,
    /// Number of rows.
    pub rows: u64,
    /// If its rows have time stamps: the steps between them, in seconds.
    pub times: Option<Steps>,
    /// Time stamps that are before the one before them.
    pub jumps_back: u64,
    /// Its columns.
    pub columns: Vec<ColumnReport>,
}

impl TopicReport {
    /// `topic:column`, or the column alone in a log that is one table.
    pub fn full_name(&self, column: &ColumnReport) -> String {
        if self.name.is_empty() { column.name.clone() } else { format!("{}:{}", self.name, column.name) }
    }
}

/// Reads a log and says what it holds.
///
/// # Errors
/// If it cannot be read.
pub fn survey(log: &(impl Source + ?Sized)) -> Result<LogReport> {
    let mut survey = Survey::default();
    let format = log.read(&mut survey)?;
    let topics = survey.topics.into_iter().map(TopicSummary::report).collect();
    Ok(LogReport {
        path: log.name().into(),
        format,
        topics,
        left_out: survey.left_out,
        assumed: survey.assumed,
    })
}

#[derive(Default)]
struct Survey {
    topics: Vec<TopicSummary>,
    left_out: Vec<String>,
    assumed: Vec<String>,
}

struct TopicSummary {
    topic: Topic,
    rows: u64,
    origin: Option<i64>,
    last: f64,
    times: Steps,
    jumps_back: u64,
    columns: Vec<ColumnSummary>,
}

impl Sink for Survey {
    fn topic(&mut self, _: usize, topic: &Topic) -> Result<bool> {
        self.topics.push(TopicSummary {
            topic: topic.clone(),
            rows: 0,
            origin: None,
            last: f64::NEG_INFINITY,
            times: Steps::default(),
            jumps_back: 0,
            columns: Vec::new(),
        });
        Ok(true)
    }

    fn column(&mut self, topic: usize, _: usize, column: &Column) -> Result<()> {
        let seen = &mut self.topics[topic];
        seen.columns.push(ColumnSummary::new(column, seen.rows));
        Ok(())
    }

    fn row(&mut self, topic: usize, time: Option<i64>, row: &[Value<'_>]) -> Result<()> {
        let seen = &mut self.topics[topic];
        seen.rows += 1;
        if let Some(time) = time {
            seen.time(time);
        }
        seen.columns.iter_mut().zip(row).for_each(|(column, &value)| column.add(value));
        Ok(())
    }

    fn left_out(&mut self, topic: Option<usize>, what: &str) {
        let what = self.with_topic(topic, what);
        keep(&mut self.left_out, what);
    }

    fn assumed(&mut self, topic: Option<usize>, what: &str) {
        let what = self.with_topic(topic, what);
        keep(&mut self.assumed, what);
    }
}

/// Keeps a remark, unless there are very many.
fn keep(list: &mut Vec<String>, what: String) {
    const MOST: usize = 1000;
    if list.len() < MOST {
        list.push(what);
    }
}

impl Survey {
    fn with_topic(&self, topic: Option<usize>, what: &str) -> String {
        let name = topic.map_or("", |t| &self.topics[t].topic.name);
        if name.is_empty() { what.into() } else { format!("{name}: {what}") }
    }
}

impl TopicSummary {
    fn time(&mut self, time: i64) {
        // Differences are taken of whole numbers: in nanoseconds since 1970 a floating-point number is too coarse.
        let origin = *self.origin.get_or_insert(time);
        let secs = time.wrapping_sub(origin) as f64 * 1e-9;
        // Messages are written in the order in which they came: one that is late makes no step.
        if secs < self.last {
            self.jumps_back += 1;
        } else {
            self.times.add(secs);
            self.last = secs;
        }
    }

    fn report(self) -> TopicReport {
        TopicReport {
            name: self.topic.name,
            kind: self.topic.kind,
            rows: self.rows,
            times: self.origin.map(|_| self.times),
            jumps_back: self.jumps_back,
            columns: self.columns.into_iter().map(ColumnSummary::report).collect(),
        }
    }
}

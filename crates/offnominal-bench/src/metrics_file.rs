//! Scores from anywhere, as CSV with the columns `episode`, `step`, `score`, `label`, and the metrics of them.
//!
//! Columns come in any order and others are ignored; rows too come in any order. An episode is named by any text, a
//! step is a whole number, a score a finite number, a label 0 or 1 (or 0.0, 1.0, False, True, false, true, as other
//! programs write them). What is wrong is named with file, line and column.
//!
//! ```
//! let csv = b"episode,step,score,label\na,0,0.1,0\na,1,0.9,1\n";
//! let episodes = offnominal_bench::metrics_file::read("scores.csv", csv)?;
//! assert_eq!((episodes[0].scores.len(), episodes[0].onset), (2, Some(1)));
//! # Ok::<(), anyhow::Error>(())
//! ```

use anyhow::{Context as _, Result, anyhow, bail, ensure};
use clap::Args;
use offnominal_core::Seed;
use offnominal_core::estimate::Estimate;
use offnominal_core::limits::REPLICATES;
use offnominal_engine::context::Context;
use offnominal_engine::request::within;
use offnominal_stats::{Bootstrap, Level, Mode, ScoredEpisode, StatsError, delays, detection};
use serde::{Serialize, Serializer};
use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::fmt::{self, Display, Formatter};
use std::path::PathBuf;

/// What to judge; the seed of the intervals is that of the context.
#[derive(Debug, Clone, PartialEq, Args)]
pub struct Request {
    /// CSV file with episode, step, score, label; `-` is standard input
    pub file: PathBuf,
    /// Alarm threshold; adds delay, missed, early and false alarms
    #[arg(long, allow_negative_numbers = true, value_name = "SCORE")]
    pub threshold: Option<f64>,
    /// Bootstrap replicates per interval
    #[arg(long, default_value_t = 1000, value_name = "N", value_parser = clap::value_parser!(u32).range(100..=100_000))]
    pub replicates: u32,
    /// Confidence level of the intervals
    #[arg(long, default_value_t = 0.95, value_name = "P", allow_negative_numbers = true)]
    pub level: f64,
}

/// The metrics of a file.
#[derive(Debug, Clone, PartialEq)]
pub struct Judged {
    /// The metrics.
    pub rows: Rows,
    /// Episodes in the file.
    pub episodes: usize,
    /// Confidence level of the intervals.
    pub level: f64,
}

/// Reads the scores and judges them.
///
/// # Errors
/// If the file cannot be read or something in it is wrong.
pub fn run(request: &Request, context: &Context) -> Result<Judged> {
    within("replicates", request.replicates as usize, 1..=REPLICATES)?;
    let name = request.file.display().to_string();
    request.judge(&name, &offnominal_files::read::bytes(&request.file)?, context)
}

impl Request {
    /// Judges the content of a file; `file` is its name in messages.
    ///
    /// # Errors
    /// If something in it is wrong.
    pub fn judge(&self, file: &str, bytes: &[u8], context: &Context) -> Result<Judged> {
        let plan = Bootstrap::new(self.replicates as usize, Level::try_from(self.level)?, Seed(context.seed));
        let read = if self.threshold.is_some() { read_without_gaps } else { read };
        let episodes = read(file, bytes)?;
        let rows = judge(file, &episodes, self.threshold, &plan)?;
        Ok(Judged { rows, episodes: episodes.len(), level: self.level })
    }
}

/// An object metric → estimate; null where these scores do not define it.
impl Serialize for Judged {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.rows.iter().map(|(id, found)| (id, found.as_ref().ok())))
    }
}

impl Display for Judged {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        write!(out, "{} episodes, {} % intervals", self.episodes, 100.0 * self.level)?;
        let width = self.rows.iter().map(|(id, _)| id.len()).max().unwrap_or(0);
        self.rows.iter().try_for_each(|(id, found)| match found {
            Ok(found) => write!(out, "\n  {id:<width$} {found:.4}  ({}, n = {})", found.method, found.n),
            Err(why) => write!(out, "\n  {id:<width$} no value: {why}"),
        })?;
        if self.rows.iter().any(|(id, _)| *id == "event_detection_rate") {
            write!(
                out,
                "\nsome episodes have several labelled events, or one that ends: the other delays count from the first, and \
                 take any alarm after it for its detection; event_… counts each event, found by an alarm while it lasts, and \
                 each nominal stretch with a false alarm"
            )?;
        }
        Ok(())
    }
}

/// The columns that are read.
pub const COLUMNS: [&str; 4] = ["episode", "step", "score", "label"];

/// Name in results and estimate of each metric, or why there is none.
pub type Rows = Vec<(&'static str, Result<Estimate, StatsError>)>;

/// One row, with the line it stands in.
#[derive(Debug, Clone, Copy)]
struct Row {
    step: u64,
    line: u64,
    score: f64,
    label: bool,
}

/// Reads scored episodes, in order of first appearance.
///
/// # Errors
/// Whatever is wrong, by file, line and column; `file` is the name used in messages.
pub fn read(file: &str, bytes: &[u8]) -> Result<Vec<ScoredEpisode>> {
    Ok(rows(file, bytes)?.into_iter().map(|(_, rows)| scored(&rows)).collect())
}

/// As [`read`], for delays: refuses episodes with missing steps.
///
/// # Errors
/// As [`read`], and if steps are not consecutive.
pub fn read_without_gaps(file: &str, bytes: &[u8]) -> Result<Vec<ScoredEpisode>> {
    let episodes = rows(file, bytes)?;
    for (episode, rows) in &episodes {
        if let Some([before, after]) = neighbours(rows).find(|[a, b]| b.step - a.step > 1) {
            bail!(
                "{file}, line {}: expected step {} of episode {episode:?} (delays count steps), found step {}",
                after.line,
                before.step + 1,
                after.step
            );
        }
    }
    Ok(episodes.into_iter().map(|(_, rows)| scored(&rows)).collect())
}

/// The metrics of scored episodes: local and pooled ranking, and delays if there is a threshold. A metric that these
/// episodes do not define comes with the reason.
///
/// # Errors
/// If there are not steps of both classes.
pub fn judge(
    file: &str,
    episodes: &[ScoredEpisode],
    threshold: Option<f64>,
    plan: &Bootstrap,
) -> Result<Rows> {
    let because = |why: StatsError| anyhow!("{file}: {why}");
    let pooled = detection(episodes, Mode::Global, plan).map_err(because)?;
    let mut rows: Vec<_> = match detection(episodes, Mode::Local, plan) {
        Ok(local) => local.rows().map(|(id, found)| (id, Ok(found.clone()))).to_vec(),
        Err(why) => Mode::Local.metric_ids().map(|id| (id, Err(why.clone()))).to_vec(),
    };
    rows.extend(pooled.rows().map(|(id, found)| (id, Ok(found.clone()))));
    if let Some(threshold) = threshold {
        rows.extend(delays(episodes, threshold, plan).map_err(because)?.rows());
        if episodes.iter().any(ScoredEpisode::has_passing_events) {
            rows.extend(by_event(episodes, threshold, plan).map_err(because)?);
        }
    }
    Ok(rows)
}

/// Delays of events in place of episodes: of each stretch of anomalous steps, with the nominal stretches around them.
fn by_event(episodes: &[ScoredEpisode], threshold: f64, plan: &Bootstrap) -> Result<Rows, StatsError> {
    let stretches: Vec<ScoredEpisode> = episodes.iter().flat_map(ScoredEpisode::stretches).collect();
    let event_id = |id| match id {
        "delay_median" => Some("event_delay_median"),
        "detection_rate" => Some("event_detection_rate"),
        "false_alarm_rate" => Some("event_false_alarm_rate"),
        _ => None,
    };
    let rows = delays(&stretches, threshold, plan)?.rows();
    Ok(rows.into_iter().filter_map(|(id, found)| Some((event_id(id)?, found))).collect())
}

fn scored(rows: &[Row]) -> ScoredEpisode {
    ScoredEpisode {
        scores: rows.iter().map(|r| r.score).collect(),
        labels: rows.iter().map(|r| r.label).collect(),
        onset: rows.iter().position(|r| r.label).map(|t| t as u32),
        twin: None,
        fails: false,
    }
}

/// The rows of each episode, by step.
fn rows(file: &str, bytes: &[u8]) -> Result<Vec<(String, Vec<Row>)>> {
    let mut reader = csv::ReaderBuilder::new().trim(csv::Trim::All).from_reader(bytes);
    let not_csv = |e: csv::Error| complaint(file, &e);
    let columns = columns(file, reader.byte_headers().map_err(not_csv)?)?;
    let (mut episodes, mut index): (Vec<(String, Vec<Row>)>, _) = (Vec::new(), HashMap::new());
    let mut record = csv::ByteRecord::new();
    while reader.read_byte_record(&mut record).map_err(not_csv)? {
        let fields = Fields { file, record: &record, columns };
        let at = match index.entry(fields.episode()?) {
            Entry::Occupied(known) => *known.get(),
            Entry::Vacant(new) => {
                episodes.push((new.key().clone(), Vec::new()));
                *new.insert(episodes.len() - 1)
            }
        };
        episodes[at].1.push(fields.row()?);
    }
    ensure!(!episodes.is_empty(), "{file}: expected a header and rows, found a header alone");
    episodes.iter_mut().try_for_each(|(episode, rows)| sort(file, episode, rows))?;
    Ok(episodes)
}

fn complaint(file: &str, error: &csv::Error) -> anyhow::Error {
    let line = error.position().map_or(0, csv::Position::line);
    match *error.kind() {
        csv::ErrorKind::UnequalLengths { expected_len, len, .. } => {
            anyhow!("{file}, line {line}: expected {expected_len} fields as in line 1, found {len}")
        }
        _ => anyhow!("{file}: {error}"),
    }
}

fn sort(file: &str, episode: &str, rows: &mut [Row]) -> Result<()> {
    rows.sort_by_key(|r| r.step);
    if let Some([first, again]) = neighbours(rows).find(|[a, b]| a.step == b.step) {
        bail!(
            "{file}, line {}: expected each step once, found step {} of episode {episode:?} again (first in line {})",
            again.line,
            again.step,
            first.line
        );
    }
    Ok(())
}

fn neighbours(rows: &[Row]) -> impl Iterator<Item = [Row; 2]> {
    rows.iter().zip(rows.iter().skip(1)).map(|(&a, &b)| [a, b])
}

/// Where each column stands.
fn columns(file: &str, header: &csv::ByteRecord) -> Result<[usize; 4]> {
    ensure!(!header.is_empty(), "{file}: expected a header and rows, found nothing");
    let mut found = [0; 4];
    for (at, &column) in found.iter_mut().zip(&COLUMNS) {
        let mut places =
            header.iter().enumerate().filter(|(_, name)| *name == column.as_bytes()).map(|(i, _)| i);
        *at = places.next().with_context(|| {
            let names: Vec<_> = header.iter().map(String::from_utf8_lossy).collect();
            let found = excerpt(&names.join(", "));
            format!(
                "{file}, line 1: expected the columns {}, found {found}; {column} is missing",
                COLUMNS.join(", ")
            )
        })?;
        let twice = places.next().is_some();
        ensure!(!twice, "{file}, line 1: expected the column {column} once, found it twice");
    }
    Ok(found)
}

/// At most eighty characters, for messages.
fn excerpt(text: &str) -> String {
    let mut short: String = text.chars().take(80).collect();
    if short.len() < text.len() {
        short.push('…');
    }
    short
}

/// The four fields of one record.
struct Fields<'a> {
    file: &'a str,
    record: &'a csv::ByteRecord,
    columns: [usize; 4],
}

impl Fields<'_> {
    fn episode(&self) -> Result<String> {
        self.field(0, "a name", |text| (!text.is_empty()).then(|| text.to_string()))
    }

    fn row(&self) -> Result<Row> {
        let label = |text: &str| match text {
            "0" | "0.0" | "False" | "false" => Some(false),
            "1" | "1.0" | "True" | "true" => Some(true),
            _ => None,
        };
        Ok(Row {
            line: self.line(),
            step: self.field(1, "a whole number", |text| text.parse().ok())?,
            score: self.field(2, "a finite number", |t| t.parse().ok().filter(|s: &f64| s.is_finite()))?,
            label: self.field(3, "0 or 1, or False or True", label)?,
        })
    }

    fn line(&self) -> u64 {
        self.record.position().map_or(0, csv::Position::line)
    }

    fn field<T>(
        &self,
        column: usize,
        expected: &'static str,
        parse: impl Fn(&str) -> Option<T>,
    ) -> Result<T> {
        let bytes = self.record.get(self.columns[column]).unwrap_or_default();
        let value = std::str::from_utf8(bytes).ok().and_then(parse);
        value.with_context(|| {
            let (line, column) = (self.line(), COLUMNS[column]);
            let found = excerpt(&String::from_utf8_lossy(bytes));
            format!("{}, line {line}, column {column}: expected {expected}, found {found:?}", self.file)
        })
    }
}

#[cfg(test)]
mod tests;

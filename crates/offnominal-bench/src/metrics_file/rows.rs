//! The rows of a file of scores, by episode, and the pairs of episodes and their nominal twins.

use super::COLUMNS;
use anyhow::{Context as _, Result, anyhow, bail, ensure};
use offnominal_stats::ScoredEpisode;
use std::collections::HashMap;
use std::collections::hash_map::Entry;

/// The column that names twins, which a file may lack.
const TWIN: &str = "twin";

/// An episode as it stands in a file.
pub(super) struct Episode {
    pub name: String,
    /// The name of its twin, and the line where that stands first.
    twin: Option<(String, u64)>,
    /// Its rows, by step.
    pub rows: Vec<Row>,
}

/// One row, with the line it stands in.
#[derive(Debug, Clone, Copy)]
pub(super) struct Row {
    pub step: u64,
    pub line: u64,
    score: f64,
    label: bool,
}

/// The episodes, each that is the twin of another one as a part of that.
///
/// # Errors
/// If a twin is not in the file, is anomalous, has a twin itself, or is that of several episodes.
pub(super) fn paired(file: &str, episodes: Vec<Episode>) -> Result<Vec<ScoredEpisode>> {
    let by_name: HashMap<&str, &Episode> = episodes.iter().map(|e| (e.name.as_str(), e)).collect();
    let mut pairs: HashMap<&str, &str> = HashMap::new();
    for Episode { name, twin, .. } in &episodes {
        let Some((twin, line)) = twin else { continue };
        let wrong = |why: String| anyhow!("{file}, line {line}: twin {twin:?} of episode {name:?}: {why}");
        let found =
            by_name.get(twin.as_str()).ok_or_else(|| wrong("expected an episode of the file".into()))?;
        ensure!(found.twin.is_none(), wrong("expected a nominal episode, found one that has a twin".into()));
        if let Some(row) = found.rows.iter().find(|row| row.label) {
            bail!(wrong(format!("expected a nominal episode, found an anomalous step in line {}", row.line)));
        }
        if let Some(other) = pairs.insert(twin, name) {
            bail!(wrong(format!(
                "expected a twin of its own, found that of {other:?}: its false alarms would count twice. Judge each \
                 anomaly in a file of its own"
            )));
        }
    }
    let is_own = |episode: &&Episode| !pairs.contains_key(episode.name.as_str());
    let scores = |episode: &Episode| episode.rows.iter().map(|row| row.score).collect();
    let scored = |episode: &Episode| ScoredEpisode {
        scores: scores(episode),
        labels: episode.rows.iter().map(|row| row.label).collect(),
        onset: episode.rows.iter().position(|row| row.label).map(|t| t as u32),
        twin: episode.twin.as_ref().map(|(twin, _)| scores(by_name[twin.as_str()])),
        fails: false,
    };
    Ok(episodes.iter().filter(is_own).map(scored).collect())
}

/// The rows of each episode, by step.
pub(super) fn rows(file: &str, bytes: &[u8]) -> Result<Vec<Episode>> {
    let mut reader = csv::ReaderBuilder::new().trim(csv::Trim::All).from_reader(bytes);
    let not_csv = |e: csv::Error| complaint(file, &e);
    let columns = columns(file, reader.byte_headers().map_err(not_csv)?)?;
    let (mut episodes, mut index): (Vec<Episode>, _) = (Vec::new(), HashMap::new());
    let mut record = csv::ByteRecord::new();
    while reader.read_byte_record(&mut record).map_err(not_csv)? {
        let fields = Fields { file, record: &record, columns };
        let at = match index.entry(fields.episode()?) {
            Entry::Occupied(known) => *known.get(),
            Entry::Vacant(new) => {
                let twin = fields.twin()?.map(|twin| (twin, fields.line()));
                episodes.push(Episode { name: new.key().clone(), twin, rows: Vec::new() });
                *new.insert(episodes.len() - 1)
            }
        };
        fields.require_twin(&episodes[at])?;
        episodes[at].rows.push(fields.row()?);
    }
    ensure!(!episodes.is_empty(), "{file}: expected a header and rows, found a header alone");
    episodes.iter_mut().try_for_each(|Episode { name, rows, .. }| sort(file, name, rows))?;
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

pub(super) fn neighbours(rows: &[Row]) -> impl Iterator<Item = [Row; 2]> {
    rows.iter().zip(rows.iter().skip(1)).map(|(&a, &b)| [a, b])
}

/// Where each column stands.
#[derive(Debug, Clone, Copy)]
struct Places {
    needed: [usize; 4],
    twin: Option<usize>,
}

fn columns(file: &str, header: &csv::ByteRecord) -> Result<Places> {
    ensure!(!header.is_empty(), "{file}: expected a header and rows, found nothing");
    let place = |column: &str| -> Result<Option<usize>> {
        let is_it = |(_, name): &(usize, &[u8])| *name == column.as_bytes();
        let mut places = header.iter().enumerate().filter(is_it).map(|(i, _)| i);
        let first = places.next();
        ensure!(places.next().is_none(), "{file}, line 1: expected the column {column} once, found it twice");
        Ok(first)
    };
    let mut needed = [0; 4];
    for (at, &column) in needed.iter_mut().zip(&COLUMNS) {
        *at = place(column)?.with_context(|| {
            let names: Vec<_> = header.iter().map(String::from_utf8_lossy).collect();
            let found = excerpt(&names.join(", "));
            format!(
                "{file}, line 1: expected the columns {}, found {found}; {column} is missing",
                COLUMNS.join(", ")
            )
        })?;
    }
    Ok(Places { needed, twin: place(TWIN)? })
}

/// At most eighty characters, for messages.
fn excerpt(text: &str) -> String {
    let mut short: String = text.chars().take(80).collect();
    if short.len() < text.len() {
        short.push('…');
    }
    short
}

/// The fields of one record.
struct Fields<'a> {
    file: &'a str,
    record: &'a csv::ByteRecord,
    columns: Places,
}

impl Fields<'_> {
    fn episode(&self) -> Result<String> {
        self.field(0, "a name", |text| (!text.is_empty()).then(|| text.to_string()))
    }

    /// The twin that is named; none where nothing is.
    fn twin(&self) -> Result<Option<String>> {
        let Some(bytes) = self.columns.twin.and_then(|at| self.record.get(at)) else { return Ok(None) };
        let name = std::str::from_utf8(bytes).ok().with_context(|| {
            format!("{}, line {}, column {TWIN}: expected a name in UTF-8", self.file, self.line())
        })?;
        Ok((!name.is_empty()).then(|| name.to_string()))
    }

    /// Requires that the record names the twin that the first one of its episode does.
    fn require_twin(&self, episode: &Episode) -> Result<()> {
        let (found, first) = (self.twin()?, episode.twin.as_ref().map(|(twin, _)| twin));
        ensure!(
            found.as_ref() == first,
            "{}, line {}, column {TWIN}: expected that of the first row of episode {:?}, {:?}, found {:?}",
            self.file,
            self.line(),
            episode.name,
            first.map_or("", String::as_str),
            found.as_deref().unwrap_or_default()
        );
        Ok(())
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
        let bytes = self.record.get(self.columns.needed[column]).unwrap_or_default();
        let value = std::str::from_utf8(bytes).ok().and_then(parse);
        value.with_context(|| {
            let (line, column) = (self.line(), COLUMNS[column]);
            let found = excerpt(&String::from_utf8_lossy(bytes));
            format!("{}, line {line}, column {column}: expected {expected}, found {found:?}", self.file)
        })
    }
}

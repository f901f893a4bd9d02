//! The columns of a mapping, gathered from a log: per topic, the time stamps and one list of numbers for each column.

use crate::mapping::{Clock, Mapping};
use crate::record::{Column, Sink, Topic, Value};
use crate::source::Source;
use anyhow::{Context, Result, bail, ensure};
use std::collections::HashMap;

/// What is wanted of a log: each column by its full name, with its place.
pub struct Wanted<'m> {
    mapping: &'m Mapping,
    places: HashMap<&'m str, usize>,
}

/// The columns that were wanted.
#[derive(Debug, Default)]
pub struct Gathered {
    /// The topics that have any of them.
    pub topics: Vec<Rows>,
    /// For each wanted column its topic and its number there.
    pub places: Vec<Option<(usize, usize)>>,
    /// The texts that were found.
    pub texts: Vec<String>,
}

/// Rows of one topic.
#[derive(Debug, Default)]
pub struct Rows {
    /// The name of the topic.
    pub name: String,
    /// Time stamps in nanoseconds, in the order of the rows.
    pub times: Vec<i64>,
    /// The columns.
    pub columns: Vec<Entries>,
}

/// The entries of a column.
#[derive(Debug, Default)]
pub struct Entries {
    /// Numbers, one per row; NaN where nothing was recorded. A text is its place in [`Gathered::texts`].
    pub numbers: Vec<f64>,
    /// Whether the entries are texts; `None` as long as nothing was recorded.
    pub is_text: Option<bool>,
}

impl<'m> Wanted<'m> {
    /// The columns of a mapping.
    pub fn new(mapping: &'m Mapping) -> Wanted<'m> {
        let places = mapping.columns().into_iter().enumerate().map(|(i, name)| (name, i)).collect();
        Wanted { mapping, places }
    }

    /// Reads a log.
    ///
    /// # Errors
    /// If it cannot be read, lacks a column, or a time is none.
    pub fn gather(&self, log: &(impl Source + ?Sized)) -> Result<Gathered> {
        let mut sink =
            Gathering { wanted: self, open: Vec::new(), texts: HashMap::new(), found: Gathered::default() };
        sink.found.places = vec![None; self.places.len()];
        log.read(&mut sink)?;
        let found = sink.found;
        self.check(&found).with_context(|| format!("log {}", log.name().display()))?;
        Ok(found)
    }

    /// Insists on all columns of the mapping but those that judge alone, and on numbers in channels.
    fn check(&self, found: &Gathered) -> Result<()> {
        let is_channel = |name: &str| self.mapping.channels().any(|channel| channel.column == name);
        for name in self.mapping.columns() {
            let place = found.places[self.places[name]];
            let Some((topic, column)) = place else {
                ensure!(self.mapping.judges(name), "expected the column {name:?} of the mapping, found none");
                continue;
            };
            let entries = &found.topics[topic].columns[column];
            ensure!(
                entries.is_text != Some(true) || !is_channel(name),
                "column {name:?}: expected numbers, as it is a channel of the mapping, found texts"
            );
        }
        Ok(())
    }
}

struct Gathering<'w, 'm> {
    wanted: &'w Wanted<'m>,
    /// What is known of each topic of the log.
    open: Vec<Open>,
    texts: HashMap<String, usize>,
    found: Gathered,
}

/// A topic of the log.
struct Open {
    name: String,
    is_timed: bool,
    /// Its number among those that are gathered, once it has a wanted column.
    gathered: Option<usize>,
    /// The column of its clock, in a table.
    clock: Option<usize>,
    /// Numbers of its columns that are wanted, each with where its values go.
    columns: Vec<(usize, usize)>,
    n_rows: usize,
}

impl Sink for Gathering<'_, '_> {
    fn topic(&mut self, _: usize, topic: &Topic) -> Result<bool> {
        let prefix = format!("{}:", topic.name);
        let is_wanted =
            topic.name.is_empty() || self.wanted.places.keys().any(|name| name.starts_with(&prefix));
        self.open.push(Open {
            name: topic.name.clone(),
            is_timed: topic.is_timed,
            gathered: None,
            clock: None,
            columns: Vec::new(),
            n_rows: 0,
        });
        Ok(is_wanted)
    }

    fn column(&mut self, topic: usize, number: usize, column: &Column) -> Result<()> {
        let open = &mut self.open[topic];
        let full =
            if open.name.is_empty() { column.name.clone() } else { format!("{}:{}", open.name, column.name) };
        if !open.is_timed && self.wanted.mapping.clock.column.as_deref() == Some(full.as_str()) {
            open.clock = Some(number);
        }
        let Some(&place) = self.wanted.places.get(full.as_str()) else { return Ok(()) };
        let topics = &mut self.found.topics;
        let gathered = *open.gathered.get_or_insert_with(|| {
            topics.push(Rows { name: open.name.clone(), ..Rows::default() });
            topics.len() - 1
        });
        let rows = &mut topics[gathered];
        open.columns.push((number, rows.columns.len()));
        self.found.places[place] = Some((gathered, rows.columns.len()));
        // What came before the column appeared is missing.
        rows.columns.push(Entries { numbers: vec![f64::NAN; rows.times.len()], is_text: None });
        Ok(())
    }

    fn row(&mut self, topic: usize, time: Option<i64>, row: &[Value<'_>]) -> Result<()> {
        let open = &mut self.open[topic];
        let n = open.n_rows;
        open.n_rows += 1;
        let Some(gathered) = open.gathered else { return Ok(()) };
        let clock = &self.wanted.mapping.clock;
        let time = match (time, open.clock) {
            (Some(time), _) => Some(time),
            (None, Some(at)) => of_column(clock, row.get(at).copied().unwrap_or(Value::Missing))
                .with_context(|| {
                    format!("row {n}: column {}", clock.column.as_deref().unwrap_or_default())
                })?,
            (None, None) => Some(of_row(clock, n)),
        };
        // A row without a time cannot be placed.
        let Some(time) = time else { return Ok(()) };
        let rows = &mut self.found.topics[gathered];
        rows.times.push(time);
        for &(number, column) in &open.columns {
            let value = row.get(number).copied().unwrap_or(Value::Missing);
            let entries = &mut rows.columns[column];
            entries
                .of_one_type(value)
                .with_context(|| format!("topic {:?}, row {n}, column {column}", open.name))?;
            entries.numbers.push(match value {
                Value::Text(text) => number_of(&mut self.texts, &mut self.found.texts, text),
                value => value.number().unwrap_or(f64::NAN),
            });
        }
        Ok(())
    }

    fn left_out(&mut self, _: Option<usize>, _: &str) {}
}

impl Entries {
    /// Notes the type of an entry, which must be that of those before it.
    fn of_one_type(&mut self, value: Value<'_>) -> Result<()> {
        if value == Value::Missing {
            return Ok(());
        }
        let is_text = matches!(value, Value::Text(_));
        let expected = *self.is_text.get_or_insert(is_text);
        let name = |is_text| if is_text { "a text" } else { "a number" };
        ensure!(expected == is_text, "expected {}, as before, found {value:?}", name(expected));
        Ok(())
    }
}

/// The number of a text, the same for the same text.
fn number_of(known: &mut HashMap<String, usize>, texts: &mut Vec<String>, text: &str) -> f64 {
    if let Some(&number) = known.get(text) {
        return number as f64;
    }
    known.insert(text.into(), texts.len());
    texts.push(text.into());
    (texts.len() - 1) as f64
}

/// The time of a row that has none: rows follow one another at the rate of the clock, or once a second.
fn of_row(clock: &Clock, n: usize) -> i64 {
    (n as f64 * 1e9 / clock.rate_hz.unwrap_or(1.0)).round() as i64
}

/// A time in a column, in nanoseconds; `None` if it is missing.
fn of_column(clock: &Clock, value: Value<'_>) -> Result<Option<i64>> {
    match (clock.unit.nanos(), value) {
        (_, Value::Missing) => Ok(None),
        (Some(1.0), Value::Integer(n)) => Ok(Some(n)),
        (Some(nanos), value) => {
            let Some(x) = value.number() else { bail!("expected a number, found {value:?}") };
            let time = x * nanos;
            ensure!(time.abs() < 9e18, "expected a time within 292 years of 1970, found {x}");
            Ok(Some(time.round() as i64))
        }
        (None, Value::Text(text)) => date(text).map(Some),
        (None, value) => bail!("expected a date and a time, found {value:?}"),
    }
}

/// A date and a time, with or without a zone; without one it is taken as UTC.
fn date(text: &str) -> Result<i64> {
    use chrono::{DateTime, NaiveDateTime};
    const FORMS: [&str; 3] = ["%Y-%m-%d %H:%M:%S%.f", "%Y-%m-%dT%H:%M:%S%.f", "%Y/%m/%d %H:%M:%S%.f"];
    let with_zone = DateTime::parse_from_rfc3339(text).ok().map(|t| t.naive_utc());
    let plain = || FORMS.iter().find_map(|form| NaiveDateTime::parse_from_str(text, form).ok());
    let found = with_zone.or_else(plain);
    let found = found
        .with_context(|| format!("expected a date and a time such as 2020-03-09 10:14:33, found {text:?}"))?;
    found.and_utc().timestamp_nanos_opt().context("expected a time within 292 years of 1970")
}

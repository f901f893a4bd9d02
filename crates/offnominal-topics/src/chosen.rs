//! The columns of a mapping, picked out of the rows of a log as they are read, each row with its time.

use crate::mapping::{Clock, Mapping};
use crate::record::{Column, Sink, Topic, Value};
use anyhow::{Context, Result, bail, ensure};
use std::collections::HashMap;

/// Whoever is told the rows that hold columns of a mapping.
pub trait Rows {
    /// A column of the mapping appears in a topic.
    fn column(&mut self, topic: usize, place: usize);

    /// A row of such a topic with its time in nanoseconds: for each of its columns the place in
    /// [`Mapping::columns`] and the number; NaN where nothing was recorded. A text is its place in [`Chosen::texts`].
    ///
    /// # Errors
    /// If the row is refused, or reading is to stop.
    fn row(&mut self, topic: usize, time: i64, row: &[(usize, f64)]) -> Result<()>;
}

/// Picks the columns of a mapping.
pub struct Chosen<R> {
    mapping: Mapping,
    names: Vec<String>,
    places: HashMap<String, usize>,
    topics: Vec<Open>,
    numbers_of_texts: HashMap<String, usize>,
    /// Columns that were found.
    found: Vec<bool>,
    /// Whether the entries of a column are texts; `None` as long as nothing was recorded.
    is_text: Vec<Option<bool>>,
    row: Vec<(usize, f64)>,
    /// The texts that were found.
    pub texts: Vec<String>,
    /// Where the rows go.
    pub rows: R,
}

/// A topic of the log.
struct Open {
    name: String,
    is_timed: bool,
    /// The column of its clock, in a table.
    clock: Option<usize>,
    /// Numbers of its columns that are wanted, each with its place in the mapping.
    columns: Vec<(usize, usize)>,
    n_rows: usize,
}

impl<R: Rows> Chosen<R> {
    /// Nothing was found yet.
    pub fn new(mapping: &Mapping, rows: R) -> Chosen<R> {
        let names: Vec<String> = mapping.columns().into_iter().map(str::to_string).collect();
        let n = names.len();
        let places = names.iter().enumerate().map(|(i, name)| (name.clone(), i)).collect();
        let (topics, row, texts) = (Vec::new(), Vec::new(), Vec::new());
        let (found, is_text) = (vec![false; n], vec![None; n]);
        Chosen {
            mapping: mapping.clone(),
            names,
            places,
            topics,
            numbers_of_texts: HashMap::new(),
            found,
            is_text,
            row,
            texts,
            rows,
        }
    }

    /// Insists on all columns of the mapping but those that judge alone.
    ///
    /// # Errors
    /// If one was not found.
    pub fn check(&self) -> Result<()> {
        let lacks = |&(name, &found): &(&String, &bool)| !found && !self.mapping.judges(name);
        if let Some((name, _)) = self.names.iter().zip(&self.found).find(lacks) {
            bail!("expected the column {name:?} of the mapping, found none");
        }
        Ok(())
    }

    /// Whether the entries of a column are texts.
    pub fn is_text(&self, place: usize) -> bool {
        self.is_text[place] == Some(true)
    }

    /// The number of an entry, which must be of the type of those before it.
    fn number(&mut self, place: usize, value: Value<'_>) -> Result<f64> {
        if value == Value::Missing {
            return Ok(f64::NAN);
        }
        let is_text = matches!(value, Value::Text(_));
        let is_channel = place < self.mapping.observation.len() + self.mapping.command.len();
        ensure!(
            !(is_text && is_channel),
            "expected numbers, as it is a channel of the mapping, found {value:?}"
        );
        let expected = *self.is_text[place].get_or_insert(is_text);
        let name = |is_text| if is_text { "a text" } else { "a number" };
        ensure!(expected == is_text, "expected {}, as before, found {value:?}", name(expected));
        Ok(match value {
            Value::Text(text) => self.number_of(text) as f64,
            value => value.number().unwrap_or(f64::NAN),
        })
    }

    /// The number of a text, the same for the same text.
    fn number_of(&mut self, text: &str) -> usize {
        if let Some(&number) = self.numbers_of_texts.get(text) {
            return number;
        }
        self.numbers_of_texts.insert(text.into(), self.texts.len());
        self.texts.push(text.into());
        self.texts.len() - 1
    }

    /// The time of a row; `None` if it cannot be placed.
    fn time(&self, topic: usize, time: Option<i64>, row: &[Value<'_>]) -> Result<Option<i64>> {
        let (open, clock) = (&self.topics[topic], &self.mapping.clock);
        match (time, open.clock) {
            (Some(time), _) => Ok(Some(time)),
            (None, None) => Ok(Some(of_row(clock, open.n_rows))),
            (None, Some(at)) => {
                let name =
                    || format!("row {}: column {}", open.n_rows, clock.column.as_deref().unwrap_or_default());
                of_column(clock, row.get(at).copied().unwrap_or(Value::Missing)).with_context(name)
            }
        }
    }
}

impl<R: Rows> Sink for Chosen<R> {
    fn topic(&mut self, _: usize, topic: &Topic) -> Result<bool> {
        let prefix = format!("{}:", topic.name);
        let is_wanted = topic.name.is_empty() || self.names.iter().any(|name| name.starts_with(&prefix));
        let (name, is_timed) = (topic.name.clone(), topic.is_timed);
        self.topics.push(Open { name, is_timed, clock: None, columns: Vec::new(), n_rows: 0 });
        Ok(is_wanted)
    }

    fn column(&mut self, topic: usize, number: usize, column: &Column) -> Result<()> {
        let open = &mut self.topics[topic];
        let full = match open.name.as_str() {
            "" => column.name.clone(),
            name => format!("{name}:{}", column.name),
        };
        if !open.is_timed && self.mapping.clock.column.as_deref() == Some(full.as_str()) {
            open.clock = Some(number);
        }
        if let Some(&place) = self.places.get(full.as_str()) {
            ensure!(!self.found[place], "expected one column {full:?}, found two");
            self.found[place] = true;
            open.columns.push((number, place));
            self.rows.column(topic, place);
        }
        Ok(())
    }

    fn row(&mut self, topic: usize, time: Option<i64>, row: &[Value<'_>]) -> Result<()> {
        let n = self.topics[topic].n_rows;
        let time = if self.topics[topic].columns.is_empty() { None } else { self.time(topic, time, row)? };
        self.topics[topic].n_rows += 1;
        let Some(time) = time else { return Ok(()) };
        let mut numbers = std::mem::take(&mut self.row);
        numbers.clear();
        for i in 0..self.topics[topic].columns.len() {
            let (number, place) = self.topics[topic].columns[i];
            let value = row.get(number).copied().unwrap_or(Value::Missing);
            let found = match value {
                Value::Number(x) if x.is_finite() && self.is_text[place] == Some(false) => x,
                value => {
                    let number = self.number(place, value);
                    number.with_context(|| format!("row {n}, column {:?}", self.names[place]))?
                }
            };
            numbers.push((place, found));
        }
        let told = self.rows.row(topic, time, &numbers);
        self.row = numbers;
        told
    }

    fn left_out(&mut self, _: Option<usize>, _: &str) {}
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

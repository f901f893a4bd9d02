//! The columns of a mapping, picked out of the rows of a log as they are read, each row with its time.

mod times;
mod units;
mod words;

use crate::mapping::{Channel, Clock, Mapping};
use crate::record::{Column, Sink, Topic, Value, is_same};
use crate::words::means_missing;
use anyhow::{Context, Result, bail, ensure};
use std::collections::{BTreeMap, HashMap};
use times::Times;
use words::Words;

/// The largest number of a channel: detectors work in single precision.
const LARGEST: f64 = f32::MAX as f64;

/// Rows that may lack the clock before it is missed.
const PATIENCE: usize = 100;

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

    /// A text of the next row, and the number that stands for it there.
    fn text(&mut self, _place: usize, _number: usize, _text: &str) {}
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
    /// Whether all entries of a column so far are numbers of which none means missing.
    is_plain: Vec<bool>,
    n_channels: usize,
    /// What the numbers of a column must lie near: the reference of its channel; not a number as long as it is not known.
    references: Vec<f64>,
    /// What stands in channels in place of numbers.
    words: BTreeMap<usize, Words>,
    /// What the reader has said.
    said: Vec<String>,
    /// The texts that were found.
    pub texts: Vec<String>,
    /// Where the rows go.
    pub rows: R,
}

/// Whether the columns that say what was wrong must be there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Truth {
    /// They must: who learns would take what went wrong as nominal.
    Needed,
    /// They may be absent: nothing is learned.
    IfThere,
}

/// A topic of the log.
#[derive(Default)]
struct Open {
    name: String,
    is_timed: bool,
    /// The column of its clock, in a table.
    clock: Option<usize>,
    /// Numbers of its columns that are wanted, each with its place in the mapping.
    columns: Vec<(usize, usize)>,
    n_rows: usize,
    /// Rows without a time.
    n_unplaced: usize,
    times: Times,
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
            is_plain: vec![false; n],
            n_channels: mapping.channels().count(),
            references: references(mapping, n),
            words: BTreeMap::new(),
            said: Vec::new(),
            row,
            texts,
            rows,
        }
    }

    /// Insists on all columns of the mapping, and of its clock. Those that judge alone may be absent where nothing is learned.
    ///
    /// # Errors
    /// If one was not found, or a channel holds too many words.
    pub fn check(&self, truth: Truth) -> Result<()> {
        let may_lack = |name: &str| truth == Truth::IfThere && self.mapping.judges(name);
        let lacks = |&(name, &found): &(&String, &bool)| !found && !may_lack(name);
        if let Some((name, _)) = self.names.iter().zip(&self.found).find(lacks) {
            let what = if self.mapping.judges(name) { ", which says what was wrong" } else { "" };
            bail!("expected the column {name:?} of the mapping{what}, found none");
        }
        if let Some(clock) = self.mapping.clock.column.as_deref() {
            let has_clock = self.topics.iter().any(|topic| topic.clock.is_some());
            ensure!(
                has_clock,
                "expected the column {clock:?}, which is the clock of the mapping, found none"
            );
        }
        self.words.iter().try_for_each(|(place, words)| words.check(&self.names[*place]))
    }

    /// Whether the entries of a column are texts.
    pub fn is_text(&self, place: usize) -> bool {
        self.is_text[place] == Some(true)
    }

    /// What is to be said of the rows: what the reader left out or took for granted, and what was taken as missing.
    pub fn remarks(&self) -> Vec<String> {
        let words = self.words.iter().map(|(place, words)| words.remark(&self.names[*place]));
        let no_time = self.topics.iter().filter(|topic| topic.n_unplaced > 0).map(|topic| {
            format!("{} of {} rows have no time, and are left out", topic.n_unplaced, topic.n_rows)
        });
        self.said.iter().cloned().chain(words).chain(no_time).collect()
    }

    /// Rows of topics that have a column of the mapping.
    pub fn n_rows(&self) -> usize {
        self.topics.iter().filter(|topic| !topic.columns.is_empty()).map(|topic| topic.n_rows).sum()
    }

    /// The number of an entry, which must be of the type of those before it. In a channel a word is as missing.
    fn number(&mut self, place: usize, value: Value<'_>, row: usize) -> Result<f64> {
        if value == Value::Missing {
            return Ok(f64::NAN);
        }
        if place < self.n_channels {
            return self.of_channel(place, value, row);
        }
        let is_text = matches!(value, Value::Text(_));
        if let (Value::Text(word), Some(false)) = (value, self.is_text[place])
            && means_missing(word)
        {
            return Ok(f64::NAN);
        }
        let expected = *self.is_text[place].get_or_insert(is_text);
        let name = |is_text| if is_text { "a text" } else { "a number" };
        ensure!(expected == is_text, "expected {}, as before, found {value:?}", name(expected));
        Ok(match value {
            Value::Text(text) => {
                let number = self.number_of(text);
                self.rows.text(place, number, text);
                number as f64
            }
            value => value.number().unwrap_or(f64::NAN),
        })
    }

    fn of_channel(&mut self, place: usize, value: Value<'_>, row: usize) -> Result<f64> {
        let number =
            value.number().filter(|&x| !self.mapping.missing.iter().any(|&written| is_same(x, written)));
        self.check_size(place, number)?;
        let is_plain = number.is_some() && !self.words.contains_key(&place);
        self.is_text[place] = Some(false);
        if is_plain {
            // Numbers before the first word are counted by their rows.
            return Ok(number.unwrap_or(f64::NAN));
        }
        let words = self.words.entry(place).or_insert_with(|| Words::after(row));
        match (number, value) {
            (Some(_), _) => words.numbers += 1,
            (None, Value::Text(text)) => words.add(text, row)?,
            (None, value) => words.missing(format!("{:?}", value.number().unwrap_or(f64::NAN)), row),
        }
        Ok(number.unwrap_or(f64::NAN))
    }

    /// Insists on a number that single precision holds, less the reference of its channel. Where a fit is to choose that, the
    /// first number stands for it.
    fn check_size(&mut self, place: usize, number: Option<f64>) -> Result<()> {
        let Some(x) = number else { return Ok(()) };
        let reference = &mut self.references[place];
        if reference.is_nan() {
            // A number that single precision holds needs none.
            *reference = if x.abs() <= LARGEST { 0.0 } else { x };
        }
        ensure!(
            (x - *reference).abs() <= LARGEST,
            "expected a number within {LARGEST:e} of {reference}, which single precision holds, found {x:e}"
        );
        Ok(())
    }

    fn say(&mut self, topic: Option<usize>, what: &str) {
        const MOST: usize = 1000;
        let name = topic.and_then(|t| self.topics.get(t)).map_or("", |topic| &topic.name);
        let place = if name.is_empty() { String::new() } else { format!("{name}: ") };
        if self.said.len() < MOST {
            self.said.push(place + what);
        }
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
    fn time(&mut self, topic: usize, time: Option<i64>, row: &[Value<'_>]) -> Result<Option<i64>> {
        let (open, clock) = (&mut self.topics[topic], &self.mapping.clock);
        let name = clock.column.as_deref().unwrap_or_default();
        match (time, open.clock) {
            (Some(time), _) => Ok(Some(time)),
            (None, None) if clock.column.is_none() => Ok(Some(of_row(clock, open.n_rows))),
            (None, None) => {
                let n = open.n_rows;
                ensure!(
                    n < PATIENCE,
                    "expected the column {name:?}, which is the clock of the mapping, found none in {n} rows"
                );
                Ok(None)
            }
            (None, Some(at)) => {
                let value = row.get(at).copied().unwrap_or(Value::Missing);
                let n = open.n_rows;
                open.times.nanos(clock, value).with_context(|| format!("row {n}: column {name}"))
            }
        }
    }
}

impl<R: Rows> Sink for Chosen<R> {
    fn topic(&mut self, _: usize, topic: &Topic) -> Result<bool> {
        let prefix = format!("{}:", topic.name);
        let is_wanted = topic.name.is_empty() || self.names.iter().any(|name| name.starts_with(&prefix));
        let (name, is_timed) = (topic.name.clone(), topic.is_timed);
        self.topics.push(Open { name, is_timed, ..Open::default() });
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
            units::of_clock(&self.mapping.clock, &full, column)?;
        }
        if let Some(&place) = self.places.get(full.as_str()) {
            ensure!(!self.found[place], "expected one column {full:?}, found two");
            units::of_channel(self.mapping.channels().nth(place), column)?;
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
        let Some(time) = time else {
            self.topics[topic].n_unplaced += usize::from(!self.topics[topic].columns.is_empty());
            return Ok(());
        };
        let mut numbers = std::mem::take(&mut self.row);
        numbers.clear();
        for i in 0..self.topics[topic].columns.len() {
            let (number, place) = self.topics[topic].columns[i];
            let value = row.get(number).copied().unwrap_or(Value::Missing);
            let found = match value {
                Value::Number(x) if (x - self.references[place]).abs() <= LARGEST && self.is_plain[place] => {
                    x
                }
                value => {
                    let number = self.number(place, value, n);
                    number.with_context(|| format!("row {n}, column {:?}", self.names[place]))?
                }
            };
            self.is_plain[place] = self.mapping.missing.is_empty()
                && self.is_text[place] == Some(false)
                && !self.words.contains_key(&place);
            numbers.push((place, found));
        }
        let told = self.rows.row(topic, time, &numbers);
        self.row = numbers;
        told
    }

    fn left_out(&mut self, topic: Option<usize>, what: &str) {
        self.say(topic, &format!("left out: {what}"));
    }

    fn assumed(&mut self, topic: Option<usize>, what: &str) {
        self.say(topic, what);
    }
}

/// The references of all columns; only those of channels can be unknown.
fn references(mapping: &Mapping, n: usize) -> Vec<f64> {
    let of = |channel: &Channel| channel.reference.unwrap_or(f64::NAN);
    mapping.channels().map(of).chain(std::iter::repeat(0.0)).take(n).collect()
}

/// The time of a row that has none: rows follow one another at the rate of the clock, or once a second.
fn of_row(clock: &Clock, n: usize) -> i64 {
    (n as f64 * 1e9 / clock.rate_hz.unwrap_or(1.0)).round() as i64
}

#[cfg(test)]
mod tests;

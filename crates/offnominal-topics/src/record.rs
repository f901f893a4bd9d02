//! What every format is read as: topics, their columns, and one row after another.
//!
//! A *topic* is a group of columns that share their time stamps: a kind of message, or a whole table. A reader numbers
//! topics and columns in the order in which they appear, tells a [`Sink`] of each once, and then hands over rows. So a
//! log of any size is read with the memory of one row, or of one compressed block.

use anyhow::Result;

/// A group of columns that share their time stamps.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Topic {
    /// Its name; empty for a table that is a file of its own.
    pub name: String,
    /// The type of its messages, or the kind of table.
    pub kind: String,
    /// Whether its rows have time stamps; a table's are in a column, if anywhere.
    pub is_timed: bool,
}

/// One number or text per row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Column {
    /// Its name within the topic, such as `angular_velocity.x` or `position[2]`.
    pub name: String,
    /// Its unit, where the log states one.
    pub unit: Option<String>,
}

impl Column {
    /// A column without a unit.
    pub fn new(name: impl Into<String>) -> Column {
        Column { name: name.into(), unit: None }
    }
}

/// One entry of a row.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Value<'a> {
    /// Nothing was recorded, or not a number.
    Missing,
    /// A number; truth values are 0 and 1.
    Number(f64),
    /// A whole number, such as a time stamp in nanoseconds, which a floating-point number would round.
    Integer(i64),
    /// A text.
    Text(&'a str),
}

impl Value<'_> {
    /// The value as a number, if it is one. What is not finite is as missing.
    pub fn number(self) -> Option<f64> {
        match self {
            Value::Number(x) => x.is_finite().then_some(x),
            Value::Integer(n) => Some(n as f64),
            Value::Missing | Value::Text(_) => None,
        }
    }
}

/// Whether a number is one that somebody wrote, in double precision or rounded to single precision.
pub fn is_same(x: f64, written: f64) -> bool {
    x == written || x == f64::from(written as f32)
}

impl From<f64> for Value<'_> {
    fn from(x: f64) -> Self {
        if x.is_nan() { Value::Missing } else { Value::Number(x) }
    }
}

/// What a reader is about to take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Charge {
    /// Bytes that stay in memory.
    Memory(u64),
    /// As much time as so many entries of rows take.
    Work(u64),
}

/// Whoever is told what a log holds.
pub trait Sink {
    /// A topic appears. If its rows are not wanted, a reader may pass over them without decoding.
    ///
    /// # Errors
    /// If there cannot be such a topic.
    fn topic(&mut self, number: usize, topic: &Topic) -> Result<bool>;

    /// A column of a topic appears, before the first row that has it.
    ///
    /// # Errors
    /// If there cannot be such a column.
    fn column(&mut self, topic: usize, number: usize, column: &Column) -> Result<()>;

    /// A row of a topic, in the order of the file. It has one value for each column known so far; `time` is in
    /// nanoseconds, in topics whose rows have time stamps.
    ///
    /// # Errors
    /// If the row is refused, or reading is to stop.
    fn row(&mut self, topic: usize, time: Option<i64>, row: &[Value<'_>]) -> Result<()>;

    /// Something that the reader leaves out, in words.
    fn left_out(&mut self, topic: Option<usize>, what: &str);

    /// A part that should be there and cannot be read: it is damaged, cut off or of a kind that is not known. `what` is the
    /// same for all such parts.
    ///
    /// # Errors
    /// If no loss is accepted.
    fn lost(&mut self, topic: Option<usize>, what: &str, why: &str) -> Result<()> {
        self.left_out(topic, &format!("{what}: {why}"));
        Ok(())
    }

    /// What the reader is about to take for what the input declares, beside what it tells.
    ///
    /// # Errors
    /// If that is more than one input may take.
    fn charge(&mut self, _charge: Charge) -> Result<()> {
        Ok(())
    }

    /// Whether the sink has refused something, so that an error is not that of a damaged part.
    fn is_refusing(&self) -> bool {
        false
    }

    /// Something that the reader takes for granted, in words.
    fn assumed(&mut self, _topic: Option<usize>, _what: &str) {}
}

/// Nobody, who takes everything and keeps nothing.
impl Sink for () {
    fn topic(&mut self, _: usize, _: &Topic) -> Result<bool> {
        Ok(true)
    }

    fn column(&mut self, _: usize, _: usize, _: &Column) -> Result<()> {
        Ok(())
    }

    fn row(&mut self, _: usize, _: Option<i64>, _: &[Value<'_>]) -> Result<()> {
        Ok(())
    }

    fn left_out(&mut self, _: Option<usize>, _: &str) {}
}

//! What is found in one column, in one pass and with the memory of a few numbers.

use crate::inspect::picture::Picture;
use crate::inspect::steps::Steps;
use crate::record::{Column, Value};
use serde::Serialize;

/// Different values and texts that are remembered.
const FEW: usize = 16;

/// What is found in a column so far.
#[derive(Debug, Clone)]
pub struct Found {
    column: Column,
    /// Rows before the column appeared, which are missing too.
    before: u64,
    rows: u64,
    missing: u64,
    texts: u64,
    low: f64,
    high: f64,
    is_whole: bool,
    values: Few<f64>,
    words: Few<String>,
    digest: u64,
    steps: Option<Steps>,
    picture: Picture,
}

/// What a column holds.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ColumnReport {
    /// Its name within the topic.
    pub name: String,
    /// Its unit, where the log states one.
    pub unit: Option<String>,
    /// What its values are.
    pub kind: Kind,
    /// Share of the rows without a value.
    pub missing: f64,
    /// Smallest number.
    pub low: Option<f64>,
    /// Largest number.
    pub high: Option<f64>,
    /// The numbers, if there are but a few different ones.
    pub values: Vec<f64>,
    /// The texts, if there are but a few different ones.
    pub words: Vec<String>,
    /// If numbers never fall: the steps between them.
    pub steps: Option<Steps>,
    /// Equal in columns that hold the same.
    #[serde(skip)]
    pub digest: u64,
    /// The course of the numbers.
    #[serde(skip)]
    pub picture: Picture,
}

/// What the values of a column are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// There are none.
    Empty,
    /// One number all the time.
    Constant,
    /// 0 and 1.
    Flag,
    /// Whole numbers.
    Whole,
    /// Numbers.
    Number,
    /// Texts.
    Text,
    /// Now numbers, now texts.
    Mixed,
}

/// Different values, as long as they are few.
#[derive(Debug, Clone)]
enum Few<T> {
    All(Vec<T>),
    Many,
}

impl<T: PartialEq> Few<T> {
    fn add(&mut self, value: impl PartialEq<T> + Into<T>) {
        let Few::All(known) = self else { return };
        if known.iter().any(|known| value == *known) {
            return;
        }
        if known.len() == FEW {
            *self = Few::Many;
        } else {
            known.push(value.into());
        }
    }

    fn into_list(self) -> Vec<T> {
        match self {
            Few::All(list) => list,
            Few::Many => Vec::new(),
        }
    }
}

impl Found {
    /// Nothing yet; the column appears after `before` rows of its topic.
    pub fn new(column: &Column, before: u64) -> Found {
        Found {
            column: column.clone(),
            before,
            rows: 0,
            missing: 0,
            texts: 0,
            low: f64::INFINITY,
            high: f64::NEG_INFINITY,
            is_whole: true,
            values: Few::All(Vec::new()),
            words: Few::All(Vec::new()),
            digest: 0,
            steps: Some(Steps::default()),
            picture: Picture::default(),
        }
    }

    /// One more row.
    pub fn add(&mut self, value: Value<'_>) {
        self.rows += 1;
        match (value, value.number()) {
            (Value::Text(text), _) => {
                self.texts += 1;
                self.words.add(text);
            }
            (_, None) => self.missing += 1,
            (_, Some(x)) => self.number(x),
        }
    }

    fn number(&mut self, x: f64) {
        (self.low, self.high) = (self.low.min(x), self.high.max(x));
        self.is_whole &= x.fract() == 0.0;
        self.values.add(x);
        // Order counts, so columns of equal digest hold the same numbers in the same rows.
        self.digest =
            (self.digest.rotate_left(5) ^ x.to_bits() ^ self.rows).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        if self.steps.as_mut().is_some_and(|steps| !steps.add(x)) {
            self.steps = None;
        }
        self.picture.add(x);
    }

    /// What was found.
    pub fn report(self) -> ColumnReport {
        let numbers = self.rows - self.missing - self.texts;
        let all = (self.before + self.rows).max(1) as f64;
        ColumnReport {
            kind: self.kind(numbers),
            name: self.column.name,
            unit: self.column.unit,
            missing: (self.before + self.missing) as f64 / all,
            low: (numbers > 0).then_some(self.low),
            high: (numbers > 0).then_some(self.high),
            values: self.values.into_list(),
            words: self.words.into_list(),
            steps: self.steps.filter(|_| numbers > 2 && self.low < self.high),
            digest: self.digest,
            picture: self.picture,
        }
    }

    fn kind(&self, numbers: u64) -> Kind {
        match (numbers, self.texts) {
            (0, 0) => Kind::Empty,
            (0, _) => Kind::Text,
            (_, 1..) => Kind::Mixed,
            _ if self.low == self.high => Kind::Constant,
            _ if self.is_whole && (self.low, self.high) == (0.0, 1.0) => Kind::Flag,
            _ if self.is_whole => Kind::Whole,
            _ => Kind::Number,
        }
    }
}

impl ColumnReport {
    /// Whether it is a number that changes.
    pub fn is_signal(&self) -> bool {
        matches!(self.kind, Kind::Flag | Kind::Whole | Kind::Number)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn report(values: &[Value<'_>]) -> ColumnReport {
        let mut found = Found::new(&Column::new("x"), 0);
        values.iter().for_each(|&value| found.add(value));
        found.report()
    }

    #[test]
    fn kinds_are_told_apart() {
        let n = Value::Number;
        let kind = |values: &[Value<'_>]| report(values).kind;
        assert_eq!(kind(&[]), Kind::Empty);
        assert_eq!(kind(&[n(2.0), Value::Missing, n(2.0)]), Kind::Constant);
        assert_eq!(kind(&[n(0.0), Value::Integer(1)]), Kind::Flag);
        assert_eq!(kind(&[n(0.0), n(7.0)]), Kind::Whole);
        assert_eq!(kind(&[n(0.5), n(7.0)]), Kind::Number);
        assert_eq!(kind(&[Value::Text("a")]), Kind::Text);
        assert_eq!(kind(&[Value::Text("a"), n(1.0)]), Kind::Mixed);
    }

    #[test]
    fn what_is_missing_counts_whether_or_not_the_column_was_known() {
        let mut found = Found::new(&Column::new("x"), 2);
        [Value::Number(1.0), Value::Number(f64::INFINITY)].into_iter().for_each(|value| found.add(value));
        assert_eq!(found.report().missing, 0.75);
    }

    #[test]
    fn equal_columns_have_equal_digests_and_swapped_rows_do_not() {
        let n = Value::Number;
        assert_eq!(report(&[n(1.0), n(2.0)]).digest, report(&[n(1.0), n(2.0)]).digest);
        assert_ne!(report(&[n(1.0), n(2.0)]).digest, report(&[n(2.0), n(1.0)]).digest);
    }
}

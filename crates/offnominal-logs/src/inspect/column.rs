//! What is found in one column, in one pass and with the memory of a few numbers.

use crate::inspect::dates::Dates;
use crate::inspect::picture::Picture;
use crate::inspect::steps::Steps;
use crate::record::{Column, Value};
use crate::suspects::Suspects;
use offnominal_topics::words::{are_numbers, means_missing};
use serde::Serialize;

/// Different values and texts that are remembered.
const FEW: usize = 16;

/// What is found in a column so far.
#[derive(Debug, Clone)]
pub struct ColumnSummary {
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
    suspects: Suspects,
    /// Texts that say that nothing was read.
    no_numbers: u64,
    dates: Dates,
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
    /// If numbers or dates mostly rise, or mostly fall: the steps between them; of dates in seconds.
    pub steps: Option<Steps>,
    /// Numbers far from all others that may mean that nothing was read, and how often each occurs.
    pub suspicious: Vec<(f64, u64)>,
    /// Such numbers that are not far from the others.
    #[serde(skip)]
    pub plausible: Vec<f64>,
    /// How its dates are written, if that has to be said.
    pub date_format: Option<String>,
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
    /// Dates or times of day.
    Date,
    /// Texts.
    Text,
    /// Now numbers, now texts; a tenth may be texts in a column of numbers, and counts as missing.
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

impl ColumnSummary {
    /// Nothing yet; the column appears after `before` rows of its topic.
    pub fn new(column: &Column, before: u64) -> ColumnSummary {
        ColumnSummary {
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
            suspects: Suspects::default(),
            no_numbers: 0,
            dates: Dates::default(),
            picture: Picture::default(),
        }
    }

    /// One more row.
    pub fn add(&mut self, value: Value<'_>) {
        self.rows += 1;
        match (value, value.number()) {
            (Value::Text(text), _) => {
                if means_missing(text) {
                    self.no_numbers += 1;
                } else {
                    self.texts += 1;
                    self.dates.add(text);
                }
                self.words.add(text);
            }
            (_, None) => self.missing += 1,
            (_, Some(x)) => self.number(x),
        }
    }

    fn number(&mut self, x: f64) {
        (self.low, self.high) = (self.low.min(x), self.high.max(x));
        self.is_whole &= x.fract() == 0.0;
        self.suspects.add(x);
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
    pub fn report(mut self) -> ColumnReport {
        let numbers = self.rows - self.missing - self.texts - self.no_numbers;
        let is_number = numbers > 0 && are_numbers(numbers, self.texts);
        // Words alone mean what they say.
        let no_numbers = if is_number { self.no_numbers + self.texts } else { 0 };
        let all = (self.before + self.rows).max(1) as f64;
        let kind = self.kind(numbers);
        let (date_format, of_dates) = self.dates.found();
        let is_date = kind == Kind::Date;
        let of_numbers = self.steps.take().filter(|_| numbers > 2 && self.low < self.high);
        ColumnReport {
            kind,
            name: self.column.name,
            unit: self.column.unit,
            missing: (self.before + self.missing + no_numbers) as f64 / all,
            low: (numbers > 0).then_some(self.low),
            high: (numbers > 0).then_some(self.high),
            values: self.values.into_list(),
            words: self.words.into_list(),
            steps: if is_date { of_dates } else { of_numbers },
            suspicious: self.suspects.suspicious(),
            plausible: self.suspects.plausible(),
            date_format: date_format.filter(|_| is_date),
            digest: self.digest,
            picture: self.picture,
        }
    }

    fn kind(&self, numbers: u64) -> Kind {
        match (numbers, self.texts + self.no_numbers) {
            (0, 0) => Kind::Empty,
            (0, _) if self.texts > 0 && self.dates.are_all() => Kind::Date,
            (0, _) => Kind::Text,
            _ if !are_numbers(numbers, self.texts) => Kind::Mixed,
            _ => Kind::of_numbers(self.low, self.high, self.is_whole),
        }
    }
}

impl Kind {
    /// That of numbers of a range.
    pub fn of_numbers(low: f64, high: f64, is_whole: bool) -> Kind {
        match () {
            () if low == high => Kind::Constant,
            () if is_whole && (low, high) == (0.0, 1.0) => Kind::Flag,
            () if is_whole => Kind::Whole,
            () => Kind::Number,
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
        let mut found = ColumnSummary::new(&Column::new("x"), 0);
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
        let mut found = ColumnSummary::new(&Column::new("x"), 2);
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

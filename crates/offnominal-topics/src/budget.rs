//! What one input may take: memory for what it names, and work for the rows that come out of it. What is charged is what is
//! *produced*, so that a few bytes that declare billions of fields, rows or links are refused by one rule, in every reader.
//!
//! The work grows with the bytes that were read, the memory does not: names and columns do not repeat.
//! What could not be read of a log is counted here too, and is told at its end.

use crate::record::{Charge, Column, Sink, Topic, Value};
use anyhow::{Result, bail, ensure};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Bytes for topics, columns and names. Each column has statistics and a picture.
const MOST_MEMORY: u64 = 512 << 20;
/// Memory of a topic or of a column beside its name.
const OF_COLUMN: u64 = 2 << 10;
/// Entries of rows that any input may have, and those that each of its bytes adds: equal numbers are stored once.
const ANY_WORK: u64 = 1 << 26;
const WORK_OF_BYTE: u64 = 64;
/// Entries whose time a row without any takes.
const OF_EMPTY_ROW: u64 = 16;
/// Reasons that are told one by one.
const MOST_REASONS: usize = 100;

/// Bytes of an input that were read so far, or that are at hand.
#[derive(Debug, Clone, Default)]
pub struct Size(Arc<AtomicU64>);

impl Size {
    /// More bytes were read, or are at hand.
    pub fn add(&self, n: u64) {
        self.0.fetch_add(n, Ordering::Relaxed);
    }

    /// How many they are.
    pub fn bytes(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

/// A sink that charges what it is told, and counts what is lost.
pub struct Budget<'s> {
    sink: &'s mut dyn Sink,
    size: Size,
    memory: u64,
    work: u64,
    rows: u64,
    lost: Vec<Lost>,
    is_refusing: bool,
}

/// Parts of a log that could not be read, for one reason.
struct Lost {
    topic: Option<usize>,
    what: String,
    first: String,
    n: u64,
}

impl<'s> Budget<'s> {
    /// The budget of an input of that size, which may grow as it is read.
    pub fn new(sink: &'s mut dyn Sink, size: Size) -> Budget<'s> {
        Budget { sink, size, memory: 0, work: 0, rows: 0, lost: Vec::new(), is_refusing: false }
    }

    /// Tells the sink what was lost.
    ///
    /// # Errors
    /// If nothing else was read, or the sink accepts no loss.
    pub fn end(self) -> Result<()> {
        if let (0, Some(first)) = (self.rows, self.lost.first()) {
            bail!("nothing can be read: {}: {}", first.what, first.first);
        }
        self.lost.iter().try_for_each(|lost| self.sink.lost(lost.topic, &lost.what, &lost.told()))
    }

    fn spend(&mut self, charge: Charge) -> Result<()> {
        let size = || self.size.bytes();
        match charge {
            Charge::Memory(bytes) => {
                self.memory = self.memory.saturating_add(bytes);
                ensure!(
                    self.memory <= MOST_MEMORY,
                    "expected topics, columns and names that take at most {MOST_MEMORY} bytes, found more"
                );
            }
            Charge::Work(entries) => {
                self.work = self.work.saturating_add(entries);
                ensure!(
                    self.work <= ANY_WORK || self.work - ANY_WORK <= size().saturating_mul(WORK_OF_BYTE),
                    "expected at most {ANY_WORK} values and {WORK_OF_BYTE} for each of {} bytes, found more: what a log \
                     declares must be in it",
                    size()
                );
            }
        }
        Ok(())
    }

    /// What is refused once is refused for good: no reader takes it for damage.
    fn kept<T>(&mut self, told: Result<T>) -> Result<T> {
        self.is_refusing |= told.is_err();
        told
    }
}

impl Lost {
    fn told(&self) -> String {
        if self.n > 1 { format!("{} times, the first: {}", self.n, self.first) } else { self.first.clone() }
    }
}

impl Sink for Budget<'_> {
    fn topic(&mut self, number: usize, topic: &Topic) -> Result<bool> {
        self.charge(Charge::Memory(OF_COLUMN + topic.name.len() as u64))?;
        let told = self.sink.topic(number, topic);
        self.kept(told)
    }

    fn column(&mut self, topic: usize, number: usize, column: &Column) -> Result<()> {
        self.charge(Charge::Memory(OF_COLUMN + column.name.len() as u64))?;
        let told = self.sink.column(topic, number, column);
        self.kept(told)
    }

    fn row(&mut self, topic: usize, time: Option<i64>, row: &[Value<'_>]) -> Result<()> {
        let work = |value: &Value<'_>| match value {
            Value::Text(text) => 1 + text.len() as u64 / 16,
            _ => 1,
        };
        let entries = row.iter().map(work).sum::<u64>();
        self.charge(Charge::Work(if entries == 0 { OF_EMPTY_ROW } else { entries + 1 }))?;
        self.rows += 1;
        let told = self.sink.row(topic, time, row);
        self.kept(told)
    }

    fn left_out(&mut self, topic: Option<usize>, what: &str) {
        self.sink.left_out(topic, what);
    }

    fn assumed(&mut self, topic: Option<usize>, what: &str) {
        self.sink.assumed(topic, what);
    }

    fn lost(&mut self, topic: Option<usize>, what: &str, why: &str) -> Result<()> {
        let known = self.lost.iter().position(|lost| lost.topic == topic && lost.what == what);
        match known {
            Some(at) => self.lost[at].n += 1,
            None if self.lost.len() < MOST_REASONS => {
                self.lost.push(Lost { topic, what: what.into(), first: why.into(), n: 1 });
            }
            None => {
                let last = self.lost.last_mut().expect("there are many");
                (last.topic, last.what, last.n) = (None, "more of such losses".into(), last.n + 1);
            }
        }
        Ok(())
    }

    fn charge(&mut self, charge: Charge) -> Result<()> {
        let spent = self.spend(charge);
        self.kept(spent)
    }

    fn is_refusing(&self) -> bool {
        self.is_refusing
    }
}

/// A sink that accepts no loss.
pub struct Whole<'s>(pub &'s mut dyn Sink);

impl Sink for Whole<'_> {
    fn topic(&mut self, number: usize, topic: &Topic) -> Result<bool> {
        self.0.topic(number, topic)
    }

    fn column(&mut self, topic: usize, number: usize, column: &Column) -> Result<()> {
        self.0.column(topic, number, column)
    }

    fn row(&mut self, topic: usize, time: Option<i64>, row: &[Value<'_>]) -> Result<()> {
        self.0.row(topic, time, row)
    }

    fn left_out(&mut self, topic: Option<usize>, what: &str) {
        self.0.left_out(topic, what);
    }

    fn assumed(&mut self, topic: Option<usize>, what: &str) {
        self.0.assumed(topic, what);
    }

    fn lost(&mut self, _: Option<usize>, what: &str, why: &str) -> Result<()> {
        bail!(
            "expected a log that can be read as a whole, found {what} that cannot: {why}; without --strict (strict) they are \
               left out"
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Default)]
    struct Said(Vec<String>);

    impl Sink for Said {
        fn topic(&mut self, _: usize, _: &Topic) -> Result<bool> {
            Ok(true)
        }

        fn column(&mut self, _: usize, _: usize, _: &Column) -> Result<()> {
            Ok(())
        }

        fn row(&mut self, _: usize, _: Option<i64>, _: &[Value<'_>]) -> Result<()> {
            Ok(())
        }

        fn left_out(&mut self, _: Option<usize>, what: &str) {
            self.0.push(what.into());
        }
    }

    #[test]
    fn rows_that_no_byte_stands_for_are_refused() {
        let row = vec![Value::Missing; 1 << 16];
        let rows = |bytes: u64| {
            let (mut said, size) = (Said::default(), Size::default());
            size.add(bytes);
            let mut budget = Budget::new(&mut said, size);
            (0..4096).take_while(|_| budget.row(0, None, &row).is_ok()).count()
        };
        assert_eq!((rows(0), rows(1 << 21)), (1023, 3071), "64 entries for each byte, beside 2^26");
    }

    #[test]
    fn names_take_memory_whatever_the_size() {
        let (mut said, size) = (Said::default(), Size::default());
        size.add(1 << 40);
        let mut budget = Budget::new(&mut said, size);
        let column = Column::new("x".repeat(1 << 20));
        let n = (0..1000).take_while(|&i| budget.column(0, i, &column).is_ok()).count();
        assert!((500..512).contains(&n), "{n}");
        assert!(budget.is_refusing());
    }

    #[test]
    fn what_is_lost_is_counted_and_told_at_the_end() {
        let mut said = Said::default();
        let mut budget = Budget::new(&mut said, Size::default());
        budget.row(0, None, &[]).unwrap();
        for i in 0..3 {
            budget.lost(Some(0), "messages", &format!("number {i}")).unwrap();
        }
        budget.lost(None, "the end", "cut off at byte 7").unwrap();
        budget.end().unwrap();
        assert_eq!(said.0, ["messages: 3 times, the first: number 0", "the end: cut off at byte 7"]);
    }

    #[test]
    fn a_log_of_which_nothing_can_be_read_is_an_error() {
        let mut said = Said::default();
        let mut budget = Budget::new(&mut said, Size::default());
        budget.lost(None, "lines", "line 1: expected a JSON object").unwrap();
        let error = budget.end().unwrap_err().to_string();
        assert_eq!(error, "nothing can be read: lines: line 1: expected a JSON object");
    }
}

//! Tables as text, as people and programs write them.
//!
//! | module | what |
//! |---|---|
//! | `lines` | the first records, and what their fields look like |
//! | [`dialect`] | one decision over them: separator, names, units, rows, commas |
//! | `names` | names and units of columns |
//! | [`cell`] | one field as a number |

pub mod cell;
pub mod dialect;

mod lines;
mod names;

pub use names::with_unit;

use super::text::{Blanks, Bounded, decoded};
use crate::record::{Sink, Topic, Value};
use anyhow::{Context, Result, bail, ensure};
use cell::{Commas, says};
use csv::{ByteRecord, ReaderBuilder};
use dialect::Dialect;
use lines::{Looks, Separator};
use std::cell::Cell;
use std::io::{BufRead, Cursor, Read};
use std::rc::Rc;

/// Longest record that is read.
const MAX_RECORD: usize = 16 << 20;
/// What a table that lies there is judged by.
const HEAD: usize = 64 << 10;

/// The same, if its lines are long.
const LONGEST_HEAD: usize = 1 << 20;
/// Lines that a stream is waited for, if none looks like a row.
const MOST_WAITED: usize = 4;

/// How much of a table is waited for before it is judged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Patience {
    /// The first rows: the table lies there.
    Rows,
    /// The first row: the table is being written.
    Row,
}

/// Reads all records. Without a line of names, columns are numbered.
///
/// # Errors
/// If a record is too long, or the sink refuses a row. One with another number of fields than there are columns is lost.
pub fn read(mut from: impl BufRead, patience: Patience, sink: &mut dyn Sink) -> Result<()> {
    let (head, is_whole) = head(&mut from, patience)?;
    let Some(dialect) = Dialect::of(&head, is_whole)? else { return Ok(()) };
    if !sink.topic(0, &Topic { name: String::new(), kind: "table".into(), is_timed: false })? {
        return Ok(());
    }
    dialect.columns.iter().enumerate().try_for_each(|(i, column)| sink.column(0, i, column))?;
    dialect.said.iter().for_each(|what| sink.assumed(None, what));
    let mut whole = Cursor::new(head);
    whole.set_position(dialect.rows_at.0 as u64);
    let whole = whole.chain(from);
    match dialect.separator {
        Separator::Byte(byte) => Rows::of(&dialect).read(whole, byte, sink),
        Separator::Blanks => Rows::of(&dialect).read(Blanks::new(whole), b' ', sink),
    }
}

/// What there is to begin with, and whether it is all. A stream is not waited for beyond its first row.
fn head(from: &mut impl BufRead, patience: Patience) -> Result<(Vec<u8>, bool)> {
    let mut head = Vec::new();
    let lines = |head: &[u8]| head.iter().filter(|&&b| b == b'\n').take(3).count();
    while head.len() < HEAD || (lines(&head) < 3 && head.len() < LONGEST_HEAD) {
        let there = from.fill_buf().context("cannot read")?;
        let n = there.len();
        if n == 0 {
            return Ok((head, true));
        }
        head.extend_from_slice(there);
        from.consume(n);
        if patience == Patience::Row && has_row(&head) {
            break;
        }
    }
    Ok((head, false))
}

/// Whether a whole line looks like a row.
fn has_row(head: &[u8]) -> bool {
    let is_row = |separator| {
        let rows = lines::records(head, separator, false);
        let rows: Vec<_> = rows.iter().filter(|row| !row.is_comment()).collect();
        let has_numbers = rows.iter().any(|row| 2 * row.count(Looks::Number) >= row.fields.len());
        head.contains(&b'\n') && (has_numbers || rows.len() > MOST_WAITED)
    };
    [b',', b';', b'\t', b'|'].map(Separator::Byte).into_iter().chain([Separator::Blanks]).any(is_row)
}

/// The rows of a table.
struct Rows<'d> {
    dialect: &'d Dialect,
    commas: Commas,
    /// Whether it is said what commas stand for.
    is_said: bool,
}

impl<'d> Rows<'d> {
    fn of(dialect: &'d Dialect) -> Rows<'d> {
        Rows { dialect, commas: dialect.commas, is_said: dialect.commas.decided.is_some() }
    }

    fn read(mut self, from: impl Read, separator: u8, sink: &mut dyn Sink) -> Result<()> {
        let left = Rc::new(Cell::new(MAX_RECORD));
        let mut reader = ReaderBuilder::new();
        reader.has_headers(false).delimiter(separator).flexible(true);
        let mut reader = reader.from_reader(Bounded::new(from, left.clone()));
        let mut record = ByteRecord::new();
        let before = self.dialect.rows_at.1;
        loop {
            left.set(MAX_RECORD);
            let line = reader.position().line() + before;
            match reader.read_byte_record(&mut record) {
                Ok(true) => {}
                Ok(false) => return Ok(()),
                Err(_) if left.get() == 0 => {
                    bail!(
                        "line {line}: expected at most {MAX_RECORD} bytes, found more; is a quotation mark not closed?"
                    )
                }
                Err(why) => return Err(why).context("expected a table as text"),
            }
            if record.get(0).is_some_and(|field| lines::is_comment(field.trim_ascii_start())) {
                continue;
            }
            let line = record.position().map_or(0, csv::Position::line) + before;
            match self.row(&record, sink).with_context(|| format!("line {line}")) {
                Err(why) if !sink.is_refusing() => sink.lost(None, "lines", &format!("{why:#}"))?,
                told => told?,
            }
        }
    }

    fn row(&mut self, record: &ByteRecord, sink: &mut dyn Sink) -> Result<()> {
        let (width, needed, found) = (self.dialect.columns.len(), self.dialect.needed, record.len());
        if found != width {
            let is_blank = |from: usize| record.iter().skip(from).all(|field| field.trim_ascii().is_empty());
            if is_blank(0) && found < width {
                return Ok(());
            }
            ensure!(
                found >= needed && is_blank(width),
                "expected {width} fields, one for each column, found {found}: mend that line or delete it"
            );
        }
        let values: Vec<Value<'_>>;
        let texts: Vec<String>;
        if std::str::from_utf8(record.as_slice()).is_ok() {
            let field =
                |at| record.get(at).and_then(|field| std::str::from_utf8(field).ok()).unwrap_or_default();
            values = (0..width).map(|at| self.commas.value(field(at))).collect();
        } else {
            texts = (0..width).map(|at| record.get(at).map(decoded).unwrap_or_default()).collect();
            values = texts.iter().map(|text| self.commas.value(text)).collect();
        }
        sink.row(0, None, &values)?;
        self.say_of_commas(record, sink);
        Ok(())
    }

    /// Says what a comma stands for, where a row after the head decides it.
    fn say_of_commas(&mut self, record: &ByteRecord, sink: &mut dyn Sink) {
        let Some(comma) = self.commas.decided.filter(|_| !self.is_said) else { return };
        self.is_said = true;
        let example = record.iter().map(decoded).find(|field| says(field.trim()).is_some());
        sink.assumed(None, &comma.said(example.unwrap_or_default().trim()));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::Column;
    use std::cell::RefCell;
    use std::io;

    /// Lines that come one by one, each when the row before it has been told.
    struct Stream<'a> {
        lines: &'a [&'a str],
        told: &'a RefCell<usize>,
    }

    impl Read for Stream<'_> {
        fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
            let n = self.fill_buf()?.len().min(to.len());
            to[..n].copy_from_slice(&self.fill_buf()?[..n]);
            self.consume(n);
            Ok(n)
        }
    }

    impl BufRead for Stream<'_> {
        fn fill_buf(&mut self) -> io::Result<&[u8]> {
            Ok(self.lines.first().map_or(b"", |line| line.as_bytes()))
        }

        fn consume(&mut self, n: usize) {
            if n > 0 {
                let rest = 4 - self.lines.len();
                assert!(rest < 2 || *self.told.borrow() >= rest - 1, "a row waits for the next one");
                self.lines = &self.lines[1..];
            }
        }
    }

    struct Count<'a>(&'a RefCell<usize>);

    impl Sink for Count<'_> {
        fn topic(&mut self, _: usize, _: &Topic) -> Result<bool> {
            Ok(true)
        }

        fn column(&mut self, _: usize, _: usize, _: &Column) -> Result<()> {
            Ok(())
        }

        fn row(&mut self, _: usize, _: Option<i64>, _: &[Value<'_>]) -> Result<()> {
            *self.0.borrow_mut() += 1;
            Ok(())
        }

        fn left_out(&mut self, _: Option<usize>, _: &str) {}
    }

    #[test]
    fn a_row_of_a_stream_is_told_before_the_next_one_comes() {
        let told = RefCell::new(0);
        let lines = ["time,x\n", "0,1\n", "1,2\n", "2,3\n"];
        read(Stream { lines: &lines, told: &told }, Patience::Row, &mut Count(&told)).unwrap();
        assert_eq!(*told.borrow(), 3);
    }

    #[test]
    fn a_quotation_mark_that_is_not_closed_costs_no_more_than_a_record() {
        let text = io::Cursor::new("a,b\n1,\"").chain(io::repeat(b'x').take(1 << 30));
        let error = read(io::BufReader::new(text), Patience::Rows, &mut Count(&RefCell::new(0))).unwrap_err();
        assert!(error.to_string().contains("expected at most 16777216 bytes"), "{error:#}");
    }
}

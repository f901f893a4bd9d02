//! Data frames of other libraries: a table in memory, read as a file of the same columns is.

use crate::formats::{columnar, csv};
use crate::record::{Sink, Topic, Value};
use anyhow::{Result, ensure};
use std::path::PathBuf;

/// A table in memory.
pub struct Frame {
    /// What it is called in reports and errors.
    pub name: PathBuf,
    /// What it holds.
    pub content: Content,
}

/// What a frame holds.
pub enum Content {
    /// The bytes of an Arrow stream.
    Stream(Vec<u8>),
    /// Columns, each with its name, which may have a unit in brackets.
    Columns(Vec<(String, Cells)>),
}

/// One entry per row.
pub enum Cells {
    /// Numbers; NaN where nothing was recorded.
    Numbers(Vec<f64>),
    /// Whole numbers, such as times in nanoseconds, which a floating-point number would round.
    Integers(Vec<i64>),
    /// Anything, one by one.
    Any(Vec<Cell>),
}

/// One entry.
#[derive(Debug, Clone, PartialEq)]
pub enum Cell {
    /// Nothing was recorded.
    Missing,
    /// A number.
    Number(f64),
    /// A whole number.
    Integer(i64),
    /// A text.
    Text(String),
}

impl Frame {
    /// Tells a sink all columns and rows.
    ///
    /// # Errors
    /// If the stream is damaged, the columns differ in length, or the sink refuses a row.
    pub fn read(&self, sink: &mut dyn Sink) -> Result<()> {
        match &self.content {
            Content::Stream(bytes) => columnar::arrow(&bytes[..], sink),
            Content::Columns(columns) => read(columns, sink),
        }
    }
}

fn read(columns: &[(String, Cells)], sink: &mut dyn Sink) -> Result<()> {
    let rows = columns.first().map_or(0, |(_, cells)| cells.len());
    for (name, cells) in columns {
        let found = cells.len();
        ensure!(
            found == rows,
            "column {name:?}: expected {rows} rows, as the first column has, found {found}"
        );
    }
    if !sink.topic(0, &Topic { name: String::new(), kind: "table".into(), is_timed: false })? {
        return Ok(());
    }
    for (i, (name, _)) in columns.iter().enumerate() {
        sink.column(0, i, &csv::with_unit(name))?;
    }
    let mut row = Vec::with_capacity(columns.len());
    for i in 0..rows {
        row.clear();
        row.extend(columns.iter().map(|(_, cells)| cells.value(i)));
        sink.row(0, None, &row)?;
    }
    Ok(())
}

impl Cells {
    fn len(&self) -> usize {
        match self {
            Cells::Numbers(all) => all.len(),
            Cells::Integers(all) => all.len(),
            Cells::Any(all) => all.len(),
        }
    }

    fn value(&self, row: usize) -> Value<'_> {
        match self {
            Cells::Numbers(all) => all[row].into(),
            Cells::Integers(all) => Value::Integer(all[row]),
            Cells::Any(all) => match &all[row] {
                Cell::Missing => Value::Missing,
                Cell::Number(x) => (*x).into(),
                Cell::Integer(n) => Value::Integer(*n),
                Cell::Text(text) => Value::Text(text),
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chosen::Truth;
    use crate::episodes;
    use crate::mapping::Mapping;
    use crate::source::Log;

    fn read(content: Content) -> Result<Vec<episodes::Recorded>> {
        let mapping = "version = 1\nobservation = [{ column = \"x\" }]\ncommand = [{ column = \"u\" }]\ntask = \"task\"\n\
                       [clock]\ncolumn = \"time\"\nunit = \"ns\"\n";
        let log = Log::Frame(Frame { name: "frame 0".into(), content });
        Ok(episodes::read(&log, &Mapping::parse(mapping)?, Truth::Needed)?.0)
    }

    fn columns(u: Vec<f64>) -> Content {
        let tasks = ["lift", "lift", "lift"].map(|task| Cell::Text(task.into()));
        Content::Columns(vec![
            (
                "time".into(),
                Cells::Integers(vec![
                    1_600_000_000_000_000_001,
                    1_600_000_000_000_000_002,
                    1_600_000_000_000_000_004,
                ]),
            ),
            ("x [m]".into(), Cells::Any(vec![Cell::Integer(1), Cell::Missing, Cell::Number(2.5)])),
            ("u".into(), Cells::Numbers(u)),
            ("task".into(), Cells::Any(tasks.to_vec())),
        ])
    }

    #[test]
    fn columns_are_rows_with_times_that_are_not_rounded() {
        let found = &read(columns(vec![0.5, 0.25, f64::NAN])).unwrap()[0];
        assert_eq!((found.start_nanos, found.task.as_deref()), (1_600_000_000_000_000_001, Some("lift")));
        assert_eq!(found.secs, [0.0, 1e-9, 3e-9]);
        assert_eq!(
            (found.observations.as_slice(), found.commands.as_slice()),
            (&[1.0, 1.0, 2.5][..], &[0.5, 0.25][..])
        );
    }

    #[test]
    fn what_is_wrong_is_named() {
        let why = |content| format!("{:#}", read(content).unwrap_err());
        let short = why(columns(vec![0.5]));
        assert_eq!(
            short,
            "data frame frame 0: column \"u\": expected 3 rows, as the first column has, found 1"
        );
        assert!(
            why(Content::Stream(vec![1, 2, 3])).starts_with("data frame frame 0: expected an Arrow stream")
        );
    }
}

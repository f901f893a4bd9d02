//! Tables as text: fields between commas, semicolons, tabs, bars or blanks, with names in the first line.

use crate::record::{Column, Sink, Topic, Value};
use anyhow::{Context, Result, ensure};
use csv::{ByteRecord, ReaderBuilder};
use std::io::{BufRead, Cursor, Read};

/// Longest record that is read.
const MAX_RECORD: usize = 16 << 20;
/// What the separator is guessed from.
const HEAD: usize = 64 << 10;

/// Reads all records. Without names in the first line, columns are numbered.
///
/// # Errors
/// If a record has another number of fields than the first, or the sink refuses a row.
pub fn read(mut from: impl BufRead, sink: &mut dyn Sink) -> Result<()> {
    let head = head(&mut from)?;
    let Some(separator) = separator(&head) else { return Ok(()) };
    if !sink.topic(0, &Topic { name: String::new(), kind: "table".into(), is_timed: false })? {
        return Ok(());
    }
    let whole = Cursor::new(head).chain(from);
    let mut reader = ReaderBuilder::new();
    reader.has_headers(false).delimiter(separator).flexible(true).comment(Some(b'#'));
    let (mut reader, mut record) = (reader.from_reader(whole), ByteRecord::new());
    let mut width = None;
    while reader.read_byte_record(&mut record).context("expected a table as text")? {
        let line = record.position().map_or(0, csv::Position::line);
        ensure!(
            record.as_slice().len() <= MAX_RECORD,
            "line {line}: expected at most {MAX_RECORD} bytes, found more"
        );
        match width {
            None => {
                width = Some(record.len());
                let has_names = record.iter().all(|field| !field.is_empty() && !is_number(field));
                names(&record, has_names, sink)?;
                if has_names {
                    continue;
                }
            }
            Some(width) => ensure!(
                record.len() == width,
                "line {line}: expected {width} fields, as in the first line, found {}",
                record.len()
            ),
        }
        row(&record, sink).with_context(|| format!("line {line}"))?;
    }
    Ok(())
}

/// What there is to begin with: at least a line, but a stream is not waited for beyond that.
fn head(from: &mut impl BufRead) -> Result<Vec<u8>> {
    let mut head = Vec::new();
    while head.len() < HEAD && !head.contains(&b'\n') {
        let there = from.fill_buf().context("cannot read")?;
        let n = there.len();
        if n == 0 {
            break;
        }
        head.extend_from_slice(there);
        from.consume(n);
    }
    Ok(head)
}

/// The separator that occurs equally often in most of the first lines.
fn separator(head: &[u8]) -> Option<u8> {
    let lines: Vec<&[u8]> = head
        .split(|&b| b == b'\n')
        .filter(|line| !line.iter().all(u8::is_ascii_whitespace) && line[0] != b'#')
        .take(20)
        .collect();
    let first = lines.first()?;
    let count = |line: &[u8], separator: u8| line.iter().filter(|&&b| b == separator).count();
    // The last line may be cut off.
    let alike = |separator: u8| {
        let n = count(first, separator);
        if n == 0 { 0 } else { lines.iter().filter(|line| count(line, separator) == n).count() * n.min(1) }
    };
    let best = *b",;\t|".iter().rev().max_by_key(|&&s| (alike(s), count(first, s))).expect("there are some");
    Some(if alike(best) == 0 { b',' } else { best })
}

fn names(first: &ByteRecord, has_names: bool, sink: &mut dyn Sink) -> Result<()> {
    for (i, field) in first.iter().enumerate() {
        let name = String::from_utf8_lossy(field.trim_ascii()).into_owned();
        let name = if has_names { name } else { i.to_string() };
        sink.column(0, i, &with_unit(&name))?;
    }
    Ok(())
}

/// A unit may stand in brackets after the name: `speed [m/s]` or `speed (m/s)`.
pub fn with_unit(name: &str) -> Column {
    let bracketed = |open: char, close: char| {
        let (name, unit) = name.strip_suffix(close)?.rsplit_once(open)?;
        let name = name.strip_suffix(' ')?.trim_end();
        (!name.is_empty() && !unit.is_empty()).then(|| Column { name: name.into(), unit: Some(unit.into()) })
    };
    bracketed('[', ']').or_else(|| bracketed('(', ')')).unwrap_or_else(|| Column::new(name))
}

fn is_number(field: &[u8]) -> bool {
    !matches!(value(field), Value::Text(_))
}

fn row(record: &ByteRecord, sink: &mut dyn Sink) -> Result<()> {
    let values: Vec<Value<'_>> = record.iter().map(value).collect();
    sink.row(0, None, &values)
}

/// A field as a number, if it is one.
fn value(field: &[u8]) -> Value<'_> {
    let Ok(text) = std::str::from_utf8(field.trim_ascii()) else { return Value::Missing };
    if let Some(n) = whole(text) {
        return Value::Integer(n);
    }
    match text {
        "" | "NA" | "N/A" | "null" | "None" | "-" => Value::Missing,
        "true" | "True" | "TRUE" => Value::Integer(1),
        "false" | "False" | "FALSE" => Value::Integer(0),
        _ => text.parse::<f64>().map_or(Value::Text(text), Value::from),
    }
}

/// A whole number; what has a point is none, and is not tried.
fn whole(text: &str) -> Option<i64> {
    if text.bytes().any(|b| b == b'.') { None } else { text.parse().ok() }
}

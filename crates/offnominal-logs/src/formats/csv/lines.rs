//! The first records of a table, and what each of their fields looks like.

use super::cell::{Comma, Commas, says};
use crate::formats::text::decoded;
use crate::record::Value;
use csv::{ByteRecord, ReaderBuilder};
use offnominal_topics::dates::forms;
use offnominal_topics::words::means_missing;

/// Records that are looked at.
const MOST: usize = 60;

/// What separates fields: a byte, or any number of blanks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Separator {
    /// One byte.
    Byte(u8),
    /// Blanks and tabs.
    Blanks,
}

/// What a field looks like.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Looks {
    /// Nothing.
    Empty,
    /// A word that says that nothing was read.
    Missing,
    /// A number or a date.
    Number,
    /// Anything else.
    Word,
}

/// A record of the head.
#[derive(Debug, Clone)]
pub struct Record {
    /// Where it begins.
    pub at: usize,
    /// Its line, from 1 on.
    pub line: u64,
    /// Its fields.
    pub fields: Vec<String>,
    /// What they look like.
    pub looks: Vec<Looks>,
}

/// The first records of a head; the last one may be cut off, unless the head `is_whole`.
pub fn records(head: &[u8], separator: Separator, is_whole: bool) -> Vec<Record> {
    let end = if is_whole {
        head.len()
    } else {
        head.iter().rposition(|&b| b == b'\n').map_or(head.len(), |at| at + 1)
    };
    match separator {
        Separator::Byte(byte) => by_byte(&head[..end], byte),
        Separator::Blanks => by_blanks(&head[..end]),
    }
}

fn by_byte(head: &[u8], separator: u8) -> Vec<Record> {
    let mut reader = ReaderBuilder::new();
    reader.has_headers(false).delimiter(separator).flexible(true);
    let (mut reader, mut record, mut found) = (reader.from_reader(head), ByteRecord::new(), Vec::new());
    while found.len() < MOST && matches!(reader.read_byte_record(&mut record), Ok(true)) {
        let place = record.position().map_or((0, 0), |at| (at.byte() as usize, at.line()));
        found.push(Record::new(place, record.iter().map(decoded).collect()));
    }
    found
}

fn by_blanks(head: &[u8]) -> Vec<Record> {
    let mut at = 0;
    let mut found = Vec::new();
    for (line, bytes) in (1..).zip(head.split_inclusive(|&b| b == b'\n')).take(MOST) {
        let fields: Vec<String> = decoded(bytes).split_ascii_whitespace().map(str::to_string).collect();
        if !fields.is_empty() {
            found.push(Record::new((at, line), fields));
        }
        at += bytes.len();
    }
    found
}

impl Record {
    fn new((at, line): (usize, u64), fields: Vec<String>) -> Record {
        let looks = fields.iter().map(|field| looks(field)).collect();
        Record { at, line, fields, looks }
    }

    /// Whether it is no row: what follows the sign is for people, unless a spreadsheet means an error by it.
    pub fn is_comment(&self) -> bool {
        self.fields.first().is_some_and(|field| is_comment(field.trim_ascii_start().as_bytes()))
    }

    /// How many of its fields look like that.
    pub fn count(&self, wanted: Looks) -> usize {
        self.looks.iter().filter(|looks| **looks == wanted).count()
    }

    /// Whether all fields from a place on are empty.
    pub fn is_empty_from(&self, place: usize) -> bool {
        self.fields.iter().skip(place).all(|field| field.trim_ascii().is_empty())
    }
}

/// Whether a line that begins so is a comment.
pub fn is_comment(field: &[u8]) -> bool {
    field.starts_with(b"#") && !std::str::from_utf8(field).is_ok_and(means_missing)
}

fn looks(field: &str) -> Looks {
    let text = field.trim();
    if text.is_empty() {
        return Looks::Empty;
    }
    match (Commas { decided: None, usual: Comma::Decimal }).value(text) {
        Value::Missing => Looks::Missing,
        Value::Number(_) | Value::Integer(_) => Looks::Number,
        Value::Text(_) if means_missing(text) => Looks::Missing,
        Value::Text(_) if says(text).is_some() || is_date(text) => Looks::Number,
        Value::Text(_) => Looks::Word,
    }
}

/// Whether a text is a date or a time of day. Most texts are none, and are not tried.
fn is_date(text: &str) -> bool {
    let count = |is: fn(&u8) -> bool| text.bytes().filter(is).count();
    let (digits, commas) = (count(u8::is_ascii_digit), count(|b| *b == b','));
    let is_strange = |c: char| !(c.is_alphanumeric() || " :-/.,+[]_".contains(c));
    let may_be = digits >= 3 && commas <= 1 && text.len() < 64 && !text.contains(is_strange);
    may_be && forms().iter().any(|form| form.nanos(text).is_some())
}

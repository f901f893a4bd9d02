//! How a table is written, decided once over its first records: what separates fields, which line has the names and the units,
//! where the rows begin, and what a comma in a number stands for.

use super::cell::{Comma, Commas, Says, has_decimals, says};
use super::lines::{Looks, Record, Separator, records};
use super::names;
use crate::record::Column;
use anyhow::{Result, ensure};

/// Separators, the likelier ones first.
const SEPARATORS: [Separator; 5] = [
    Separator::Byte(b','),
    Separator::Byte(b';'),
    Separator::Byte(b'\t'),
    Separator::Byte(b'|'),
    Separator::Blanks,
];
/// Lines before the rows, at most.
const MOST_BEFORE: usize = 50;

/// How a table is written.
#[derive(Debug)]
pub struct Dialect {
    /// What separates fields.
    pub separator: Separator,
    /// The columns.
    pub columns: Vec<Column>,
    /// Columns that each row must have; those after them have no name.
    pub needed: usize,
    /// Where the rows begin, and in which line.
    pub rows_at: (usize, u64),
    /// What commas in numbers stand for.
    pub commas: Commas,
    /// What was taken for granted.
    pub said: Vec<String>,
}

/// The lines before the rows.
#[derive(Debug, Default)]
pub struct Before {
    /// The record with the names.
    pub names: Option<usize>,
    /// The record with the units.
    pub units: Option<usize>,
    /// The first row.
    pub first: usize,
}

impl Dialect {
    /// That of a head; `None` if there is nothing but comments.
    ///
    /// # Errors
    /// If names and rows do not fit together.
    pub fn of(head: &[u8], is_whole: bool) -> Result<Option<Dialect>> {
        let mut best: Option<(f64, Separator)> = None;
        for separator in SEPARATORS {
            let fit = fit(&split(head, separator, is_whole).1);
            if best.is_none_or(|(most, _)| fit > most + 1e-9) {
                best = Some((fit, separator));
            }
        }
        let separator = best.map_or(SEPARATORS[0], |(_, separator)| separator);
        let (comments, rows) = &split(head, separator, is_whole);
        if rows.is_empty() {
            return Ok(None);
        }
        Table { head, separator, comments, rows, width: width(rows) }.dialect().map(Some)
    }
}

/// Comments and other records.
fn split(head: &[u8], separator: Separator, is_whole: bool) -> (Vec<Record>, Vec<Record>) {
    records(head, separator, is_whole).into_iter().partition(Record::is_comment)
}

/// How well a separator fits: the share of records that are equally wide, and of fields that are numbers.
fn fit(rows: &[Record]) -> f64 {
    let width = width(rows);
    let alike: Vec<&Record> = rows.iter().filter(|row| row.fields.len() == width).collect();
    let count = |looks| alike.iter().map(|row| row.count(looks)).sum::<usize>() as f64;
    let (numbers, words) = (count(Looks::Number), count(Looks::Word));
    let share = alike.len() as f64 / rows.len().max(1) as f64;
    let good = numbers / (numbers + words).max(1.0);
    share * (0.3 + good) * if width > 1 { 1.0 } else { 0.3 }
}

/// How many fields most records have; those with numbers decide, and the earlier ones of equally many.
fn width(rows: &[Record]) -> usize {
    let has_numbers = rows.iter().any(|row| row.count(Looks::Number) > 0);
    let counted = rows.iter().filter(|row| !has_numbers || row.count(Looks::Number) > 0);
    let mut counts: Vec<(usize, usize)> = Vec::new();
    for row in counted {
        match counts.iter_mut().find(|(width, _)| *width == row.fields.len()) {
            Some((_, n)) => *n += 1,
            None => counts.push((row.fields.len(), 1)),
        }
    }
    // The last of equal ones is taken, so the earliest stands last.
    counts.into_iter().rev().max_by_key(|&(_, n)| n).map_or(0, |(width, _)| width)
}

struct Table<'h> {
    head: &'h [u8],
    separator: Separator,
    comments: &'h [Record],
    rows: &'h [Record],
    width: usize,
}

impl Table<'_> {
    fn dialect(&self) -> Result<Dialect> {
        let mut said = Vec::new();
        let before = self.before();
        let first = &self.rows[before.first..];
        let commented = if before.names.is_none() { self.commented(before.first) } else { None };
        let line = before.names.map_or(0, |at| self.rows[at].line);
        let fields = before.names.map(|at| self.rows[at].fields.clone()).or(commented);
        let is_named = fields.is_some();
        let mut fields = match fields {
            Some(fields) => self.fitted(fields, first, line, &mut said)?,
            None => vec![String::new(); self.width],
        };
        if !is_named {
            said.push("no line has names: columns are numbered from 0".into());
        }
        let unit_fields = before.units.map(|at| self.rows[at].fields.as_slice());
        let needed =
            fields.len() - usize::from(is_named && fields.last().is_some_and(|name| name.trim().is_empty()));
        let columns = names::columns(&mut fields, is_named, unit_fields, &mut said);
        self.say_of_lines(&before, &mut said);
        let rows_at = first.first().map_or((self.head.len(), 0), |row| (row.at, row.line - 1));
        let commas = self.commas(first, &mut said);
        Ok(Dialect { separator: self.separator, columns, needed, rows_at, commas, said })
    }

    /// Which lines come before the rows.
    fn before(&self) -> Before {
        let fits = |row: &Record| row.fields.len().abs_diff(self.width) <= 1;
        for (at, row) in self.rows.iter().enumerate().take(MOST_BEFORE).filter(|(_, row)| fits(row)) {
            if self.is_names(at) {
                return self.below(at);
            }
            let filled = row.count(Looks::Number) + row.count(Looks::Missing) + row.count(Looks::Word);
            if row.count(Looks::Number) > 0 && 2 * filled > self.width {
                return self.without_names(at);
            }
        }
        self.without_names(self.rows.iter().position(|row| row.fields.len() == self.width).unwrap_or(0))
    }

    /// Words right above the first row are names, however many there are.
    fn without_names(&self, first: usize) -> Before {
        let is_words = |row: &Record| row.fields.len() > 1 && row.count(Looks::Word) == row.fields.len();
        let names = first.checked_sub(1).filter(|&at| is_words(&self.rows[at]));
        Before { names, first, ..Before::default() }
    }

    /// Whether a record has names: words and no numbers; or numbers that count, above a column of numbers beside a word or
    /// nothing, as pandas writes columns without names.
    fn is_names(&self, at: usize) -> bool {
        let row = &self.rows[at];
        let words = row.count(Looks::Word);
        if row.count(Looks::Number) == 0 {
            return words > 0 && 2 * words >= self.width.min(row.fields.len());
        }
        let numbers: Vec<i64> = row.fields.iter().filter_map(|field| field.trim().parse().ok()).collect();
        let counts = numbers.len() == row.count(Looks::Number)
            && matches!(numbers.first(), Some(0 | 1))
            && numbers.windows(2).all(|pair| pair[1] == pair[0] + 1);
        let others = words + row.count(Looks::Empty);
        let below = self.rows.get(at + 1);
        let is_beside = |(looks, below): (&Looks, &Looks)| {
            matches!(looks, Looks::Word | Looks::Empty) && *below == Looks::Number
        };
        let is_above = below.is_some_and(|below| row.looks.iter().zip(&below.looks).any(is_beside));
        counts && (1..=2).contains(&others) && is_above
    }

    /// What follows the names: perhaps units, perhaps other words, and then the rows.
    fn below(&self, names: usize) -> Before {
        let is_number = |column: usize| {
            let looks: Vec<Looks> =
                self.rows[names + 1..].iter().filter_map(|row| row.looks.get(column).copied()).collect();
            let count = |wanted| looks.iter().filter(|looks| **looks == wanted).count();
            count(Looks::Number) > count(Looks::Word)
        };
        let numbers: Vec<usize> = (0..self.width).filter(|&column| is_number(column)).collect();
        let is_wordy = |row: &Record| {
            let is_word = |column: &&usize| row.looks.get(**column) == Some(&Looks::Word);
            row.count(Looks::Number) == 0 && numbers.iter().any(|column| is_word(&column))
        };
        let wordy = self.rows[names + 1..].iter().take_while(|row| is_wordy(row)).count();
        Before { names: Some(names), units: (wordy > 0).then_some(names + 1), first: names + 1 + wordy }
    }

    /// The names in the last comment before the first row, if it has as many fields.
    fn commented(&self, first: usize) -> Option<Vec<String>> {
        let before = self.rows.get(first).map_or(usize::MAX, |row| row.at);
        let line = self.comments.iter().rev().find(|comment| comment.at < before)?;
        let end =
            self.head[line.at..].iter().position(|&b| b == b'\n').map_or(self.head.len(), |n| line.at + n);
        let text = self.head[line.at..end].trim_ascii().trim_ascii_start();
        let text = text.iter().position(|&b| b != b'#').map_or(&text[..0], |at| &text[at..]);
        let names =
            SEPARATORS.into_iter().filter_map(|separator| records(text, separator, true).into_iter().next());
        let is_like = |record: &Record| record.fields.len() == self.width && record.count(Looks::Number) == 0;
        let mut likely: Vec<Record> = names.filter(is_like).collect();
        // One name for one column may be any text.
        likely.retain(|record| self.width > 1 || record.fields[0].len() < 64);
        likely.into_iter().next().map(|record| record.fields)
    }

    /// As many names as the rows have fields.
    fn fitted(
        &self,
        names: Vec<String>,
        rows: &[Record],
        line: u64,
        said: &mut Vec<String>,
    ) -> Result<Vec<String>> {
        let (n, width) = (names.len(), self.width);
        let is_empty = |name: &String| name.trim().is_empty();
        if rows.is_empty() || n == width || rows.iter().all(|row| row.is_empty_from(n)) {
            return Ok(names);
        }
        if n == width + 1 && names.last().is_some_and(is_empty) {
            return Ok(names);
        }
        let is_index =
            |row: &Record| row.looks.first().is_some_and(|looks| *looks == Looks::Word) || counts(rows);
        ensure!(
            n + 1 == width && n > 0 && rows.iter().all(is_index),
            "line {line}: expected as many names as the rows below have fields, {width}, found {n}: mend that line"
        );
        said.push("the rows have one field more than there are names: the first one is their index".into());
        Ok(std::iter::once(String::new()).chain(names).collect())
    }

    fn say_of_lines(&self, before: &Before, said: &mut Vec<String>) {
        let of = |at: usize| self.rows[at].line;
        if let Some(units) = before.units {
            said.push(format!("line {} has units", of(units)));
            (units + 1..before.first)
                .for_each(|at| said.push(format!("line {} has words and is no row", of(at))));
        }
        let n = before.names.unwrap_or(before.first);
        if n > 0 {
            said.push(format!("{n} lines before the table are no rows, the first of them line {}", of(0)));
        }
    }

    /// What commas in numbers stand for, by all numbers of the head.
    fn commas(&self, rows: &[Record], said: &mut Vec<String>) -> Commas {
        let fields = || rows.iter().flat_map(|row| &row.fields).map(|field| field.trim());
        // Where a point stands before decimals, a comma does not, unless a number says so.
        let is_thousands = self.separator == Separator::Byte(b',') || fields().any(has_decimals);
        let usual = if is_thousands { Comma::Thousands } else { Comma::Decimal };
        let of = |wanted: Says| fields().find(|field| says(field) == Some(wanted));
        let (decimal, thousands) = (of(Says::Only(Comma::Decimal)), of(Says::Only(Comma::Thousands)));
        let either = of(Says::Either);
        let (decided, example) = match (decimal, thousands, either) {
            (Some(text), None, _) => (Some(Comma::Decimal), text),
            (None, Some(text), _) => (Some(Comma::Thousands), text),
            (None, None, Some(text)) => (Some(usual), text),
            // Those that can be read in one way only are read so until one speaks against it.
            (Some(_), Some(_), _) | (None, None, None) => (None, ""),
        };
        said.extend(decided.map(|comma| comma.said(example)));
        Commas { decided, usual }
    }
}

/// Whether the first fields count rows.
fn counts(rows: &[Record]) -> bool {
    let firsts: Option<Vec<i64>> = rows.iter().map(|row| row.fields.first()?.trim().parse().ok()).collect();
    firsts.is_some_and(|firsts| firsts.windows(2).all(|pair| pair[1] == pair[0] + 1))
}

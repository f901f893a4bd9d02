//! The data sets of a group of HDF5 that hold channels, and their rows.

use crate::record::{Column, Sink, Topic};
use anyhow::{Context as _, Result, bail, ensure};
use hdf5_pure::{DType, Dataset, DatatypeByteOrder, Group};
use offnominal_files::half;
use offnominal_topics::nested::MAX_ITEMS;
use offnominal_topics::record::Charge;
use std::ops::Range;

/// Rows that are read at once, and numbers of all data sets in them.
const ROWS: u64 = 4096;
const NUMBERS: u64 = 1 << 22;
/// Bytes of a chunk, which is decompressed as a whole.
const MAX_CHUNK: u64 = 256 << 20;
/// Levels of groups, at most.
pub const MAX_DEPTH: usize = 16;
/// A link takes a few bytes and may lead to any group or data set, so following it is work.
const OF_LINK: Charge = Charge::Work(4096);

/// A data set with its name, and how many numbers a row has.
pub struct Part {
    /// Its name in the topic.
    pub name: String,
    /// Numbers in a row.
    pub width: usize,
    data: Dataset,
    half: Option<DatatypeByteOrder>,
}

/// The topic of a group.
pub fn topic(path: &str) -> Topic {
    Topic { name: path.into(), kind: "HDF5 group".into(), is_timed: false }
}

/// The path of a group in another one.
pub fn below(path: &str, name: &str) -> String {
    if path.is_empty() { name.into() } else { format!("{path}/{name}") }
}

/// The groups in a group. What cannot be opened is lost.
///
/// # Errors
/// If the sink refuses more of them.
pub fn groups(group: &Group, path: &str, sink: &mut dyn Sink) -> Result<Vec<String>> {
    match group.groups() {
        Ok(found) => Ok(found),
        Err(why) => {
            sink.lost(None, "groups", &format!("{path:?}: {why}"))?;
            Ok(Vec::new())
        }
    }
}

/// A group in a group; none if it cannot be opened, or too many groups lie around it.
///
/// # Errors
/// If the sink refuses one more.
pub fn open(
    group: &Group,
    name: &str,
    path: &str,
    depth: usize,
    sink: &mut dyn Sink,
) -> Result<Option<Group>> {
    sink.charge(OF_LINK)?;
    if depth >= MAX_DEPTH {
        sink.lost(None, &format!("groups below {MAX_DEPTH} levels"), path)?;
        return Ok(None);
    }
    match group.group(name) {
        Ok(found) => Ok(Some(found)),
        Err(why) => {
            sink.lost(None, "groups", &format!("{path:?}: {why}"))?;
            Ok(None)
        }
    }
}

/// The data sets of a group that hold channels, each with its number of rows and named after `prefix`. What cannot be read
/// is lost, and costs no other data set.
///
/// # Errors
/// If the sink refuses more of them.
pub fn parts(group: &Group, path: &str, prefix: &str, sink: &mut dyn Sink) -> Result<Vec<(u64, Part)>> {
    let mut parts = Vec::new();
    let names = match group.datasets() {
        Ok(names) => names,
        Err(why) => {
            sink.lost(None, "data sets of a group", &format!("{path:?}: {why}"))?;
            return Ok(parts);
        }
    };
    for name in names {
        sink.charge(OF_LINK)?;
        let place = below(path, &name);
        match part(group, &name, below(prefix, &name)) {
            Ok(Ok(found)) => parts.push(found),
            Ok(Err(what)) => sink.left_out(None, &format!("{place}: {what} values that are no channels")),
            Err(why) => sink.lost(None, "data sets", &format!("{place}: {why:#}"))?,
        }
    }
    Ok(parts)
}

/// A data set with its number of rows; its shape if it holds no channels.
fn part(group: &Group, name: &str, full: String) -> Result<Result<(u64, Part), String>> {
    let data = group.dataset(name)?;
    let shape = data.shape()?;
    let width = shape.iter().skip(1).try_fold(1u64, |n, &m| n.checked_mul(m));
    let (Some(&rows), Some(width)) = (shape.first(), width) else { return Ok(Err(format!("{shape:?}"))) };
    let half = match data.dtype()? {
        _ if width > MAX_ITEMS as u64 => return Ok(Err(format!("{shape:?}"))),
        DType::String | DType::VariableLengthString | DType::Compound(_) | DType::ObjectReference => {
            return Ok(Err(format!("{shape:?}")));
        }
        DType::Other(kind) => {
            Some(half::order(&kind).context("expected whole or floating-point numbers, found another type")?)
        }
        DType::Array(..) => bail!("expected numbers, found arrays"),
        _ => None,
    };
    let chunk = data.chunk_shape()?.unwrap_or_default();
    let bytes = chunk.iter().try_fold(data.element_size()?, |n, &m| n.checked_mul(m));
    ensure!(
        bytes.is_some_and(|bytes| bytes <= MAX_CHUNK),
        "expected chunks of at most {MAX_CHUNK} bytes, found {chunk:?} numbers"
    );
    let part = Part { name: full, data, half, width: width as usize };
    // What cannot be decoded shows here.
    part.block(0, rows.min(1))?;
    Ok(Ok((rows, part)))
}

/// Reads rows in blocks: `row` is told a place in the blocks of all parts. Where a part cannot be read any more, its values
/// are missing.
///
/// # Errors
/// If no part can be read, or `row` says so.
pub fn blocks<'p>(
    rows: Range<u64>,
    parts: impl IntoIterator<Item = &'p Part>,
    sink: &mut dyn Sink,
    mut row: impl FnMut(usize, &[Vec<f64>], &mut dyn Sink) -> Result<()>,
) -> Result<()> {
    let parts: Vec<&Part> = parts.into_iter().collect();
    let width = parts.iter().map(|part| part.width as u64).sum::<u64>().max(1);
    let most = (NUMBERS / width).clamp(1, ROWS);
    let (mut is_lost, mut from) = (vec![false; parts.len()], rows.start);
    while from < rows.end && (parts.is_empty() || is_lost.contains(&false)) {
        let n = most.min(rows.end - from);
        let mut found = Vec::with_capacity(parts.len());
        for (part, is_lost) in parts.iter().zip(&mut is_lost) {
            let block = if *is_lost { Vec::new() } else { part.told(from, n, is_lost, sink)? };
            found.push(if block.is_empty() { vec![f64::NAN; n as usize * part.width] } else { block });
        }
        (0..n as usize).try_for_each(|at| row(at, &found, sink))?;
        from += n;
    }
    Ok(())
}

impl Part {
    /// Its columns: one, or one for each number of a row.
    pub fn columns(&self) -> impl Iterator<Item = Column> + '_ {
        let name = |i| if self.width == 1 { self.name.clone() } else { format!("{}[{i}]", self.name) };
        (0..self.width).map(move |i| Column::new(name(i)))
    }

    /// One row of a block.
    pub fn row<'b>(&self, block: &'b [f64], row: usize) -> &'b [f64] {
        &block[row * self.width..(row + 1) * self.width]
    }

    /// A block, or none from where it is lost.
    fn told(&self, from: u64, n: u64, is_lost: &mut bool, sink: &mut dyn Sink) -> Result<Vec<f64>> {
        self.block(from, n).or_else(|why| {
            *is_lost = true;
            sink.lost(None, "rows of a data set", &format!("{}, from row {from} on: {why:#}", self.name))?;
            Ok(Vec::new())
        })
    }

    fn block(&self, from: u64, n: u64) -> Result<Vec<f64>> {
        let block = match self.half {
            None => self.data.read_f64_rows(from, n)?,
            Some(order) => half::of_bytes(&self.data.read_raw_rows(from, n)?, order).map(f64::from).collect(),
        };
        let (expected, found) = (n as usize * self.width, block.len());
        ensure!(found == expected, "expected {expected} numbers in {n} rows, found {found}");
        Ok(block)
    }
}

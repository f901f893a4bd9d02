//! HDF5: the data sets of a group that have the same number of rows are one topic. Groups that are numbered, such as
//! Minari's `episode_0`, `episode_1` or robomimic's `demo_0`, are the episodes of one topic.

use super::hdf5_episodes::{Episodes, numbered};
use super::nested::MAX_ITEMS;
use crate::record::{Column, Sink, Topic, Value};
use anyhow::{Context, Result, ensure};
use hdf5_pure::{Dataset, File, Group};
use std::collections::BTreeMap;
use std::ops::Range;
use std::path::Path;

/// Rows that are read at once.
const ROWS: u64 = 4096;
/// Levels of groups, at most.
pub const MAX_DEPTH: usize = 16;

/// Reads a file.
///
/// # Errors
/// If it is damaged, or the sink refuses a row.
pub fn read(path: &Path, sink: &mut dyn Sink) -> Result<()> {
    let file = File::open_streaming(path).context("expected an HDF5 file")?;
    Walk { n_topics: 0, sink }.group(&file.root(), "", 0)
}

struct Walk<'s> {
    n_topics: usize,
    sink: &'s mut dyn Sink,
}

/// A data set with its name, and how many numbers a row has.
pub struct Part {
    /// Its name in the topic.
    pub name: String,
    /// Numbers in a row.
    pub width: usize,
    data: Dataset,
}

impl Walk<'_> {
    fn group(&mut self, group: &Group, path: &str, depth: usize) -> Result<()> {
        ensure!(depth < MAX_DEPTH, "expected at most {MAX_DEPTH} levels of groups, found more at {path}");
        let mut tables: BTreeMap<u64, Vec<Part>> = BTreeMap::new();
        for (rows, part) in parts(group, path, "", self.sink)? {
            tables.entry(rows).or_default().push(part);
        }
        for (rows, parts) in tables {
            self.table(path, rows, &parts).with_context(|| format!("group {path:?}"))?;
        }
        let groups = group.groups().with_context(|| format!("group {path:?}"))?;
        let (episodes, others) = numbered(groups);
        if !episodes.is_empty() {
            let number = self.topic();
            Episodes::new(number, self.sink)
                .read(group, path, &episodes, depth)
                .with_context(|| format!("group {path:?}"))?;
        }
        for name in others {
            let below = below(path, &name);
            self.group(&group.group(&name).with_context(|| below.clone())?, &below, depth + 1)?;
        }
        Ok(())
    }

    fn topic(&mut self) -> usize {
        self.n_topics += 1;
        self.n_topics - 1
    }

    fn table(&mut self, path: &str, rows: u64, parts: &[Part]) -> Result<()> {
        let number = self.topic();
        if !self.sink.topic(number, &topic(path))? {
            return Ok(());
        }
        for (i, column) in parts.iter().flat_map(Part::columns).enumerate() {
            self.sink.column(number, i, &column)?;
        }
        let mut values = Vec::new();
        blocks(0..rows, parts, |row, blocks| {
            values.clear();
            for (part, block) in parts.iter().zip(blocks) {
                values.extend(part.row(block, row).iter().map(|&x| Value::from(x)));
            }
            self.sink.row(number, None, &values)
        })
    }
}

/// The topic of a group.
pub fn topic(path: &str) -> Topic {
    Topic { name: path.into(), kind: "HDF5 group".into(), is_timed: false }
}

/// The path of a group in another one.
pub fn below(path: &str, name: &str) -> String {
    if path.is_empty() { name.into() } else { format!("{path}/{name}") }
}

/// The data sets of a group that hold channels, each with its number of rows and named after `prefix`.
///
/// # Errors
/// If the group is damaged.
pub fn parts(group: &Group, path: &str, prefix: &str, sink: &mut dyn Sink) -> Result<Vec<(u64, Part)>> {
    let mut parts = Vec::new();
    for name in group.datasets().with_context(|| format!("group {path:?}"))? {
        let data = group.dataset(&name).with_context(|| format!("{path}/{name}"))?;
        let shape = data.shape().with_context(|| format!("{path}/{name}"))?;
        let width = shape.iter().skip(1).try_fold(1u64, |n, &m| n.checked_mul(m));
        match (shape.first(), width) {
            (Some(&rows), Some(width)) if width <= MAX_ITEMS as u64 && is_number(&data) => {
                parts.push((rows, Part { name: below(prefix, &name), data, width: width as usize }));
            }
            _ => sink.left_out(None, &format!("{path}/{name}: {shape:?} values that are no channels")),
        }
    }
    Ok(parts)
}

/// Reads rows in blocks: `row` is told a place in the blocks of all parts.
///
/// # Errors
/// If a data set is damaged or shorter than it says, or `row` says so.
pub fn blocks<'p>(
    rows: Range<u64>,
    parts: impl IntoIterator<Item = &'p Part>,
    mut row: impl FnMut(usize, &[Vec<f64>]) -> Result<()>,
) -> Result<()> {
    let parts: Vec<&Part> = parts.into_iter().collect();
    let mut from = rows.start;
    while from < rows.end {
        let n = ROWS.min(rows.end - from);
        let blocks: Vec<Vec<f64>> = parts.iter().map(|part| part.block(from, n)).collect::<Result<_>>()?;
        (0..n as usize).try_for_each(|at| row(at, &blocks))?;
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

    fn block(&self, from: u64, n: u64) -> Result<Vec<f64>> {
        let block = self.data.read_f64_rows(from, n).with_context(|| self.name.clone())?;
        let (expected, found) = (n as usize * self.width, block.len());
        ensure!(found == expected, "{}: expected {expected} numbers in {n} rows, found {found}", self.name);
        Ok(block)
    }
}

fn is_number(data: &Dataset) -> bool {
    data.read_f64_rows(0, 0).is_ok() && data.shape().is_ok_and(|shape| !shape.is_empty())
}

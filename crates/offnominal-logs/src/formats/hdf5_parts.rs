//! The data sets of a group of HDF5 that hold channels, and their rows.

use crate::record::{Column, Sink, Topic};
use anyhow::{Context, Result, ensure};
use hdf5_pure::{Dataset, Group};
use offnominal_topics::nested::MAX_ITEMS;
use std::ops::Range;

/// Rows that are read at once.
const ROWS: u64 = 4096;
/// Levels of groups, at most.
pub const MAX_DEPTH: usize = 16;

/// A data set with its name, and how many numbers a row has.
pub struct Part {
    /// Its name in the topic.
    pub name: String,
    /// Numbers in a row.
    pub width: usize,
    data: Dataset,
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

//! HDF5, and Minari's data sets in it: the data sets of a group that have the same number of rows are one topic.

use super::nested::MAX_ITEMS;
use crate::record::{Column, Sink, Topic, Value};
use anyhow::{Context, Result, ensure};
use hdf5_pure::{Dataset, File, Group};
use std::collections::BTreeMap;
use std::path::Path;

/// Rows that are read at once.
const ROWS: u64 = 4096;
/// Levels of groups, at most.
const MAX_DEPTH: usize = 16;

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
struct Part {
    name: String,
    data: Dataset,
    width: usize,
}

impl Walk<'_> {
    fn group(&mut self, group: &Group, path: &str, depth: usize) -> Result<()> {
        ensure!(depth < MAX_DEPTH, "expected at most {MAX_DEPTH} levels of groups, found more at {path}");
        for (rows, parts) in self.tables(group, path)? {
            self.table(path, rows, &parts).with_context(|| format!("group {path:?}"))?;
        }
        let mut groups = group.groups().with_context(|| format!("group {path:?}"))?;
        // `episode_10` comes after `episode_9`.
        groups.sort_by_cached_key(|name| natural(name));
        for name in groups {
            let below = if path.is_empty() { name.clone() } else { format!("{path}/{name}") };
            self.group(&group.group(&name).with_context(|| below.clone())?, &below, depth + 1)?;
        }
        Ok(())
    }

    /// The data sets of a group by their number of rows.
    fn tables(&mut self, group: &Group, path: &str) -> Result<BTreeMap<u64, Vec<Part>>> {
        let mut tables: BTreeMap<u64, Vec<Part>> = BTreeMap::new();
        for name in group.datasets().with_context(|| format!("group {path:?}"))? {
            let data = group.dataset(&name).with_context(|| format!("{path}/{name}"))?;
            let shape = data.shape().with_context(|| format!("{path}/{name}"))?;
            let width = shape.iter().skip(1).try_fold(1u64, |n, &m| n.checked_mul(m));
            match (shape.first(), width) {
                (Some(&rows), Some(width)) if width <= MAX_ITEMS as u64 && is_number(&data) => {
                    tables.entry(rows).or_default().push(Part { name, data, width: width as usize });
                }
                _ => {
                    self.sink.left_out(None, &format!("{path}/{name}: {shape:?} values that are no channels"))
                }
            }
        }
        Ok(tables)
    }

    fn table(&mut self, path: &str, rows: u64, parts: &[Part]) -> Result<()> {
        let number = self.n_topics;
        self.n_topics += 1;
        let name = if path.is_empty() { String::new() } else { path.to_string() };
        if !self.sink.topic(number, &Topic { name, kind: "HDF5 group".into(), is_timed: false })? {
            return Ok(());
        }
        let names = parts.iter().flat_map(|part| (0..part.width).map(move |i| part.column(i)));
        for (i, column) in names.enumerate() {
            self.sink.column(number, i, &column)?;
        }
        let mut from = 0;
        while from < rows {
            let n = ROWS.min(rows - from);
            let read = |part: &Part| part.data.read_f64_rows(from, n).with_context(|| part.name.clone());
            let blocks: Vec<Vec<f64>> = parts.iter().map(read).collect::<Result<_>>()?;
            for (part, block) in parts.iter().zip(&blocks) {
                let (expected, found) = (n as usize * part.width, block.len());
                ensure!(
                    found == expected,
                    "{}: expected {expected} numbers in {n} rows, found {found}",
                    part.name
                );
            }
            for row in 0..n as usize {
                let of = |(part, block): (&Part, &Vec<f64>)| {
                    block[row * part.width..(row + 1) * part.width]
                        .iter()
                        .map(|&x| Value::from(x))
                        .collect::<Vec<_>>()
                };
                let values: Vec<Value<'_>> = parts.iter().zip(&blocks).flat_map(of).collect();
                self.sink.row(number, None, &values)?;
            }
            from += n;
        }
        Ok(())
    }
}

impl Part {
    fn column(&self, i: usize) -> Column {
        Column::new(if self.width == 1 { self.name.clone() } else { format!("{}[{i}]", self.name) })
    }
}

fn is_number(data: &Dataset) -> bool {
    data.read_f64_rows(0, 0).is_ok() && data.shape().is_ok_and(|shape| !shape.is_empty())
}

/// A name with its numbers by their value.
fn natural(name: &str) -> (String, u64) {
    let digits = name.len() - name.trim_end_matches(|c: char| c.is_ascii_digit()).len();
    let (text, number) = name.split_at(name.len() - digits);
    (text.into(), number.parse().unwrap_or(0))
}

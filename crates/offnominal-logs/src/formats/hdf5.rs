//! HDF5: the data sets of a group that have the same number of rows are one topic. Groups that are numbered, such as
//! Minari's `episode_0`, `episode_1` or robomimic's `demo_0`, are the episodes of one topic.

use super::hdf5_episodes::{Episodes, numbered};
use super::hdf5_parts::{Part, below, blocks, groups, open, parts, topic};
use crate::record::{Sink, Value};
use anyhow::{Context, Result};
use hdf5_pure::{File, Group};
use std::collections::BTreeMap;
use std::path::Path;

/// Reads a file. What of it cannot be read is lost, and costs nothing else.
///
/// # Errors
/// If it is none, or the sink refuses what it is told.
pub fn read(path: &Path, sink: &mut dyn Sink) -> Result<()> {
    let file = File::open_streaming(path).context("expected an HDF5 file")?;
    Walk { n_topics: 0, sink }.group(&file.root(), "", 0)
}

struct Walk<'s> {
    n_topics: usize,
    sink: &'s mut dyn Sink,
}

impl Walk<'_> {
    fn group(&mut self, group: &Group, path: &str, depth: usize) -> Result<()> {
        let mut tables: BTreeMap<u64, Vec<Part>> = BTreeMap::new();
        for (rows, part) in parts(group, path, "", self.sink)? {
            tables.entry(rows).or_default().push(part);
        }
        for (rows, parts) in tables {
            self.table(path, rows, &parts).with_context(|| format!("group {path:?}"))?;
        }
        let (episodes, others) = numbered(groups(group, path, self.sink)?);
        if !episodes.is_empty() {
            let number = self.topic();
            Episodes::new(number, self.sink)
                .read(group, path, &episodes, depth)
                .with_context(|| format!("group {path:?}"))?;
        }
        for name in others {
            let below = below(path, &name);
            if let Some(inner) = open(group, &name, &below, depth + 1, self.sink)? {
                self.group(&inner, &below, depth + 1)?;
            }
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
        blocks(0..rows, parts, self.sink, |row, blocks, sink| {
            values.clear();
            for (part, block) in parts.iter().zip(blocks) {
                values.extend(part.row(block, row).iter().map(|&x| Value::from(x)));
            }
            sink.row(number, None, &values)
        })
    }
}

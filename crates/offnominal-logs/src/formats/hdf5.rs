//! HDF5: the data sets of a group that have the same number of rows are one topic. Groups that are numbered, such as
//! Minari's `episode_0`, `episode_1` or robomimic's `demo_0`, are the episodes of one topic.

use super::hdf5_episodes::{Episodes, numbered};
use super::hdf5_parts::{MAX_DEPTH, Part, below, blocks, parts, topic};
use crate::record::{Sink, Value};
use anyhow::{Context, Result, ensure};
use hdf5_pure::{File, Group};
use std::collections::BTreeMap;
use std::path::Path;

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

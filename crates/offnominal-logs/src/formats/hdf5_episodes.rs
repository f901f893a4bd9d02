//! Numbered groups of HDF5, read as the episodes of one topic.
//!
//! An episode has as many rows as its longest data set; of a shorter one, such as the actions, the last rows are missing.
//! Data sets in groups within an episode are columns too: `observations/goal[0]`.

use super::hdf5_parts::{Part, below, blocks, groups, open, parts, topic};
use crate::record::{Column, Sink, Value};
use anyhow::{Context, Result};
use hdf5_pure::Group;
use std::collections::HashMap;
use std::ops::Range;

/// The column with the number of an episode.
const EPISODE: &str = "episode";

/// Groups that are numbered and of one name, in the order of their numbers; and the others.
pub fn numbered(groups: Vec<String>) -> (Vec<(i64, String)>, Vec<String>) {
    let number = |name: &str| -> Option<(String, i64)> {
        let stem = name.trim_end_matches(|c: char| c.is_ascii_digit());
        let stem = stem.strip_suffix('_').filter(|stem| !stem.is_empty())?;
        Some((stem.into(), name[stem.len() + 1..].parse().ok()?))
    };
    let stem = groups.iter().find_map(|name| number(name)).map(|(stem, _)| stem);
    let (mut episodes, mut others) = (Vec::new(), Vec::new());
    for name in groups {
        match number(&name).filter(|(found, _)| Some(found) == stem.as_ref()) {
            Some((_, number)) => episodes.push((number, name)),
            None => others.push(name),
        }
    }
    episodes.sort();
    (episodes, others)
}

/// The topic, whose columns are known as far as episodes have shown them.
pub struct Episodes<'s> {
    topic: usize,
    sink: &'s mut dyn Sink,
    columns: HashMap<String, usize>,
}

impl<'s> Episodes<'s> {
    /// No column is known yet but the number of the episode.
    pub fn new(topic: usize, sink: &'s mut dyn Sink) -> Episodes<'s> {
        Episodes { topic, sink, columns: HashMap::new() }
    }

    /// Reads the episodes of a group.
    ///
    /// # Errors
    /// If one is damaged, or the sink refuses a row.
    pub fn read(mut self, group: &Group, path: &str, episodes: &[(i64, String)], depth: usize) -> Result<()> {
        if !self.sink.topic(self.topic, &topic(path))? {
            return Ok(());
        }
        self.number(EPISODE.into())?;
        for (number, name) in episodes {
            let below = below(path, name);
            let Some(episode) = open(group, name, &below, depth + 1, self.sink)? else { continue };
            self.episode(*number, &episode, &below, depth + 1).with_context(|| name.clone())?;
        }
        Ok(())
    }

    fn episode(&mut self, number: i64, group: &Group, path: &str, depth: usize) -> Result<()> {
        let mut found = Vec::new();
        self.gather(group, path, "", depth, &mut found)?;
        let rows = found.iter().map(|(rows, _)| *rows).max().unwrap_or(0);
        let mut parts = Vec::new();
        for (has, part) in found {
            // Fewer rows than that are those of something else, such as one number for the whole episode.
            if has + 1 < rows {
                let what = format!("{path}/{}: {has} rows, of {rows} in the episode", part.name);
                self.sink.left_out(Some(self.topic), &what);
                continue;
            }
            let columns =
                part.columns().map(|column| self.number(column.name)).collect::<Result<Vec<_>>>()?;
            parts.push((has, part, columns));
        }
        let both = parts.iter().map(|(has, ..)| *has).min().unwrap_or(0);
        self.rows(number, 0..both, &parts)?;
        // The observation after the last step has no action.
        parts.retain(|(has, ..)| *has == rows);
        self.rows(number, both..rows, &parts)
    }

    /// Hands over some rows of an episode; columns that are not among the parts are missing.
    fn rows(&mut self, number: i64, rows: Range<u64>, parts: &[(u64, Part, Vec<usize>)]) -> Result<()> {
        let mut values = vec![Value::Missing; self.columns.len()];
        values[0] = Value::Integer(number);
        let topic = self.topic;
        blocks(rows, parts.iter().map(|(_, part, _)| part), self.sink, |row, blocks, sink| {
            for ((_, part, columns), block) in parts.iter().zip(blocks) {
                for (&column, &x) in columns.iter().zip(part.row(block, row)) {
                    values[column] = Value::from(x);
                }
            }
            sink.row(topic, None, &values)
        })
    }

    /// The data sets of an episode, and those of the groups in it.
    fn gather(
        &mut self,
        group: &Group,
        path: &str,
        prefix: &str,
        depth: usize,
        found: &mut Vec<(u64, Part)>,
    ) -> Result<()> {
        found.extend(parts(group, path, prefix, self.sink)?);
        for name in groups(group, path, self.sink)? {
            let below_path = below(path, &name);
            if let Some(inner) = open(group, &name, &below_path, depth + 1, self.sink)? {
                self.gather(&inner, &below_path, &below(prefix, &name), depth + 1, found)?;
            }
        }
        Ok(())
    }

    /// The number of a column, which is told to the sink when it is new.
    fn number(&mut self, name: String) -> Result<usize> {
        if let Some(&number) = self.columns.get(&name) {
            return Ok(number);
        }
        let number = self.columns.len();
        self.sink.column(self.topic, number, &Column::new(name.clone()))?;
        self.columns.insert(name, number);
        Ok(number)
    }
}

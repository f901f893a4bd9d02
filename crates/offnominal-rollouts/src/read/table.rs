//! Parquet: one step per row; the rows of a rollout follow one another.

use super::step::Steps;
use super::{About, Collected, ROLLOUT, TASK, shown};
use anyhow::{Context, Result, ensure};
use offnominal_files::records;
use serde_json::{Map, Value};
use std::path::Path;

/// Reads all rollouts; `path` names the file in errors.
///
/// # Errors
/// If a row is no step, with the row in the message.
pub fn read(bytes: &[u8], path: &Path, into: &mut Collected) -> Result<()> {
    let mut open: Option<(About, Steps)> = None;
    records::each_row(bytes, path, |row| {
        let name = ROLLOUT.iter().any(|name| row.contains_key(*name));
        ensure!(name, "expected a column {}, found {}", ROLLOUT.join(", "), columns(&row));
        let about = About::of(&row, 0, path, into.settings)?;
        let is_next = open.as_ref().is_some_and(|(now, _)| now.name != about.name || now.task != about.task);
        if let Some((about, steps)) = open.take_if(|_| is_next) {
            into.add(about, steps)?;
        }
        let (now, steps) = open.get_or_insert_with(|| {
            let steps = Steps::new(about.executed, into.settings);
            (about.clone(), steps)
        });
        let (expected, found) = (now.success, about.success);
        ensure!(expected == found, "success: expected {expected} as in the rows before, found {found}");
        let (expected, found) = (now.failure_step, about.failure_step);
        ensure!(
            expected == found,
            "failure_step: expected {expected:?} as in the rows before, found {found:?}"
        );
        steps.add(&row, is_of_rollout)
    })?;
    let (about, steps) = open.with_context(|| format!("{}: expected rows, found none", path.display()))?;
    into.add(about, steps).with_context(|| path.display().to_string())
}

/// Whether a column says something of the whole rollout.
fn is_of_rollout(name: &str) -> bool {
    matches!(name, "success" | "failure_step") || ROLLOUT.contains(&name) || TASK.contains(&name)
}

fn columns(row: &Map<String, Value>) -> String {
    shown(&Value::String(row.keys().cloned().collect::<Vec<_>>().join(", ")))
}

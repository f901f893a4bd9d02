//! JSON lines: one rollout per line, with its steps in the list `steps`.

use super::step::Steps;
use super::{About, Collected, TASK, shown};
use anyhow::{Context, Result, ensure};
use offnominal_files::array;
use serde_json::{Map, Value};
use std::path::Path;

/// Bytes of the longest line: a rollout of 100 steps with chunks of 50 actions of 32 numbers has a quarter of it. Each may
/// become twenty in memory.
const MAX_LINE: usize = 16 << 20;

/// Reads all rollouts; `path` names the file in errors, and says where array files lie.
///
/// # Errors
/// If a line is no rollout, with the line in the message.
pub fn read(bytes: &[u8], path: &Path, into: &mut Collected) -> Result<()> {
    let mut says_task = None;
    for (number, line) in bytes.split(|&byte| byte == b'\n').enumerate() {
        if line.iter().all(u8::is_ascii_whitespace) {
            continue;
        }
        let place = || format!("{}, line {}", path.display(), number + 1);
        let says = rollout(line, number, path, into).with_context(place)?;
        let is_as_before = *says_task.get_or_insert(says) == says;
        let names = TASK.join(", ");
        ensure!(is_as_before, "{}: expected {names} in every line or in none, found it in some", place());
    }
    Ok(())
}

/// Reads a rollout: whether it says its task.
fn rollout(line: &[u8], number: usize, path: &Path, into: &mut Collected) -> Result<bool> {
    ensure!(line.len() <= MAX_LINE, "expected at most {MAX_LINE} bytes, found {}", line.len());
    let fields: Map<String, Value> = serde_json::from_slice(line).context("expected a JSON object")?;
    let about = About::of(&fields, number, path, into.settings)?;
    let listed = fields.get("steps").context("expected steps, found no such field")?;
    let listed =
        listed.as_array().with_context(|| format!("steps: expected a list, found {}", shown(listed)))?;
    let mut steps = Steps::new(about.executed, into.settings);
    for (t, step) in listed.iter().enumerate() {
        let fields = step
            .as_object()
            .with_context(|| format!("step {t}: expected an object, found {}", shown(step)))?;
        steps.add(fields, |_| false).with_context(|| format!("step {t}"))?;
    }
    if let Some(length) = fields.get("length") {
        let n = steps.len();
        ensure!(length.as_u64() == Some(n as u64), "length: expected {n}, found {}", shown(length));
    }
    if let Some(name) = fields.get("chunks") {
        let found = beside(path, name, "chunks")?;
        steps.add_chunks(&found.shape, &found.values)?;
    }
    if let Some(name) = fields.get("embeddings") {
        let found = beside(path, name, "embeddings")?;
        steps.add_embeddings(&found.shape, &found.values)?;
    }
    let says_task = about.says_task;
    into.add(about, steps)?;
    Ok(says_task)
}

/// The array in a file of the same folder, and of no other.
fn beside(path: &Path, name: &Value, what: &str) -> Result<array::Array> {
    let plain = name.as_str().filter(|name| Path::new(name).file_name().is_some_and(|last| last == *name));
    let plain = plain.with_context(|| {
        format!("{what}: expected the name of an array file in the same folder, found {}", shown(name))
    })?;
    array::read(&path.with_file_name(plain), what)
}

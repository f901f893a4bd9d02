//! The command that made results, given again in a process of its own.

use super::Request;
use crate::evidence::inputs::words;
use anyhow::{Context as _, Result, ensure};
use serde_json::Value;
use std::path::Path;
use std::process::{Command, Stdio};

/// Gives the command again, with the results as its output folder.
///
/// # Errors
/// If it is another command, or fails.
pub fn give(command: &str, request: &Request, (inputs, results): (&Path, &Path)) -> Result<()> {
    let words = words(command)?;
    let is_known = words.get(1).is_some_and(|word| ["audit", "bench", "compare"].contains(&word.as_str()));
    ensure!(is_known, "expected the command audit, bench or compare, found {command:?}");
    let mut arguments: Vec<String> = words.into_iter().skip(1).collect();
    let out = results.display().to_string();
    match arguments.iter().position(|word| word == "--out") {
        Some(at) if at + 1 < arguments.len() => arguments[at + 1] = out,
        _ => arguments.extend(["--out".into(), out]),
    }
    let (program, first) = request.program.split_first().context("program: expected words, found none")?;
    let mut process = Command::new(program);
    process.args(first).args(&arguments).arg("--quiet").current_dir(inputs).stdin(Stdio::null());
    let ended = process.output().with_context(|| format!("cannot run {program}"))?;
    // An audit or a comparison that asks for more than was found ends with 1, and has done its work.
    let has_worked = matches!(ended.status.code(), Some(0 | 1));
    let said = String::from_utf8_lossy(&ended.stderr);
    ensure!(has_worked, "{command}: {}", said.lines().last().unwrap_or("ended without a word"));
    Ok(())
}

/// A result without what made it: the command has the folder of the results.
///
/// # Errors
/// If it is no object.
pub fn without_origin(text: &[u8]) -> Result<Value> {
    let mut value: Value = serde_json::from_slice(text)?;
    value.as_object_mut().context("expected an object")?.remove("made");
    Ok(value)
}

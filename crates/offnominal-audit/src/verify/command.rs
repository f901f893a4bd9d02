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
    let mut process = process(&request.program)?;
    process.args(with_out(words, &results.display().to_string())).arg("--quiet");
    let ended = process.current_dir(inputs).output().context("cannot run this program")?;
    // An audit or a comparison that asks for more than was found ends with 1, and has done its work.
    let has_worked = matches!(ended.status.code(), Some(0 | 1));
    ensure!(has_worked, "{command}: {}", last_line(&ended.stderr));
    Ok(())
}

/// This program, in a process of its own that reads nothing.
///
/// # Errors
/// If nothing says how it is started.
pub fn process(program: &[String]) -> Result<Command> {
    let (program, first) = program.split_first().context("program: expected words, found none")?;
    let mut process = Command::new(program);
    process.args(first).stdin(Stdio::null());
    Ok(process)
}

/// The arguments of a command with another output folder.
fn with_out(words: Vec<String>, out: &str) -> Vec<String> {
    let mut arguments = Vec::new();
    let mut words = words.into_iter().skip(1);
    while let Some(word) = words.next() {
        match word.as_str() {
            "--out" => drop(words.next()),
            _ if word.starts_with("--out=") => {}
            _ => arguments.push(word),
        }
    }
    arguments.extend(["--out".into(), out.into()]);
    arguments
}

/// The last line that a process said.
pub fn last_line(said: &[u8]) -> String {
    String::from_utf8_lossy(said).lines().last().unwrap_or("it ended without a word").to_string()
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

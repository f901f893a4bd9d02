//! What the name of a policy that is a command says.

use anyhow::{Context, Result, ensure};
use offnominal_core::suggest::did_you_mean;
use std::collections::BTreeMap;
use std::time::Duration;

/// The most seconds for an answer, unless it is said otherwise: the first one may load a model.
const TIMEOUT_SECS: f64 = 60.0;

/// A command of the shell, and how long it may take to answer.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Command {
    pub(super) line: String,
    pub(super) limit: Duration,
}

impl Command {
    /// Reads `command:COMMAND` or `command?timeout=S:COMMAND`.
    ///
    /// # Errors
    /// What is not understood.
    pub(super) fn read(name: &str) -> Result<Command> {
        read(name).with_context(|| format!("policy {name}"))
    }
}

fn read(name: &str) -> Result<Command> {
    let (head, line) = name.split_once(':').context("expected command:COMMAND, found no colon")?;
    let query = head.split_once('?').map_or("", |(_, query)| query);
    let mut options = options(query, &["timeout"])?;
    ensure!(!line.trim().is_empty(), "expected a command after the colon, found none");
    Ok(Command { line: line.into(), limit: timeout(options.remove("timeout"))? })
}

fn options(query: &str, known: &[&str]) -> Result<BTreeMap<String, String>> {
    let mut all = BTreeMap::new();
    for part in query.split('&').filter(|part| !part.is_empty()) {
        let (key, value) = part.split_once('=').unwrap_or((part, ""));
        let hint = did_you_mean(key, known.iter().copied());
        ensure!(
            known.contains(&key),
            "expected one of the options {}, found {key:?}{hint}",
            known.join(", ")
        );
        all.insert(key.to_string(), value.to_string());
    }
    Ok(all)
}

fn timeout(text: Option<String>) -> Result<Duration> {
    let secs = match &text {
        Some(text) => text.parse().ok().filter(|secs| (0.001..=86_400.0).contains(secs)),
        None => Some(TIMEOUT_SECS),
    };
    let secs = secs.with_context(|| {
        format!("timeout: expected seconds from 0.001 to 86400, found {:?}", text.unwrap_or_default())
    })?;
    Ok(Duration::from_secs_f64(secs))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_say_what_runs() {
        let command = |line: &str, secs| Command { line: line.into(), limit: Duration::from_secs_f64(secs) };
        let read = |name| Command::read(name).unwrap();
        assert_eq!(read("command:python3 a.py --x a:b?c=d"), command("python3 a.py --x a:b?c=d", 60.0));
        assert_eq!(read("command?timeout=0.5:./a"), command("./a", 0.5));
    }

    #[test]
    fn what_is_not_understood_is_named() {
        let refused = |name: &str, want: &str| {
            let error = format!("{:#}", Command::read(name).unwrap_err());
            assert!(error.contains(want) && error.contains(name), "{error}");
        };
        refused("command:", "expected a command after the colon");
        refused("command?timeout=0:x", "timeout: expected seconds from 0.001 to 86400, found \"0\"");
        refused("command?timout=3:x", "found \"timout\"; did you mean \"timeout\"?");
    }
}

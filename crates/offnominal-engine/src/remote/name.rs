//! What the name of a remote policy says.

use anyhow::{Context, Result, bail, ensure};
use offnominal_core::suggest::did_you_mean;
use std::collections::BTreeMap;
use std::time::Duration;

/// The most seconds for an answer, unless it is said otherwise: the first one may load a model.
const TIMEOUT_SECS: f64 = 60.0;

/// A remote policy.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Remote {
    /// A command of the shell.
    Command { command: String, limit: Duration },
    /// A server of openpi.
    Openpi(Server),
}

/// Where a server of openpi is, and how its observations are called.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Server {
    /// Host and port.
    pub(super) address: String,
    pub(super) path: String,
    /// The key of the observation: numbers, or an image.
    pub(super) key: String,
    /// The instruction, if there is one.
    pub(super) prompt: Option<String>,
    /// How many of the actions of an answer are carried out before the next question.
    pub(super) steps: usize,
    pub(super) limit: Duration,
}

impl Remote {
    /// Reads `command:COMMAND`, `command?timeout=S:COMMAND`, or `openpi:ws://HOST:PORT/PATH?OPTION=VALUE&…`.
    ///
    /// # Errors
    /// What is not understood.
    pub(super) fn read(name: &str) -> Result<Remote> {
        let read = || match name.strip_prefix("openpi:") {
            Some(address) => server(address).map(Remote::Openpi),
            None => command(name),
        };
        read().with_context(|| format!("policy {name}"))
    }
}

fn command(name: &str) -> Result<Remote> {
    let (head, command) = name.split_once(':').context("expected command:COMMAND, found no colon")?;
    let query = head.split_once('?').map_or("", |(_, query)| query);
    let mut options = options(query, &["timeout"])?;
    ensure!(!command.trim().is_empty(), "expected a command after the colon, found none");
    Ok(Remote::Command { command: command.into(), limit: timeout(options.remove("timeout"))? })
}

fn server(address: &str) -> Result<Server> {
    let (place, query) = address.split_once('?').unwrap_or((address, ""));
    let Some(rest) = place.strip_prefix("ws://") else {
        bail!("expected an address such as ws://localhost:8000, found {place:?}");
    };
    let (host, path) = rest.split_once('/').unwrap_or((rest, ""));
    let port = host.rsplit_once(':').and_then(|(_, port)| port.parse::<u16>().ok());
    let is_plain = place.chars().all(|c| c.is_ascii_graphic());
    ensure!(
        port.is_some() && is_plain,
        "expected a host with its port, such as localhost:8000, found {host:?}"
    );
    let mut options = options(query, &["observation", "prompt", "steps", "timeout"])?;
    let steps = options.remove("steps").map_or(Ok(1), |text| match text.parse() {
        Ok(n) if n > 0 => Ok(n),
        _ => bail!("steps: expected a number of actions from 1, found {text:?}"),
    })?;
    Ok(Server {
        address: host.into(),
        path: format!("/{path}"),
        key: options.remove("observation").unwrap_or_else(|| "observation/state".into()),
        prompt: options.remove("prompt"),
        steps,
        limit: timeout(options.remove("timeout"))?,
    })
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
    fn names_say_what_and_where() {
        let read = |name| Remote::read(name).unwrap();
        let secs = Duration::from_secs_f64;
        let command = |command: &str, limit| Remote::Command { command: command.into(), limit: secs(limit) };
        assert_eq!(read("command:python3 a.py --x a:b?c=d"), command("python3 a.py --x a:b?c=d", 60.0));
        assert_eq!(read("command?timeout=0.5:./a"), command("./a", 0.5));
        let Remote::Openpi(server) =
            read("openpi:ws://h:80/p?steps=5&prompt=open it&timeout=2&observation=s")
        else {
            panic!("a server");
        };
        assert_eq!((server.address.as_str(), server.path.as_str(), server.steps), ("h:80", "/p", 5));
        assert_eq!((server.prompt.as_deref(), server.key.as_str()), (Some("open it"), "s"));
        let Remote::Openpi(server) = read("openpi:ws://h:80") else { panic!("a server") };
        assert_eq!((server.path.as_str(), server.key.as_str(), server.steps), ("/", "observation/state", 1));
    }

    #[test]
    fn what_is_not_understood_is_named() {
        let refused = |name: &str, want: &str| {
            let error = format!("{:#}", Remote::read(name).unwrap_err());
            assert!(error.contains(want) && error.contains(name), "{error}");
        };
        refused("command:", "expected a command after the colon");
        refused("command?timeout=0:x", "timeout: expected seconds from 0.001 to 86400, found \"0\"");
        refused("command?timout=3:x", "found \"timout\"; did you mean \"timeout\"?");
        refused("openpi:wss://h:1", "expected an address such as ws://localhost:8000");
        refused("openpi:ws://h", "expected a host with its port");
        refused("openpi:ws://h:1?steps=0", "steps: expected a number of actions from 1");
    }
}

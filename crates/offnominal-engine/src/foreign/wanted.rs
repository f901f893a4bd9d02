//! What a host is asked to make: an environment with the options of its id, and a policy beside it.

use crate::foreign::TIMEOUT_SECS;
use anyhow::{Context, Result, ensure};
use serde_json::json;
use std::time::Duration;

/// An environment as its id describes it.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Wanted {
    /// The environment's name in Gymnasium with those options that are Python's business; nothing for a host of policies
    /// only.
    pub(super) id: String,
    /// How long an answer may take.
    pub(super) limit: Duration,
}

/// A policy as its name describes it.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct WantedPolicy {
    /// `module:name`, with its options.
    pub(super) name: String,
    /// Numbers of a command.
    pub(super) commands: usize,
}

impl Wanted {
    /// Reads an id, without the prefix that tells hosted environments from others.
    ///
    /// # Errors
    /// If it is empty, or an option of ours is wrong.
    pub(super) fn read(id: &str) -> Result<Wanted> {
        let (name, query) = id.split_once('?').unwrap_or((id, ""));
        ensure!(!name.is_empty(), "expected an id of Gymnasium, such as CartPole-v1, found none");
        let (ours, theirs): (Vec<&str>, Vec<&str>) = query
            .split('&')
            .filter(|option| !option.is_empty())
            .partition(|option| option.starts_with("timeout="));
        let limit = ours.last().and_then(|option| option.split_once('=')).map(|(_, text)| secs(text));
        let id = if theirs.is_empty() { name.into() } else { format!("{name}?{}", theirs.join("&")) };
        Ok(Wanted { id, limit: Duration::from_secs_f64(limit.unwrap_or(Ok(TIMEOUT_SECS))?) })
    }

    /// No environment: policies only.
    pub(super) fn policies_only() -> Wanted {
        Wanted { id: String::new(), limit: Duration::from_secs_f64(TIMEOUT_SECS) }
    }

    /// What the process is told.
    pub(super) fn json(&self) -> String {
        self.value().to_string()
    }

    fn value(&self) -> serde_json::Value {
        json!({ "id": self.id })
    }
}

impl WantedPolicy {
    /// What the process is told, where the policy acts in that environment.
    pub(super) fn json(&self, environment: &Wanted) -> String {
        let environment = (!environment.id.is_empty()).then(|| environment.value());
        json!({ "policy": self.name, "environment": environment, "commands": self.commands }).to_string()
    }
}

fn secs(text: &str) -> Result<f64> {
    let sound = text.parse().ok().filter(|secs| (0.001..=86_400.0).contains(secs));
    sound.with_context(|| format!("timeout: expected seconds from 0.001 to 86400, found {text:?}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_time_limit_is_an_option_of_ours() {
        let found = Wanted::read("ALE/Pong-v5?frameskip=2&timeout=1.5&horizon=9").unwrap();
        assert_eq!(found.id, "ALE/Pong-v5?frameskip=2&horizon=9");
        assert_eq!(found.limit, Duration::from_millis(1500));
        assert_eq!(Wanted::read("CartPole-v1?timeout=2").unwrap().id, "CartPole-v1");
        assert_eq!(Wanted::read("CartPole-v1").unwrap().limit, Duration::from_secs(60));
    }

    #[test]
    fn a_wrong_limit_and_an_empty_name_are_refused() {
        let refused = |id: &str| Wanted::read(id).unwrap_err().to_string();
        assert!(refused("X-v0?timeout=0").contains("expected seconds from 0.001 to 86400, found \"0\""));
        assert!(refused("").contains("expected an id of Gymnasium"));
    }
}

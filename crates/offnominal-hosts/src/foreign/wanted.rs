//! What a host is asked to make: an environment with the options of its id, and a policy beside it.

use crate::foreign::TIMEOUT_SECS;
use crate::foreign::failure::Failure;
use crate::foreign::given;
use crate::foreign::manifest::Manifest;
use anyhow::{Context, Result, anyhow, ensure};
use serde_json::json;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

/// The most memory of a process, in GB, if the id does not say.
const MEMORY: f64 = 4.0;

/// An environment as its id describes it.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Wanted {
    /// The environment's name in Gymnasium with those options that are Python's business; nothing for a host of policies
    /// only.
    pub(super) id: String,
    /// How it is made, where the calling program has it.
    pub(super) given: Option<Arc<serde_json::Value>>,
    /// What the user says of its channels and parameters.
    pub(super) manifest: Arc<Manifest>,
    /// How long an answer may take.
    pub(super) limit: Duration,
    /// What counts as a failure, where that is stated.
    pub(super) failure: Option<Failure>,
    /// The key of `info` that tells how far the state is from failure.
    pub(super) margin: Option<String>,
    /// Seconds of a step, where they are stated.
    pub(super) dt_secs: Option<f64>,
    /// Whether each episode gets an environment of its own.
    pub(super) fresh: Fresh,
    /// Whether it is checked that a seed repeats its episode.
    pub(super) is_checked: bool,
    /// The most memory of a process, in GB.
    pub(super) memory: f64,
}

/// Whether each episode gets an environment of its own.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Fresh {
    /// Only where the environment cannot be repeated otherwise.
    Needed,
    /// No.
    Never,
    /// Yes.
    Always,
    /// Yes, made with the episode's seed as this argument.
    Seeded(String),
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
        let (mut wanted, mut theirs) = (Wanted::policies_only(), Vec::new());
        for option in query.split('&').filter(|option| !option.is_empty()) {
            let (key, value) = option.split_once('=').unwrap_or((option, ""));
            if !wanted.take(key, value)? {
                theirs.push(option);
            }
        }
        wanted.given = name.strip_prefix(given::PREFIX).map(caller_has).transpose()?;
        wanted.id = if theirs.is_empty() { name.into() } else { format!("{name}?{}", theirs.join("&")) };
        Ok(wanted)
    }

    /// No environment: policies only.
    pub(super) fn policies_only() -> Wanted {
        let limit = Duration::from_secs_f64(TIMEOUT_SECS);
        let (id, given, manifest) = (String::new(), None, Arc::default());
        let (failure, margin, dt_secs, fresh) = (None, None, None, Fresh::Needed);
        Wanted {
            id,
            given,
            manifest,
            limit,
            failure,
            margin,
            dt_secs,
            fresh,
            is_checked: true,
            memory: MEMORY,
        }
    }

    /// Reads an option, if it is one of ours.
    fn take(&mut self, key: &str, value: &str) -> Result<bool> {
        match key {
            "timeout" => {
                self.limit = Duration::from_secs_f64(number(key, value, "seconds", 0.001, 86_400.0)?)
            }
            "memory" => self.memory = number(key, value, "GB", 0.1, 10_000.0)?,
            "failure" => self.failure = Some(value.parse().map_err(|why: String| anyhow!(why))?),
            "margin" => self.margin = Some(key_of_info(value)?),
            "dt" => self.dt_secs = Some(number(key, value, "seconds", 1e-9, 86_400.0)?),
            "fresh" => self.fresh = Fresh::read(value)?,
            "manifest" => self.manifest = Arc::new(Manifest::open(Path::new(value)).context("manifest")?),
            "check" => self.is_checked = flag(key, value)?,
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// What the process is told.
    pub(super) fn json(&self, is_fresh: bool) -> String {
        self.value(is_fresh).to_string()
    }

    fn value(&self, is_fresh: bool) -> serde_json::Value {
        let argument = match &self.fresh {
            Fresh::Seeded(argument) => Some(argument),
            _ => None,
        };
        let failure = self.failure.as_ref().and_then(Failure::key);
        json!({
            "id": self.id,
            "given": self.given.as_deref(),
            "parameters": self.manifest.parameters(),
            "fresh": is_fresh,
            "seeded": argument,
            "failure": failure,
            "margin": self.margin,
        })
    }
}

/// How the calling program has the environment of a name.
fn caller_has(name: &str) -> Result<Arc<serde_json::Value>> {
    given::find(name).with_context(|| {
        format!("expected an environment that this program has as an object, found none named {name:?}")
    })
}

impl Fresh {
    fn read(value: &str) -> Result<Fresh> {
        let is_word = |c: char| c.is_alphanumeric() || c == '_';
        match value {
            "true" => Ok(Fresh::Always),
            "false" => Ok(Fresh::Never),
            argument if !argument.is_empty() && argument.chars().all(is_word) => {
                Ok(Fresh::Seeded(argument.into()))
            }
            _ => Err(anyhow!("fresh: expected true, false or the name of an argument, found {value:?}")),
        }
    }

    /// Whether that was asked for.
    pub(super) fn is_asked_for(&self) -> bool {
        matches!(self, Fresh::Always | Fresh::Seeded(_))
    }
}

impl WantedPolicy {
    /// What the process is told, where the policy acts in that environment.
    pub(super) fn json(&self, environment: &Wanted) -> String {
        let environment = (!environment.id.is_empty()).then(|| environment.value(false));
        json!({ "policy": self.name, "environment": environment, "commands": self.commands }).to_string()
    }
}

fn number(key: &str, text: &str, unit: &str, low: f64, high: f64) -> Result<f64> {
    let sound = text.parse().ok().filter(|number| (low..=high).contains(number));
    sound.with_context(|| format!("{key}: expected {unit} from {low} to {high}, found {text:?}"))
}

/// The key in `info.KEY`.
fn key_of_info(text: &str) -> Result<String> {
    let key = text.strip_prefix("info.").filter(|key| !key.is_empty());
    Ok(key.with_context(|| format!("margin: expected info.KEY, found {text:?}"))?.into())
}

fn flag(key: &str, text: &str) -> Result<bool> {
    text.parse().map_err(|_| anyhow!("{key}: expected true or false, found {text:?}"))
}

#[cfg(test)]
mod tests;

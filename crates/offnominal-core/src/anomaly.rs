//! What goes wrong: hooks between policy and world, all empty by default.

use crate::Rng;
use crate::env::Env;
use crate::spec::{Channel, EnvSpec, ParameterError};
use serde::{Deserialize, Serialize};

/// A disturbance in progress. The runner calls the hooks only while the anomaly is active, so before the onset an
/// episode is exactly its nominal twin.
///
/// A value is built afresh for every episode, so nothing needs to be reset. Randomness comes from a branch of the
/// seed tree of its own: the world sees the same noise with and without the anomaly.
pub trait Anomaly: Send {
    /// Sizes buffers and checks that the anomaly fits the world. Called once, before the episode.
    ///
    /// # Errors
    /// If it names a channel or a parameter that the world does not have, or a value outside the physical range.
    fn fit(&mut self, _spec: &EnvSpec) -> Result<(), AnomalyError> {
        Ok(())
    }

    /// The anomaly becomes active: at the onset, and again after each pause of an intermittent one.
    fn begin(&mut self, _env: &mut dyn Env, _rng: &mut Rng) {}

    /// Changes the command on its way to the world. The recorded action stays the policy's own.
    fn on_action(&mut self, _action: &mut [f32], _rng: &mut Rng) {}

    /// Changes the observation on its way to the policy.
    fn on_observation(&mut self, _obs: &mut [f32], _rng: &mut Rng) {}

    /// The anomaly stops being active while the episode goes on; what `begin` changed in the world is changed back.
    fn end(&mut self, _env: &mut dyn Env) {}

    /// Called at each inactive step too, with the policy's command: an anomaly that acts on the past (a delay) must
    /// know it when it becomes active.
    fn watch(&mut self, _action: &[f32]) {}
}

/// Why an anomaly cannot be applied to a world.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum AnomalyError {
    /// A dynamics anomaly asks for what the world's parameters do not allow.
    #[error(transparent)]
    Parameter(#[from] ParameterError),
    /// A signal anomaly names a channel that the world does not have.
    #[error("world {env} has no {side} channel {found}{}; there are: {known}", crate::suggest::hint(.nearest))]
    Channel {
        /// The world that was asked.
        env: String,
        /// `observation` or `action`.
        side: &'static str,
        /// The name or index that was given.
        found: String,
        /// The most similar name that exists.
        nearest: Option<String>,
        /// All names that exist.
        known: String,
    },
    /// The magnitude is outside the range of the anomaly.
    #[error("anomaly {id}: expected a magnitude {expected}, found {found:?}")]
    Magnitude {
        /// The anomaly.
        id: String,
        /// The rule in words.
        expected: &'static str,
        /// The value that was given.
        found: f64,
    },
}

/// Which channels an anomaly touches.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Channels {
    /// Every channel; written as `"all"` or left out.
    #[default]
    #[serde(with = "all")]
    All,
    /// A subset, by name or index.
    Some(Vec<ChannelName>),
}

/// One channel, by name or index.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum ChannelName {
    /// Position in the observation or action.
    Index(usize),
    /// Name in the spec.
    Name(String),
}

mod all {
    use serde::{Deserialize, Deserializer, Serializer, de::Error};

    pub fn serialize<S: Serializer>(s: S) -> Result<S::Ok, S::Error> {
        s.serialize_str("all")
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(d: D) -> Result<(), D::Error> {
        match String::deserialize(d)?.as_str() {
            "all" => Ok(()),
            other => {
                Err(D::Error::custom(format!("expected \"all\" or a list of channels, found {other:?}")))
            }
        }
    }
}

impl Channels {
    /// The indices of the chosen channels.
    ///
    /// # Errors
    /// If a name or index does not exist; `side` is `observation` or `action`.
    pub fn resolve(&self, env: &str, side: &'static str, of: &[Channel]) -> Result<Vec<usize>, AnomalyError> {
        let Channels::Some(names) = self else { return Ok((0..of.len()).collect()) };
        let position = |name: &ChannelName| match name {
            ChannelName::Index(i) => (*i < of.len()).then_some(*i),
            ChannelName::Name(n) => of.iter().position(|c| c.name == *n),
        };
        names.iter().map(|name| position(name).ok_or_else(|| missing(env, side, of, name))).collect()
    }
}

fn missing(env: &str, side: &'static str, of: &[Channel], name: &ChannelName) -> AnomalyError {
    let names = || of.iter().map(|c| c.name.as_str());
    let (found, nearest) = match name {
        ChannelName::Index(i) => (i.to_string(), None),
        ChannelName::Name(n) => (format!("{n:?}"), crate::suggest::nearest(n, names())),
    };
    AnomalyError::Channel {
        env: env.into(),
        side,
        found,
        nearest,
        known: names().collect::<Vec<_>>().join(", "),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn channels() -> Vec<Channel> {
        ["x", "theta"].iter().map(|n| Channel::unbounded(n, "", "m")).collect()
    }

    #[track_caller]
    fn check(json: &str, want: Result<Vec<usize>, &str>) {
        let found = serde_json::from_str::<Channels>(json).unwrap().resolve("w", "observation", &channels());
        assert_eq!(found.map_err(|e| e.to_string()), want.map_err(str::to_string));
    }

    #[test]
    fn channels_are_named_or_counted() {
        check("\"all\"", Ok(vec![0, 1]));
        check("[\"theta\"]", Ok(vec![1]));
        check("[0]", Ok(vec![0]));
        check("[2]", Err("world w has no observation channel 2; there are: x, theta"));
        check(
            "[\"teta\"]",
            Err("world w has no observation channel \"teta\"; did you mean \"theta\"?; there are: x, theta"),
        );
    }
}

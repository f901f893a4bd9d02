//! What goes wrong: hooks between policy and environment, all empty by default.

mod chosen;
mod several;

pub use chosen::Chosen;
pub(crate) use several::Several;

use crate::Rng;
use crate::channel;
use crate::env::Env;
use crate::frame::Frame;
use crate::spec::{Channel, EnvSpec, ParameterError};
use serde::{Deserialize, Serialize};

/// A disturbance in progress. The runner calls the hooks only while the anomaly is active, so before the onset an
/// episode is exactly its nominal twin.
///
/// A value is built afresh for every episode, so nothing needs to be reset. Randomness comes from a branch of the
/// seed tree of its own: the environment sees the same noise with and without the anomaly.
pub trait Anomaly: Send {
    /// Sizes buffers and checks that the anomaly fits the environment. Called once, before the episode.
    ///
    /// # Errors
    /// If it names a channel or a parameter that the environment does not have, or a value outside the physical range.
    fn fit(&mut self, _spec: &EnvSpec) -> Result<(), AnomalyError> {
        Ok(())
    }

    /// The anomaly becomes active: at the onset, and again after each pause of an intermittent one.
    fn begin(&mut self, _env: &mut dyn Env, _rng: &mut Rng) {}

    /// Changes the action on its way to the environment. The recorded action stays the policy's own.
    fn on_action(&mut self, _action: &mut [f32], _rng: &mut Rng) {}

    /// Changes the observation on its way to the policy.
    fn on_observation(&mut self, _obs: &mut [f32], _rng: &mut Rng) {}

    /// Changes what a camera saw, on its way to whoever watches; neither environment nor policy see it.
    fn on_frame(&mut self, _frame: &mut Frame, _rng: &mut Rng) {}

    /// The anomaly stops being active while the episode goes on; what `begin` changed in the environment is changed back.
    fn end(&mut self, _env: &mut dyn Env) {}

    /// Called at each inactive step too, with the policy's action: an anomaly that acts on the past (a delay) must
    /// know it when it becomes active.
    fn watch(&mut self, _action: &[f32]) {}

    /// Called with each observation that is not disturbed, the first of the episode included: an anomaly that holds the
    /// last reading must know it when it becomes active.
    fn watch_observation(&mut self, _obs: &[f32]) {}

    /// Called with each image that is not disturbed: a camera that stands still must know the last one.
    fn watch_frame(&mut self, _frame: &Frame) {}
}

/// Why an anomaly cannot be applied to an environment.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum AnomalyError {
    /// A dynamics anomaly asks for what the environment's parameters do not allow.
    #[error(transparent)]
    Parameter(#[from] ParameterError),
    /// A signal anomaly names a channel that the environment does not have.
    #[error("environment {env} has no {side} channel {found}{}; there are: {known}", crate::suggest::hint(.nearest))]
    Channel {
        /// The environment that was asked.
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
    /// A signal anomaly names no channel at all, or one of them twice.
    #[error("channels: expected one or more {side} channels, each once, found {found}")]
    Chosen {
        /// `observation` or `action`.
        side: &'static str,
        /// What was given, in words.
        found: String,
    },
    /// The anomaly changes actions by degrees, and the action is a choice.
    #[error(
        "anomaly {id}: expected actions that are real numbers, but {channel} of {env} is a choice among {choices}; act-delay, act-stuck, act-dropout and dyn-<parameter> apply"
    )]
    Choice {
        /// The anomaly.
        id: String,
        /// The environment that was asked.
        env: String,
        /// The channel.
        channel: String,
        /// How many choices it has.
        choices: u32,
    },
    /// The anomaly needs images, and the observation of the environment is none.
    #[error(
        "anomaly {id}: expected an environment whose observation is {expected}, but that of {env} is not"
    )]
    NoImage {
        /// The anomaly.
        id: String,
        /// The environment that was asked.
        env: String,
        /// What it needs, in words.
        expected: &'static str,
    },
    /// The anomaly is one of cameras, and the environment has none.
    #[error("anomaly {id}: expected an environment with a camera, but {env} has none")]
    NoCamera {
        /// The anomaly.
        id: String,
        /// The environment that was asked.
        env: String,
    },
    /// The units of the channels are none, or the magnitude is in no unit of a channel.
    #[error("anomaly {id}: units: expected {expected}")]
    Units {
        /// The anomaly.
        id: String,
        /// What was expected, and what was found.
        expected: String,
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
#[serde(try_from = "Written", into = "Written")]
pub enum Channels {
    /// Every channel; written as `"all"` or left out.
    #[default]
    All,
    /// One channel, drawn anew for every episode; written as `"one"`.
    One,
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

/// [`Channels`] as they stand in a recipe: a word or a list.
#[derive(Serialize, Deserialize)]
#[serde(untagged, expecting = "expected \"all\", \"one\" or a list of channels")]
enum Written {
    Word(String),
    List(Vec<ChannelName>),
}

impl TryFrom<Written> for Channels {
    type Error = String;

    fn try_from(written: Written) -> Result<Channels, String> {
        match written {
            Written::List(names) => Ok(Channels::Some(names)),
            Written::Word(word) if word == "all" => Ok(Channels::All),
            Written::Word(word) if word == "one" => Ok(Channels::One),
            Written::Word(word) => {
                Err(format!("expected \"all\", \"one\" or a list of channels, found {word:?}"))
            }
        }
    }
}

impl From<Channels> for Written {
    fn from(channels: Channels) -> Written {
        match channels {
            Channels::All => Written::Word("all".into()),
            Channels::One => Written::Word("one".into()),
            Channels::Some(names) => Written::List(names),
        }
    }
}

impl Channels {
    /// The positions of the numbers of the chosen channels, an image as a whole; those of all channels if one is to be
    /// drawn, which [`Chosen`] does.
    ///
    /// # Errors
    /// If a name or index does not exist, there is none, or one is there twice; `side` is `observation` or `action`.
    pub fn resolve(&self, env: &str, side: &'static str, of: &[Channel]) -> Result<Vec<usize>, AnomalyError> {
        let Channels::Some(names) = self else { return Ok((0..channel::width(of)).collect()) };
        let position = |name: &ChannelName| match name {
            ChannelName::Index(i) => (*i < of.len()).then_some(*i),
            ChannelName::Name(n) => of.iter().position(|c| c.name == *n),
        };
        let found = |name| position(name).ok_or_else(|| missing(env, side, of, name));
        let chosen = names.iter().map(found).collect::<Result<Vec<usize>, _>>()?;
        let twice = (1..chosen.len()).find(|&i| chosen[..i].contains(&chosen[i]));
        let wrong = twice.map(|i| format!("{} twice", of[chosen[i]].name));
        match wrong.or_else(|| chosen.is_empty().then(|| "none".into())) {
            Some(found) => Err(AnomalyError::Chosen { side, found }),
            None => {
                let spans: Vec<_> = channel::spans(of).collect();
                Ok(chosen.into_iter().flat_map(|i| spans[i].clone()).collect())
            }
        }
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
        check("\"one\"", Ok(vec![0, 1]));
        check("[\"theta\"]", Ok(vec![1]));
        check("[0]", Ok(vec![0]));
        let expected = "channels: expected one or more observation channels, each once, found";
        check("[]", Err(&format!("{expected} none")));
        check("[1, 0, \"theta\"]", Err(&format!("{expected} theta twice")));
        check("[2]", Err("environment w has no observation channel 2; there are: x, theta"));
        check(
            "[\"teta\"]",
            Err(
                "environment w has no observation channel \"teta\"; did you mean \"theta\"?; there are: x, theta",
            ),
        );
    }

    #[test]
    fn an_image_is_chosen_as_a_whole() {
        let mut of = channels();
        of.insert(1, Channel::image("view", "", crate::spec::Image::grey(1, 1, 3)));
        let chosen = |json| serde_json::from_str::<Channels>(json).unwrap().resolve("w", "observation", &of);
        assert_eq!(chosen("[\"theta\", 1]").unwrap(), [4, 1, 2, 3]);
        assert_eq!(chosen("\"all\"").unwrap(), [0, 1, 2, 3, 4]);
    }

    #[test]
    fn channels_survive_writing_and_other_words_are_refused() {
        for text in ["\"all\"", "\"one\"", "[\"x\",1]"] {
            let read: Channels = serde_json::from_str(text).unwrap();
            assert_eq!(serde_json::to_string(&read).unwrap(), text);
        }
        let error = |text| serde_json::from_str::<Channels>(text).unwrap_err().to_string();
        assert!(
            error("\"some\"").starts_with("expected \"all\", \"one\" or a list of channels, found \"some\"")
        );
        assert!(error("3").starts_with("expected \"all\", \"one\" or a list of channels"));
    }
}

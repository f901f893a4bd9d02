//! What the noise of a channel is: its terms as numbers, and whether they fit an environment.

use crate::channel::{Channel, width};
use crate::spec::EnvSpec;
use serde::{Deserialize, Serialize};

crate::with_defaults! {
    /// The noise of one number, in the number's own unit:
    ///
    /// reading = round((x + c + b(t) + (σ + p |x|) z) / q) q
    ///
    /// | symbol | meaning                                              | field          |
    /// |--------|------------------------------------------------------|----------------|
    /// | z      | a standard normal number, anew in each step          |                |
    /// | σ      | standard deviation of the white part                 | `white`        |
    /// | p      | the same as a share of the size of x                 | `proportional` |
    /// | c      | bias since the sensor was turned on, from N(0, c₀²)  | `turn_on`      |
    /// | b      | bias drift, db = −b/τ dt + w dW from b = 0           | `walk`, `tau_secs` |
    /// | q      | step of the digital reading; 0 for none              | `quantum`      |
    ///
    /// τ = 0 stands for no return: a random walk.
    #[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
    #[serde(default, deny_unknown_fields)]
    pub struct Term {
        /// σ, in the number's unit.
        pub white: f64 = 0.0,
        /// p, a share.
        pub proportional: f64 = 0.0,
        /// c₀, in the number's unit.
        pub turn_on: f64 = 0.0,
        /// w, in the number's unit per √s.
        pub walk: f64 = 0.0,
        /// τ in seconds; 0 for a random walk.
        pub tau_secs: f64 = 0.0,
        /// q, in the number's unit.
        pub quantum: f64 = 0.0,
        /// Whether a reading at a bound of its channel says that there is nothing to measure, and stays.
        pub bounds_are_empty: bool = false,
    }
}

/// The noise of an environment: a term for each number of an observation and of an action, and the jitter of latency.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NominalNoise {
    /// The sensors, number by number.
    pub observation: Vec<Term>,
    /// The actuators, number by number.
    pub action: Vec<Term>,
    /// Scale of the time by which a command is late, |N(0, 1)| times this.
    pub jitter_secs: f64,
}

/// Why noise cannot be had in an environment.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum NoiseError {
    /// There are more or fewer terms than numbers.
    #[error("noise of the {side}s of {env}: expected {expected} terms, found {found}")]
    Width {
        /// The environment.
        env: String,
        /// `observation` or `action`.
        side: &'static str,
        /// How many numbers there are.
        expected: usize,
        /// How many terms there are.
        found: usize,
    },
    /// A number that is no spread.
    #[error("noise of {channel}: {term}: expected a finite number from 0 upwards, found {found}")]
    Number {
        /// The channel, or `the clock`.
        channel: String,
        /// The field.
        term: &'static str,
        /// What was given.
        found: f64,
    },
    /// A choice is among integers.
    #[error("noise of {0}: expected a channel of real numbers, found a choice")]
    Choice(String),
}

impl Term {
    /// Whether it changes nothing.
    pub fn is_none(&self) -> bool {
        self.numbers().iter().all(|(name, x)| *x == 0.0 || *name == "tau_secs")
    }

    /// Whether a number is drawn for it when the sensor is turned on.
    pub(super) fn has_turn_on(&self) -> bool {
        self.turn_on > 0.0
    }

    /// Whether a number is drawn in each step for its white part.
    pub(super) fn has_white(&self) -> bool {
        self.white > 0.0 || self.proportional > 0.0
    }

    /// Whether a number is drawn in each step for its drift.
    pub(super) fn has_walk(&self) -> bool {
        self.walk > 0.0
    }

    fn numbers(&self) -> [(&'static str, f64); 6] {
        [
            ("white", self.white),
            ("proportional", self.proportional),
            ("turn_on", self.turn_on),
            ("walk", self.walk),
            ("tau_secs", self.tau_secs),
            ("quantum", self.quantum),
        ]
    }

    fn check(&self, channel: &Channel) -> Result<(), NoiseError> {
        self.numbers().into_iter().try_for_each(|(term, x)| spread(&channel.name, term, x))?;
        let is_real = !channel.is_choice() || self.is_none();
        if is_real { Ok(()) } else { Err(NoiseError::Choice(channel.name.clone())) }
    }
}

impl NominalNoise {
    /// Checks that there is a term for each number and that each can be.
    ///
    /// # Errors
    /// The first that is not so.
    pub fn check(&self, spec: &EnvSpec) -> Result<(), NoiseError> {
        side(&spec.id, "observation", &spec.observation, &self.observation)?;
        side(&spec.id, "action", &spec.action, &self.action)?;
        spread("the clock", "jitter_secs", self.jitter_secs)
    }
}

fn side(env: &str, side: &'static str, channels: &[Channel], terms: &[Term]) -> Result<(), NoiseError> {
    let (expected, found) = (width(channels), terms.len());
    if expected != found {
        return Err(NoiseError::Width { env: env.into(), side, expected, found });
    }
    let numbers = channels.iter().flat_map(|c| std::iter::repeat_n(c, c.width()));
    numbers.zip(terms).try_for_each(|(channel, term)| term.check(channel))
}

fn spread(channel: &str, term: &'static str, found: f64) -> Result<(), NoiseError> {
    if found.is_finite() && found >= 0.0 {
        return Ok(());
    }
    Err(NoiseError::Number { channel: channel.into(), term, found })
}

//! What an environment says of itself: channels, clock, parameters, initial condition, and the prose of its card.
//!
//! The specification is data. The docs, the command line, the Python spaces and the checks on user input are all
//! generated from it, so they cannot drift from the code.

pub use crate::channel::{Channel, Image};
use serde::{Deserialize, Serialize};

crate::with_defaults! {
    /// The description of one environment.
    #[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
    pub struct EnvSpec {
        /// The name by which commands, cards and results refer to the environment.
        pub id: String = String::new(),
        /// One line for listings.
        pub summary: String = String::new(),
        /// Paper, simulator and the deviations from them.
        pub source: String = String::new(),
        /// What the policy reads at each step.
        pub observation: Vec<Channel> = vec![],
        /// What the policy does at each step.
        pub action: Vec<Channel> = vec![],
        /// Seconds of simulated time per step.
        pub dt_secs: f64 = 1.0,
        /// Whether nobody has stated the seconds of a step, so that times in seconds mean nothing here.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        pub assumes_dt: bool = false,
        /// Steps after which the runner ends an episode.
        pub horizon: u32 = 200,
        /// Physical quantities that [`crate::env::Env::set_parameter`] accepts.
        pub parameters: Vec<Parameter> = vec![],
        /// Names of the entries of an initial condition, in order.
        pub initial: Vec<String> = vec![],
        /// How the reward of one step is computed.
        pub reward: String = String::new(),
        /// The distribution of initial conditions.
        pub reset: String = String::new(),
        /// When the goal counts as met and when an episode ends before the horizon.
        pub success: String = String::new(),
        /// What to say to whoever asks how often an episode fails, where nobody has said what a failure is; else empty.
        #[serde(default, skip_serializing_if = "String::is_empty")]
        pub question: String = String::new(),
        /// Names of the class ids in rendered masks; 0 is the background. Empty if the environment cannot be rendered.
        pub classes: Vec<String> = vec![],
        /// Names of the cameras. Empty if the environment cannot be rendered.
        pub cameras: Vec<String> = vec![],
    }
}

impl EnvSpec {
    /// An environment with a name and nothing else: what a specification takes for the fields that it does not give.
    pub fn new(id: &str, summary: &str) -> EnvSpec {
        EnvSpec { id: id.into(), summary: summary.into(), ..EnvSpec::default() }
    }

    /// Numbers in an observation: one per channel, or as many as the pixels of an image.
    pub fn obs_width(&self) -> usize {
        crate::channel::width(&self.observation)
    }

    /// Numbers in an action.
    pub fn act_width(&self) -> usize {
        crate::channel::width(&self.action)
    }

    /// The shape of the observation if it is an image and nothing else.
    pub fn image(&self) -> Option<Image> {
        match self.observation.as_slice() {
            [only] => only.image,
            _ => None,
        }
    }

    /// The parameter of that name.
    ///
    /// # Errors
    /// [`ParameterError::Unknown`] with the nearest name that exists.
    pub fn parameter(&self, name: &str) -> Result<&Parameter, ParameterError> {
        self.parameters.iter().find(|p| p.name == name).ok_or_else(|| ParameterError::Unknown {
            env: self.id.clone(),
            name: name.into(),
            nearest: crate::suggest::nearest(name, self.parameters.iter().map(|p| p.name.as_str())),
        })
    }

    /// Checks that a parameter exists and that the value lies in its physical range.
    ///
    /// # Errors
    /// [`ParameterError`], naming what was expected and found.
    pub fn check(&self, name: &str, value: f64) -> Result<(), ParameterError> {
        let p = self.parameter(name)?;
        if (p.low..=p.high).contains(&value) {
            return Ok(());
        }
        Err(ParameterError::OutOfRange {
            env: self.id.clone(),
            name: name.into(),
            found: value,
            low: p.low,
            high: p.high,
        })
    }
}

/// A physical quantity of an environment that can be changed while an episode runs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Parameter {
    /// The identifier; the anomaly `dyn-<name>` changes it.
    pub name: String,
    /// What it stands for, and how the value enters the dynamics.
    pub meaning: String,
    /// SI unit, or `1` for factors.
    pub unit: String,
    /// The value of the undisturbed environment.
    pub nominal: f64,
    /// Smallest value with a physical meaning.
    pub low: f64,
    /// Largest value with a physical meaning.
    pub high: f64,
    /// Whether only cameras show it before it is too late. Patterns such as `dyn-*` leave it out.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_seen_only: bool,
}

impl Parameter {
    /// A parameter with its nominal value and physical range.
    pub fn new(name: &str, meaning: &str, unit: &str, nominal: f64, low: f64, high: f64) -> Parameter {
        let [name, meaning, unit] = [name, meaning, unit].map(String::from);
        Parameter { name, meaning, unit, nominal, low, high, is_seen_only: false }
    }

    /// The same, which only cameras show.
    pub fn seen_only(self) -> Parameter {
        Parameter { is_seen_only: true, ..self }
    }
}

/// Why a parameter was not changed.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ParameterError {
    /// The environment has no such parameter.
    #[error("environment {env} has no parameter {name:?}{}", crate::suggest::hint(.nearest))]
    Unknown {
        /// The environment that was asked.
        env: String,
        /// The name that was given.
        name: String,
        /// The most similar name that exists.
        nearest: Option<String>,
    },
    /// The value is outside the physical range (or not a number).
    #[error("parameter {name} of {env}: expected a value in [{low}, {high}], found {found}")]
    OutOfRange {
        /// The environment that was asked.
        env: String,
        /// The name that was given.
        name: String,
        /// The value that was given.
        found: f64,
        /// Smallest value accepted.
        low: f64,
        /// Largest value accepted.
        high: f64,
    },
    /// The environment cannot be made with that value.
    #[error("parameter {name} of {env}: {found} is not possible: {why}")]
    Refused {
        /// The environment that was asked.
        env: String,
        /// The name that was given.
        name: String,
        /// The value that was given.
        found: f64,
        /// What prevents it.
        why: String,
    },
}

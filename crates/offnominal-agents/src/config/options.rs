//! Options of a recipe that are words rather than numbers.

use offnominal_nets::tanh;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The weight of the entropy: `"auto"`, or a number.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Value", into = "Value")]
pub enum Alpha {
    /// Tuned, so that the entropy meets its target.
    Auto,
    /// Fixed.
    Fixed(f64),
}

impl TryFrom<Value> for Alpha {
    type Error = String;

    fn try_from(value: Value) -> Result<Alpha, String> {
        match (value.as_f64(), value.as_str()) {
            (Some(alpha), _) if alpha >= 0.0 => Ok(Alpha::Fixed(alpha)),
            (_, Some("auto")) => Ok(Alpha::Auto),
            _ => Err(format!("expected \"auto\" or a number that is not negative, found {value}")),
        }
    }
}

impl From<Alpha> for Value {
    fn from(alpha: Alpha) -> Value {
        match alpha {
            Alpha::Auto => "auto".into(),
            Alpha::Fixed(alpha) => alpha.into(),
        }
    }
}

/// How the learning rate changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Schedule {
    /// It stays.
    Constant,
    /// It falls to zero, linearly in the steps.
    Linear,
}

/// How observations are normalised.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Normalise {
    /// Not at all.
    None,
    /// By the mean and deviation of everything seen so far.
    Running,
    /// Images, by the mean image of everything seen so far: only what moves is left.
    Centred,
}

/// Which of the actors that were evaluated becomes the policy.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Keep {
    /// The one with the best evaluation; with few episodes per evaluation it may owe that to luck.
    Best,
    /// The last one, which a learning rate that falls to zero has settled.
    Last,
}

/// What takes an output z of an actor to an action, where actions reach from −1 to 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OutputActivation {
    /// tanh z
    Tanh,
    /// z, which the bounds cut when the action is carried out; critics see it as it is.
    Linear,
}

impl OutputActivation {
    /// The action.
    pub(crate) fn of(self, z: f32) -> f32 {
        match self {
            OutputActivation::Tanh => tanh(z),
            OutputActivation::Linear => z,
        }
    }

    /// Its derivative by z, from the action.
    pub(crate) fn slope(self, action: f32) -> f32 {
        match self {
            OutputActivation::Tanh => 1.0 - action * action,
            OutputActivation::Linear => 1.0,
        }
    }

    /// The action with noise added, within what this can say.
    pub(crate) fn within(self, action: f32) -> f32 {
        match self {
            OutputActivation::Tanh => action.clamp(-1.0, 1.0),
            OutputActivation::Linear => action,
        }
    }

    /// Its name.
    pub(crate) fn name(self) -> &'static str {
        match self {
            OutputActivation::Tanh => "tanh",
            OutputActivation::Linear => "linear",
        }
    }
}

//! How a policy of another program is played, for whoever reads its results.

use serde::{Deserialize, Serialize};
use std::fmt::{self, Display, Formatter};

/// How a policy of another program is played.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Played {
    /// The algorithm that trained it, or what it is.
    pub algorithm: String,
    /// By what its observations are normalised, and where that was found.
    pub observations: String,
    /// How many frames it sees together.
    pub stack: usize,
    /// What becomes of its outputs.
    pub action: String,
    /// Whether the same observations have the same actions.
    pub deterministic: bool,
    /// With what its environment was made in training, and is not here: classes around it, and options.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub training: Vec<String>,
}

impl Played {
    /// Something that does all of this itself.
    pub fn itself(algorithm: &str, action: &str, deterministic: bool) -> Played {
        Played {
            algorithm: algorithm.into(),
            observations: "not normalised here".into(),
            stack: 1,
            action: action.into(),
            deterministic,
            training: vec![],
        }
    }
}

impl Display for Played {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        let Played { algorithm, observations, stack, action, deterministic, training } = self;
        let frames = if *stack == 1 { "no stack".into() } else { format!("{stack} frames stacked") };
        let drawn = if *deterministic { "deterministic" } else { "its own randomness" };
        write!(out, "{algorithm}, observations {observations}, {frames}, action {action}, {drawn}")?;
        match &training[..] {
            [] => Ok(()),
            some => write!(out, "; trained with {}, which the environment must have itself", some.join(", ")),
        }
    }
}

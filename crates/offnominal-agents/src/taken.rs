//! A policy of another library, as this program keeps it.

use crate::actor::Actor;
use crate::network::{Network, Output};
use offnominal_core::policy::Policy;
use offnominal_core::spec::{Channel, EnvSpec};

/// A policy of another library: one like those that are trained here, or any other layers.
#[derive(Debug, Clone)]
pub enum Taken {
    /// Rectified dense layers and a squashed action, or the value of each choice.
    Actor(Box<Actor>),
    /// Anything else that a chain of layers computes.
    Network(Box<Network>),
}

impl Taken {
    /// The algorithm that trained it.
    pub fn algorithm(&self) -> &str {
        match self {
            Taken::Actor(actor) => actor.algorithm(),
            Taken::Network(network) => network.algorithm(),
        }
    }

    /// What becomes of its outputs.
    pub fn action(&self, spec: &EnvSpec) -> &'static str {
        match self {
            Taken::Actor(_) if spec.action.iter().any(Channel::is_choice) => {
                "the choice of the largest value"
            }
            Taken::Actor(_) => "squashed",
            Taken::Network(network) => match network.design().output {
                Output::Squashed => "squashed",
                Output::Bounded => "cut at the bounds",
                Output::Choices(_) => "the choice of the largest value",
                Output::Signs => "yes where positive",
            },
        }
    }

    /// Its file.
    pub fn to_bytes(&self) -> Vec<u8> {
        match self {
            Taken::Actor(actor) => actor.to_bytes(),
            Taken::Network(network) => network.to_bytes(),
        }
    }

    /// What acts.
    pub fn into_policy(self) -> Box<dyn Policy> {
        match self {
            Taken::Actor(actor) => actor,
            Taken::Network(network) => network,
        }
    }
}

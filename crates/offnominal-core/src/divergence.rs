//! Why an episode ended without an outcome: the environment broke, or a number was none.
//!
//! The runner looks at every number that enters an episode, so that no caller has to: what is recorded is finite, and
//! whatever was not is the reason why the episode ends.

use crate::channel::{Channel, spans};
use crate::env::{Status, Step};
use crate::spec::EnvSpec;
use serde::{Deserialize, Serialize};
use std::fmt::{self, Display, Formatter};

/// What broke an episode off.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "what")]
pub enum Divergence {
    /// The environment says that its simulation or its robot link broke.
    Environment,
    /// The observation with which the episode begins has a number that is not finite.
    FirstObservation {
        /// Position of the number.
        at: usize,
        /// What it is.
        found: NotFinite,
    },
    /// A later observation has a number that is not finite.
    Observation {
        /// Position of the number.
        at: usize,
        /// What it is.
        found: NotFinite,
    },
    /// The policy's action has a number that is not finite.
    Action {
        /// Position of the number.
        at: usize,
        /// What it is.
        found: NotFinite,
    },
    /// The reward of a step is not finite.
    Reward {
        /// What it is.
        found: NotFinite,
    },
    /// Each reward is finite, but not their sum.
    Return {
        /// What it is.
        found: NotFinite,
    },
}

/// What a number is that is not finite.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum NotFinite {
    /// Not a number.
    #[serde(rename = "NaN")]
    Nan,
    /// Beyond all numbers.
    #[serde(rename = "inf")]
    Infinity,
    /// Below all numbers.
    #[serde(rename = "-inf")]
    MinusInfinity,
}

impl NotFinite {
    /// What a number is; nothing if it is finite.
    pub fn of(x: f64) -> Option<NotFinite> {
        if x.is_nan() {
            return Some(NotFinite::Nan);
        }
        let sign = if x > 0.0 { NotFinite::Infinity } else { NotFinite::MinusInfinity };
        x.is_infinite().then_some(sign)
    }

    /// The first number of some that is not finite, with its position.
    pub fn first(numbers: &[f32]) -> Option<(usize, NotFinite)> {
        // Nearly always all are, and this loop without an exit is quick even for images.
        if numbers.iter().fold(true, |all, x| all & x.is_finite()) {
            return None;
        }
        numbers.iter().enumerate().find_map(|(at, x)| Some((at, NotFinite::of(f64::from(*x))?)))
    }
}

impl Divergence {
    /// What is wrong with a step that brought this observation, after which the return is `total`.
    pub fn of(step: &Step, obs: &[f32], total: f64) -> Option<Divergence> {
        if step.status == Status::Diverged {
            return Some(Divergence::Environment);
        }
        let reward = NotFinite::of(step.reward).map(|found| Divergence::Reward { found });
        let observed = || NotFinite::first(obs).map(|(at, found)| Divergence::Observation { at, found });
        let summed = || NotFinite::of(total).map(|found| Divergence::Return { found });
        reward.or_else(observed).or_else(summed)
    }

    /// What is wrong with the observation with which an episode begins.
    pub fn of_first(obs: &[f32]) -> Option<Divergence> {
        NotFinite::first(obs).map(|(at, found)| Divergence::FirstObservation { at, found })
    }

    /// What is wrong with a policy's action.
    pub fn of_action(action: &[f32]) -> Option<Divergence> {
        NotFinite::first(action).map(|(at, found)| Divergence::Action { at, found })
    }

    /// What happened, with the names of the environment's channels; `steps` were taken before.
    pub fn describe(&self, spec: &EnvSpec, steps: usize) -> String {
        let name = |channels: &[Channel], at| {
            let found = channels.iter().zip(spans(channels)).find(|(_, span)| span.contains(&at));
            found.map_or_else(|| format!("number {at}"), |(channel, _)| format!("channel {}", channel.name))
        };
        match self {
            Divergence::FirstObservation { at, found } => {
                format!("the first observation is not finite: {} is {found}", name(&spec.observation, *at))
            }
            Divergence::Observation { at, found } => {
                format!("observation of step {steps}: {} is {found}", name(&spec.observation, *at))
            }
            Divergence::Action { at, found } => {
                format!("action of step {steps}: {} is {found}", name(&spec.action, *at))
            }
            Divergence::Reward { found } => format!("reward of step {steps} is {found}"),
            Divergence::Return { found } => format!("the sum of the rewards up to step {steps} is {found}"),
            Divergence::Environment => {
                format!("the environment broke in step {}", steps.saturating_sub(1))
            }
        }
    }
}

impl Display for NotFinite {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            NotFinite::Nan => "NaN",
            NotFinite::Infinity => "inf",
            NotFinite::MinusInfinity => "-inf",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_number_that_is_none_is_found() {
        assert_eq!(NotFinite::first(&[0.0, f32::MAX, -1.0]), None);
        assert_eq!(
            NotFinite::first(&[0.0, f32::NEG_INFINITY, f32::NAN]),
            Some((1, NotFinite::MinusInfinity))
        );
        assert_eq!(NotFinite::of(f64::NAN), Some(NotFinite::Nan));
    }

    #[test]
    fn a_sum_beyond_all_numbers_is_told_apart_from_a_reward() {
        let step = Step::running(1e308);
        assert_eq!(Divergence::of(&step, &[0.0], 1e308), None);
        let summed = Divergence::of(&step, &[0.0], f64::INFINITY);
        assert_eq!(summed, Some(Divergence::Return { found: NotFinite::Infinity }));
        let broken = Step { reward: 0.0, status: Status::Diverged };
        assert_eq!(Divergence::of(&broken, &[f32::NAN], 0.0), Some(Divergence::Environment));
    }

    #[test]
    fn the_channel_is_named() {
        let mut spec = EnvSpec::new("w", "a fixture");
        spec.observation = vec![Channel::unbounded("x", "", "m"), Channel::unbounded("speed", "", "m/s")];
        let first = Divergence::of_first(&[0.0, f32::NAN]).unwrap();
        assert_eq!(first.describe(&spec, 0), "the first observation is not finite: channel speed is NaN");
        assert_eq!(
            Divergence::Reward { found: NotFinite::Infinity }.describe(&spec, 3),
            "reward of step 3 is inf"
        );
    }
}

//! What counts as a failure of an episode in a hosted environment: a rule of the user, or of a well-known environment.

use std::fmt::{self, Display, Formatter};
use std::str::FromStr;

/// A rule; an episode that does not fail by it succeeds.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Failure {
    /// The environment terminated the episode.
    Terminated,
    /// The environment did not terminate it before its time was over.
    Timeout,
    /// `info` had something true under this key, in whichever step.
    Info(String),
    /// `info` had nothing true under this key in the last step.
    InfoFalse(String),
    /// The return is below a number.
    ReturnBelow(f64),
}

/// What is known of an episode when it is over.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Ended {
    /// Whether the environment terminated it.
    pub(super) terminated: bool,
    /// Whether the key of the rule was seen true.
    pub(super) flagged: bool,
    /// Whether it was so in the last step.
    pub(super) flagged_last: bool,
    /// The sum of its rewards.
    pub(super) total: f64,
}

/// How the rules are written.
pub(super) const FORMS: &str = "terminated, timeout, info.KEY, info.KEY=false or return<R";

/// The rules of environments of Gymnasium whose documentation says what solves them or what ends them, by the beginning of
/// the id, up to the version.
const KNOWN: &[(&[&str], &str)] = &[
    (&["CartPole", "Ant", "Hopper", "Humanoid", "Walker2d"], "terminated"),
    (&["InvertedPendulum", "InvertedDoublePendulum"], "terminated"),
    (&["Acrobot", "MountainCar", "MountainCarContinuous", "CliffWalking", "Taxi"], "timeout"),
    (&["LunarLander", "LunarLanderContinuous"], "return<200"),
    (&["BipedalWalker", "BipedalWalkerHardcore"], "return<300"),
    (&["FrozenLake", "FrozenLake8x8"], "return<1"),
];

impl Failure {
    /// The rule of a well-known environment, by its id in Gymnasium.
    pub(super) fn known(registered: &str) -> Option<Failure> {
        let name = registered.rsplit_once("-v").map_or(registered, |(name, _)| name);
        let (_, rule) = KNOWN.iter().find(|(names, _)| names.contains(&name))?;
        Some(rule.parse().expect("a rule of the table is one"))
    }

    /// Whether an episode failed.
    pub(super) fn holds(&self, ended: Ended) -> bool {
        match self {
            Failure::Terminated => ended.terminated,
            Failure::Timeout => !ended.terminated,
            Failure::Info(_) => ended.flagged,
            Failure::InfoFalse(_) => !ended.flagged_last,
            Failure::ReturnBelow(least) => ended.total < *least,
        }
    }

    /// The key of `info` that it reads.
    pub(super) fn key(&self) -> Option<&str> {
        match self {
            Failure::Info(key) | Failure::InfoFalse(key) => Some(key),
            _ => None,
        }
    }
}

impl FromStr for Failure {
    type Err = String;

    fn from_str(text: &str) -> Result<Failure, String> {
        let refused = || format!("failure: expected {FORMS}, found {text:?}");
        if let Some(key) = text.strip_prefix("info.") {
            let (key, is_false) = key.strip_suffix("=false").map_or((key, false), |key| (key, true));
            let rule = if is_false { Failure::InfoFalse } else { Failure::Info };
            return if key.is_empty() { Err(refused()) } else { Ok(rule(key.into())) };
        }
        if let Some(number) = text.strip_prefix("return<") {
            let least = number.trim().parse().ok().filter(|least: &f64| least.is_finite());
            return least.map(Failure::ReturnBelow).ok_or_else(refused);
        }
        match text {
            "terminated" => Ok(Failure::Terminated),
            "timeout" => Ok(Failure::Timeout),
            _ => Err(refused()),
        }
    }
}

impl Display for Failure {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Failure::Terminated => write!(out, "An episode fails if the environment terminates it"),
            Failure::Timeout => write!(out, "An episode fails unless the environment terminates it"),
            Failure::Info(key) => write!(out, "An episode fails if `info` has a true {key:?}"),
            Failure::InfoFalse(key) => {
                write!(out, "An episode fails unless `info` has a true {key:?} at its end")
            }
            Failure::ReturnBelow(least) => write!(out, "An episode fails if its return is below {least}"),
        }?;
        write!(out, ", and succeeds otherwise")
    }
}

#[cfg(test)]
mod tests;

//! What counts as a failure of an episode in a hosted environment, where the user states it.

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
    /// The return is below a number.
    ReturnBelow(f64),
}

/// What is known of an episode when it is over.
#[derive(Debug, Clone, Copy)]
pub(super) struct Ended {
    /// Whether the environment terminated it.
    pub(super) terminated: bool,
    /// Whether the key of the rule was seen true.
    pub(super) flagged: bool,
    /// The sum of its rewards.
    pub(super) total: f64,
}

impl Failure {
    /// Whether an episode failed.
    pub(super) fn holds(&self, ended: Ended) -> bool {
        match self {
            Failure::Terminated => ended.terminated,
            Failure::Timeout => !ended.terminated,
            Failure::Info(_) => ended.flagged,
            Failure::ReturnBelow(least) => ended.total < *least,
        }
    }

    /// The key of `info` that it reads.
    pub(super) fn key(&self) -> Option<&str> {
        match self {
            Failure::Info(key) => Some(key),
            _ => None,
        }
    }
}

impl FromStr for Failure {
    type Err = String;

    fn from_str(text: &str) -> Result<Failure, String> {
        let refused =
            || format!("failure: expected terminated, timeout, info.KEY or return<R, found {text:?}");
        if let Some(key) = text.strip_prefix("info.").filter(|key| !key.is_empty()) {
            return Ok(Failure::Info(key.into()));
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
            Failure::ReturnBelow(least) => write!(out, "An episode fails if its return is below {least}"),
        }?;
        write!(out, ", and succeeds otherwise.")
    }
}

#[cfg(test)]
mod tests;

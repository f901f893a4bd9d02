//! By what an episode of a hosted environment fails, and who says so. Where nobody does, an episode that the environment
//! terminates has neither failed nor succeeded: it may have fallen or reached its goal.

use crate::foreign::failure::{Ended, FORMS, Failure};
use crate::foreign::wanted::Wanted;
use crate::foreign::wire::Reply;
use offnominal_core::env::Status;
use std::fmt::{self, Display, Formatter};

/// Keys of `info` by which environments tell a success.
const SUCCESS: [&str; 2] = ["is_success", "success"];

/// The most keys of `info` that are listed.
const LISTED: usize = 30;

/// How episodes are judged.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Judging {
    rule: Rule,
    /// The key of `info` that tells how far the state is from failure.
    margin: Option<String>,
}

/// What counts as a failure besides a margin that is used up.
#[derive(Debug, Clone, PartialEq)]
enum Rule {
    /// The user has said so.
    Stated(Failure),
    /// So it is for the environment of that id in Gymnasium.
    Known(Failure, String),
    /// To be terminated without a success, which `info` tells under a key.
    Own(String),
    /// Nobody has said it; these keys of `info` might tell.
    Nobody(Vec<String>),
}

impl Judging {
    /// That of an environment with a registered id, if Gymnasium has one for it, whose `info` has these keys.
    pub(super) fn of(wanted: &Wanted, registered: Option<&str>, offered: &[String]) -> Judging {
        let known = || {
            let id = registered?;
            Failure::known(id).map(|rule| Rule::Known(rule, id.into()))
        };
        let own = || {
            let key = SUCCESS.into_iter().find(|key| offered.iter().any(|other| other == key))?;
            Some(Rule::Own(key.into()))
        };
        let stated = wanted.failure.clone().map(Rule::Stated);
        let rule = stated.or_else(own).or_else(known).unwrap_or_else(|| Rule::Nobody(offered.to_vec()));
        Judging { rule, margin: wanted.margin.clone() }
    }

    /// How an episode stands, and whether it has succeeded where that is known already.
    pub(super) fn status(&self, reply: Reply, so_far: Ended, is_late: bool) -> (Status, Option<bool>) {
        if self.margin.is_some() && reply.margin <= 0.0 {
            return (Status::Failed, Some(false));
        }
        let is_over = reply.terminated || reply.truncated || is_late;
        match &self.rule {
            Rule::Stated(rule) | Rule::Known(rule, _) if is_over => {
                let failed = rule.holds(so_far);
                let status = match (failed, reply.terminated) {
                    (true, _) => Status::Failed,
                    (false, true) => Status::Succeeded,
                    (false, false) => Status::TimedOut,
                };
                (status, Some(!failed))
            }
            Rule::Stated(_) | Rule::Known(..) => (Status::Running, None),
            // The margin alone says it: what did not fail by it succeeded.
            Rule::Nobody(_) if self.margin.is_some() => (own(reply, Some(true)), is_over.then_some(true)),
            Rule::Own(_) | Rule::Nobody(_) => (own(reply, reply.success), reply.success),
        }
    }

    /// What to say to whoever asks how often the environment fails; nothing where that is known.
    pub(super) fn question(&self) -> String {
        let Rule::Nobody(offered) = &self.rule else { return String::new() };
        if self.margin.is_some() {
            return String::new();
        }
        let keys = match &offered[..] {
            [] => "`info` has shown no truth and no number".to_string(),
            keys => format!("`info` offers {}", keys[..keys.len().min(LISTED)].join(", ")),
        };
        format!(
            "expected to know what counts as a failure, which nobody has said: `terminated` may be a fall or the goal. \
             Say it with --failure RULE ({FORMS}), --failure-margin info.KEY, --stl FORMULA or --below R; {keys}"
        )
    }
}

/// How an episode stands by the environment's own words.
fn own(reply: Reply, success: Option<bool>) -> Status {
    match (reply.terminated, reply.truncated, success) {
        (true, _, Some(true)) => Status::Succeeded,
        (true, _, Some(false)) => Status::Failed,
        (true, _, None) => Status::Ended,
        (false, true, _) => Status::TimedOut,
        (false, false, _) => Status::Running,
    }
}

impl Display for Judging {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        if let Some(key) = &self.margin {
            write!(out, "An episode fails as soon as `info` has a {key:?} of zero or less. ")?;
        }
        match &self.rule {
            Rule::Stated(rule) => write!(out, "{rule} (stated)."),
            Rule::Known(rule, id) => {
                write!(out, "{rule} (this program's rule for {id}; --failure states another).")
            }
            Rule::Own(key) => {
                write!(
                    out,
                    "An episode fails if the environment terminates it without a true {key:?} in `info`."
                )
            }
            Rule::Nobody(_) if self.margin.is_some() => write!(out, "Every other episode succeeds."),
            Rule::Nobody(_) => {
                write!(out, "Nobody has said what counts as a failure; --failure RULE states it.")
            }
        }
    }
}

#[cfg(test)]
mod tests;

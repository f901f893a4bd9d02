//! What the requests of all crates have in common.
//!
//! A request comes from a command line, from Python or from a file. Its numbers are checked where the command begins,
//! before anything is allocated; the largest that are accepted are those of [`limits`](offnominal_core::limits).

use anyhow::{Result, ensure};
use clap::error::ErrorKind;
use clap::{ArgMatches, Args, Command, FromArgMatches};
use offnominal_files::store::address;
use offnominal_hosts::foreign;
use serde::{Deserialize, Serialize};
use std::fmt::{self, Display, Formatter};
use std::ops::{Deref, RangeInclusive};

/// Help of `--policy`.
pub const POLICY: &str =
    "Policy: name of `list policies`, file, `module:name` of Python, `command:COMMAND`, or `random`";

/// Help of `--robot`.
pub const ROBOT: &str = "Address of a real robot: it moves! [default: a simulated robot]";

/// The id of an environment, with what counts as a failure there if that was stated.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct EnvId(pub String);

/// The flags that make it.
#[derive(Args)]
struct EnvFlags {
    /// Environment: id of `list envs` or `gymnasium:ID`; `?noise=LEVEL` adds noise
    #[arg(long)]
    env: String,
    /// Gymnasium: `terminated`, `timeout`, `info.KEY`, `info.KEY=false` or `return<R` is failure
    #[arg(long, value_name = "RULE")]
    failure: Option<String>,
    /// Gymnasium: number in `info` that is zero at failure
    #[arg(long, value_name = "info.KEY")]
    failure_margin: Option<String>,
}

impl FromArgMatches for EnvId {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let given = |option: &str| matches.get_one::<String>(option);
        let stated = [("failure", given("failure")), ("margin", given("failure_margin"))];
        let mut stated = stated.into_iter().filter_map(|(option, value)| Some((option, value?)));
        let id = given("env").cloned().unwrap_or_default();
        let id = stated.try_fold(id, |id, (option, value)| foreign::with_option(&id, option, value));
        id.map(EnvId).map_err(|why| clap::Error::raw(ErrorKind::ValueValidation, format!("{why:#}\n")))
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = EnvId::from_arg_matches(matches)?;
        Ok(())
    }
}

impl Args for EnvId {
    fn augment_args(line: Command) -> Command {
        EnvFlags::augment_args(line)
    }

    fn augment_args_for_update(line: Command) -> Command {
        EnvFlags::augment_args_for_update(line)
    }
}

impl EnvId {
    /// Another id with what counts as a failure here, unless it says it itself.
    ///
    /// # Errors
    /// If something counts as a failure here that cannot be stated of the other, as it is not hosted.
    pub fn stated_too(&self, other: &str) -> Result<String> {
        let says = |id: &str, option: &str| {
            id.split(['?', '&'])
                .find_map(|part| part.strip_prefix(option)?.strip_prefix('=').map(String::from))
        };
        let mut options = ["failure", "margin"].into_iter().filter(|option| says(other, option).is_none());
        options.try_fold(other.to_string(), |id, option| match says(&self.0, option) {
            Some(value) => foreign::with_option(&id, option, &value),
            None => Ok(id),
        })
    }
}

impl Deref for EnvId {
    type Target = str;

    fn deref(&self) -> &str {
        &self.0
    }
}

impl Display for EnvId {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        out.write_str(&self.0)
    }
}

impl From<&str> for EnvId {
    fn from(id: &str) -> EnvId {
        EnvId(id.into())
    }
}

/// Refuses a number outside its range.
///
/// # Errors
/// If it is.
pub fn within<T: PartialOrd + Display>(name: &str, found: T, range: RangeInclusive<T>) -> Result<()> {
    let (low, high) = (range.start(), range.end());
    ensure!(range.contains(&found), "{name}: expected {low} to {high}, found {found}");
    Ok(())
}

/// The longest beginning of an id in a file's name.
const LONGEST_STEM: usize = 150;

/// The id of an environment as a file's name: what no file's name can hold is a low line, and what is too long ends with
/// a digest.
pub fn file_stem(id: &str) -> String {
    let plain = id.replace(['/', '\\', ':', '?', '&', '<', '>', '|', '*', '"'], "_");
    if plain.len() <= LONGEST_STEM {
        return plain;
    }
    let beginning: String = plain.chars().take(LONGEST_STEM / 2).collect();
    format!("{beginning}-{}", address(id.as_bytes()))
}

/// Refuses a number that is not finite and above zero.
///
/// # Errors
/// If it is not.
pub fn positive(name: &str, found: f64) -> Result<()> {
    ensure!(found > 0.0 && found.is_finite(), "{name}: expected a number above 0, found {found}");
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_outside_its_range_is_named_with_the_range() {
        let error = within("episodes", 4_000_000_000_u64, 1..=1_000_000).unwrap_err().to_string();
        assert_eq!(error, "episodes: expected 1 to 1000000, found 4000000000");
        assert!(within("share", f64::NAN, 0.0..=1.0).is_err());
        assert!(
            positive("t", 1.0).is_ok()
                && [0.0, -1.0, f64::NAN, f64::INFINITY].iter().all(|&t| positive("t", t).is_err())
        );
    }
}

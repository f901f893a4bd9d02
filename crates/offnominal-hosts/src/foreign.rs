//! Environments of others: anything that Gymnasium can make, as an environment of this program.
//!
//! `gymnasium:<id>?<option>=<value>&…` names one. It lives in a process of Python that this program starts
//! (`worker`), several environments in one process; messages go over a Unix socket, and large observations through a
//! file in memory. An environment that hangs, raises or takes its process with it ends the episode as diverged, and
//! [`Env::health`] says why: whoever plays decides what else that spoils.
//!
//! The processes stay alive between commands and their stages (`pool`). A policy that is `module:name` acts in them too.
//!
//! The initial condition is the seed that the environment's `reset` gets, so an episode can be had again in Python.

#[cfg(unix)]
mod actor;
#[cfg(unix)]
mod ahead;
#[cfg(unix)]
mod answers;
#[cfg(unix)]
mod core;
#[cfg(unix)]
mod describe;
#[cfg(unix)]
mod environment;
#[cfg(unix)]
mod failure;
#[cfg(unix)]
mod folder;
#[cfg(unix)]
mod given;
#[cfg(unix)]
mod guest;
#[cfg(unix)]
mod host;
#[cfg(unix)]
mod judging;
#[cfg(unix)]
mod line;
#[cfg(unix)]
mod manifest;
#[cfg(unix)]
mod policy;
#[cfg(unix)]
mod pool;
#[cfg(unix)]
mod repeats;
#[cfg(unix)]
pub(crate) mod said;
#[cfg(unix)]
mod wanted;
#[cfg(unix)]
mod wire;
#[cfg(unix)]
mod worker;

#[cfg(unix)]
pub use answers::{answers, manifest};
use anyhow::Result;
use offnominal_core::env::Env;
use offnominal_core::policy::Policy;
use offnominal_core::spec::EnvSpec;
use std::path::PathBuf;

/// How the names of such environments begin.
const PREFIX: &str = "gymnasium:";

/// The interpreter that hosts them, if it is not to be `python3`.
pub const PYTHON: &str = "OFFNOMINAL_PYTHON";

/// The interpreter that the user names, that of the virtual environment, or the system's.
pub fn interpreter() -> PathBuf {
    if let Some(named) = std::env::var_os(PYTHON) {
        return named.into();
    }
    let of_environment =
        std::env::var_os("VIRTUAL_ENV").map(|folder| PathBuf::from(folder).join("bin/python"));
    of_environment.filter(|python| python.is_file()).unwrap_or_else(|| "python3".into())
}

/// The most seconds for an answer of an environment, its construction included.
#[cfg(unix)]
const TIMEOUT_SECS: f64 = 60.0;

/// What Gymnasium calls an environment, if that is where it comes from.
pub fn named(environment: &str) -> Option<&str> {
    environment.strip_prefix(PREFIX)
}

/// The environment of that name in Gymnasium.
///
/// # Errors
/// If no interpreter can be started, it has no Gymnasium, or that makes no such environment.
#[cfg(unix)]
pub fn open(id: &str) -> Result<Box<dyn Env>> {
    Ok(Box::new(environment::Foreign::open(id)?))
}

/// The policy `module:name` of Python for an environment, and its digest.
///
/// # Errors
/// If no interpreter can be started, or there is nothing of that name that acts.
#[cfg(unix)]
pub fn policy(name: &str, spec: &EnvSpec) -> Result<(Box<dyn Policy>, String)> {
    policy::open(name, spec)
}

/// There are no Unix sockets here.
///
/// # Errors
/// Always.
#[cfg(not(unix))]
pub fn policy(name: &str, _: &EnvSpec) -> Result<(Box<dyn Policy>, String)> {
    anyhow::bail!("policy {name}: expected a Unix system, which policies of Python need here")
}

/// Options of an id that change nothing that happens in an episode until it is judged.
const OF_JUDGING: [&str; 5] = ["failure=", "margin=", "timeout=", "memory=", "check="];

/// The id of an environment without the options by which its episodes are only judged or watched; magnitudes are the same
/// with and without them.
pub fn simulator(id: &str) -> String {
    let Some((name, query)) = id.split_once('?').filter(|_| named(id).is_some()) else { return id.into() };
    let is_kept = |option: &&str| !OF_JUDGING.iter().any(|own| option.starts_with(own));
    let options: Vec<&str> = query.split('&').filter(is_kept).collect();
    if options.is_empty() { name.into() } else { format!("{name}?{}", options.join("&")) }
}

/// The id of a hosted environment in which an option says what counts as a failure (`failure`), or how far a state is from
/// one (`margin`).
///
/// # Errors
/// If the environment is not hosted, or its id has that option already.
pub fn with_option(environment: &str, option: &str, value: &str) -> Result<String> {
    anyhow::ensure!(
        named(environment).is_some(),
        "{option}: expected an environment of Gymnasium ({PREFIX}ID), whose failures may be stated, found {environment}"
    );
    let has_one = environment.split(['?', '&']).any(|known| known.starts_with(&format!("{option}=")));
    anyhow::ensure!(!has_one, "{option}: expected one, found another one in {environment}");
    let sign = if environment.contains('?') { '&' } else { '?' };
    Ok(format!("{environment}{sign}{option}={value}"))
}

/// The shape of the observations of a hosted environment, where they are one box of numbers.
pub fn shape(environment: &str) -> Option<Vec<usize>> {
    #[cfg(unix)]
    let shape = named(environment).and_then(environment::shape);
    #[cfg(not(unix))]
    let shape = None;
    shape
}

/// Whether two different seeds began the same episode of a hosted environment and nothing was seen to be drawn, where that was
/// checked.
pub fn begins_alike(environment: &str) -> bool {
    #[cfg(unix)]
    let alike = named(environment).is_some_and(environment::begins_alike);
    #[cfg(not(unix))]
    let alike = false;
    alike
}

/// Makes an environment known by a name, which the calling program has as an object, and returns its id; `how` is what
/// `worker/making.py` reads.
#[cfg(unix)]
pub fn give(name: &str, how: serde_json::Value) -> String {
    given::give(name, how)
}

/// There are no Unix sockets here; opening the environment tells so.
#[cfg(not(unix))]
pub fn give(name: &str, _: serde_json::Value) -> String {
    format!("{PREFIX}given:{name}")
}

/// Ends the processes that nobody uses; they would stay for the next command otherwise.
pub fn end_all() {
    #[cfg(unix)]
    pool::end_all();
}

/// Whether a policy of that name is one of Python: `module:name`, with or without options.
pub fn is_policy(name: &str) -> bool {
    let path = name.split_once('?').map_or(name, |(path, _)| path);
    let is_word = |word: &str| {
        !word.starts_with(|c: char| c.is_ascii_digit())
            && !word.is_empty()
            && word.chars().all(|c| c.is_alphanumeric() || c == '_')
    };
    let parts = path.split_once(':').map(|(module, thing)| [module, thing]);
    parts.is_some_and(|parts| parts.iter().all(|part| part.split('.').all(is_word)))
}

/// There are no Unix sockets here.
///
/// # Errors
/// Always.
#[cfg(not(unix))]
pub fn open(id: &str) -> Result<Box<dyn Env>> {
    anyhow::bail!(
        "environment {PREFIX}{id}: expected a Unix system, which environments of Gymnasium need here"
    )
}

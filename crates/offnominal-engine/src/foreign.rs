//! Environments of others: anything that Gymnasium can make, as an environment of this program.
//!
//! `gymnasium:<id>?<option>=<value>&…` names one. It lives in a process of Python that this program starts
//! ([`worker`]), several environments in one process; messages go over a Unix socket, and large observations through a
//! file in memory. An environment that hangs, raises or takes its process with it ends the episode as diverged, and
//! [`Env::health`] says why: whoever plays decides what else that spoils.
//!
//! The initial condition is the seed that the environment's `reset` gets, so an episode can be had again in Python.

#[cfg(unix)]
mod answers;
#[cfg(unix)]
mod describe;
#[cfg(unix)]
mod environment;
#[cfg(unix)]
mod folder;
#[cfg(unix)]
mod guest;
#[cfg(unix)]
mod host;
#[cfg(unix)]
mod said;
#[cfg(unix)]
mod wire;
#[cfg(unix)]
mod worker;

#[cfg(unix)]
pub use answers::answers;
use anyhow::Result;
use offnominal_core::env::Env;

/// How the names of such environments begin.
const PREFIX: &str = "gymnasium:";

/// The interpreter that hosts them, if it is not to be `python3`.
pub const PYTHON: &str = "OFFNOMINAL_PYTHON";

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

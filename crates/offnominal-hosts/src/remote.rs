//! Policies that are a command of the shell, `command:COMMAND`: a line of JSON in for each observation, one out for each
//! action (`lines`).
//!
//! Each copy of such a policy has a process of its own (`policy`), so that episodes may be played side by side. What does not
//! answer in time, ends, or answers with something else gives no action, which ends the episode as diverged;
//! [`Policy::health`] says why, and commands end with that.

#[cfg(unix)]
pub mod lines;
#[cfg(unix)]
mod name;
#[cfg(unix)]
mod policy;
#[cfg(unix)]
mod process;
#[cfg(unix)]
mod wait;

use anyhow::Result;
use offnominal_core::policy::Policy;
use offnominal_core::spec::EnvSpec;

/// Whether a policy of that name is a command.
pub fn is_remote(name: &str) -> bool {
    name.contains(':') && name.split([':', '?']).next() == Some("command")
}

/// The policy of that name for an environment, with its digest, which is that of the name: what answers may change.
///
/// # Errors
/// If it cannot be started, or an option makes no sense.
#[cfg(unix)]
pub fn open(name: &str, spec: &EnvSpec) -> Result<(Box<dyn Policy>, String)> {
    use sha2::{Digest, Sha256};
    offnominal_files::confined::may_run(name)?;
    let digest = offnominal_files::store::hex(&Sha256::digest(name.as_bytes()));
    let command = name::Command::read(name)?;
    Ok((Box::new(policy::RemotePolicy::open(name, command, spec)?), digest))
}

/// There are no process groups here.
///
/// # Errors
/// Always.
#[cfg(not(unix))]
pub fn open(name: &str, _: &EnvSpec) -> Result<(Box<dyn Policy>, String)> {
    anyhow::bail!("policy {name}: expected a Unix system, which policies of other processes need here")
}

#[cfg(all(test, unix))]
mod tests;

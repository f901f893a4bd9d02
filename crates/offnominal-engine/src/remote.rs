//! Policies that live elsewhere: in a process that speaks JSON lines, or behind a policy server of openpi.
//!
//! | name                    | what it is                                                                              |
//! |-------------------------|-----------------------------------------------------------------------------------------|
//! | `command:COMMAND`       | a command of the shell: a line of JSON in for each observation, one out for each action  |
//! | `openpi:ws://HOST:PORT` | a server of openpi: a WebSocket with maps of MessagePack                                |
//!
//! Each copy of such a policy has a process or a connection of its own (`policy`), so that episodes may be played side by
//! side. What does not answer in time, ends, or answers with something else gives no action, which ends the episode as
//! diverged; [`Policy::health`] says why, and commands end with that.

#[cfg(unix)]
pub mod lines;
#[cfg(unix)]
mod name;
#[cfg(unix)]
mod openpi;
#[cfg(unix)]
mod policy;
#[cfg(unix)]
mod process;
#[cfg(unix)]
mod wait;
#[cfg(unix)]
mod websocket;

use anyhow::Result;
use offnominal_core::policy::Policy;
use offnominal_core::spec::EnvSpec;

/// How the names of such policies begin, before a colon and, where there are any, options.
const KINDS: [&str; 2] = ["command", "openpi"];

/// Whether a policy of that name lives elsewhere.
pub fn is_remote(name: &str) -> bool {
    let kind = name.split([':', '?']).next().unwrap_or_default();
    name.contains(':') && KINDS.contains(&kind)
}

/// The policy of that name for an environment, with its digest, which is that of the name: what answers may change.
///
/// # Errors
/// If it cannot be reached, or an option makes no sense.
#[cfg(unix)]
pub fn open(name: &str, spec: &EnvSpec) -> Result<(Box<dyn Policy>, String)> {
    use sha2::{Digest, Sha256};
    offnominal_files::confined::may_run(name)?;
    let digest = offnominal_files::store::hex(&Sha256::digest(name.as_bytes()));
    let connect = match name::Remote::read(name)? {
        name::Remote::Command { command, limit } => process::connect(command, limit, spec),
        name::Remote::Openpi(server) => openpi::connect(server, spec)?,
    };
    Ok((Box::new(policy::RemotePolicy::open(name, connect)?), digest))
}

/// There are no process groups here.
///
/// # Errors
/// Always.
#[cfg(not(unix))]
pub fn open(name: &str, _: &EnvSpec) -> Result<(Box<dyn Policy>, String)> {
    anyhow::bail!("policy {name}: expected a Unix system, which policies of other processes need here")
}

/// The actions in an answer of a policy server of openpi: how many at once, and their numbers, one action after another.
///
/// # Errors
/// If it holds none of that many numbers each.
#[cfg(unix)]
pub fn openpi_actions(message: &[u8], width: usize) -> Result<(usize, Vec<f32>)> {
    openpi::actions(message, width)
}

/// A message of a WebSocket, as a server sends it, from a stream; whether it is binary, and its bytes.
///
/// # Errors
/// If it is none, is too long, or closes the connection.
#[cfg(unix)]
pub fn websocket_message(stream: &mut impl std::io::Read) -> Result<(bool, Vec<u8>)> {
    let mut whole = Vec::new();
    let is_binary = websocket::message(stream, &mut whole, |_| Ok(()))?;
    Ok((is_binary, whole))
}

#[cfg(all(test, unix))]
mod tests;

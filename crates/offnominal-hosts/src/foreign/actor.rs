//! One policy in a process of Python.

use crate::foreign::line::Line;
use crate::foreign::wire::{self, Request};
use crate::foreign::worker::Worker;
use anyhow::{Context, Result, ensure};
use serde::Deserialize;
use std::sync::Arc;
use std::time::Duration;

/// A policy, and the connection that stands for it.
pub(super) struct Actor {
    line: Line,
    number: u32,
}

/// What `worker/policy.py` says of a policy.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct About {
    /// SHA-256 of the file of its module and of its name.
    pub(super) digest: String,
    /// The thread in which it acts.
    thread: i32,
    /// Its number in its process.
    number: u32,
}

impl About {
    /// Reads what is said of a policy.
    ///
    /// # Errors
    /// If it is not what `worker/policy.py` sends.
    pub(super) fn read(json: &[u8]) -> Result<About> {
        let about: About = serde_json::from_slice(json).context("the description that its process sent")?;
        let is_sound = about.digest.len() == 64 && about.digest.bytes().all(|c| c.is_ascii_hexdigit());
        ensure!(is_sound, "digest: expected 64 hexadecimal digits, found {:?}", about.digest);
        Ok(about)
    }
}

impl Actor {
    /// Has a policy made that gives so many numbers, and hears what it says of itself.
    ///
    /// # Errors
    /// If it cannot be made, or not in time.
    pub(super) fn invite(
        worker: Arc<Worker>,
        wanted: &str,
        limit: Duration,
        commands: usize,
    ) -> Result<(Actor, About)> {
        let mut line = Line::open(worker, limit)?;
        let about = About::read(line.ask(Request::Seat(wanted), b'H')?)?;
        line.expect(commands);
        line.answered_by(about.thread);
        Ok((Actor { line, number: about.number }, about))
    }

    /// An episode begins.
    ///
    /// # Errors
    /// If the policy raises, or there is no answer in time.
    pub(super) fn forget(&mut self) -> Result<()> {
        self.line.ask(Request::Forget, b'O').map(drop)
    }

    /// The command for an observation.
    ///
    /// # Errors
    /// As above.
    pub(super) fn act(&mut self, obs: &[f32], command: &mut [f32]) -> Result<()> {
        let expected = command.len();
        let body = self.line.ask(Request::Act(obs), b'A')?;
        let fits = wire::numbers(body, false, command);
        ensure!(fits, "expected an action of {expected} numbers, found {} bytes", body.len());
        Ok(())
    }

    /// The connection.
    pub(super) fn line(&self) -> &Line {
        &self.line
    }

    /// Its number in its process.
    pub(super) fn number(&self) -> u32 {
        self.number
    }

    /// Whether its process may be used for further episodes.
    pub(super) fn is_welcome(&self) -> bool {
        self.line.is_welcome()
    }
}

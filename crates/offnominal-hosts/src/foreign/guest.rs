//! One environment in a process of Python.

use crate::foreign::ahead::{Ahead, Played};
use crate::foreign::describe::Description;
use crate::foreign::line::Line;
use crate::foreign::repeats::Repeats;
use crate::foreign::wire::{self, Reply, Request};
use crate::foreign::worker::Worker;
use anyhow::{Context, Result, ensure};
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

/// An environment, and the connection that stands for it.
pub(super) struct Guest {
    line: Line,
    shared: Option<File>,
    is_image: bool,
    /// Numbers of an observation.
    width: usize,
}

impl Guest {
    /// Has an environment made, and hears what it says of itself.
    ///
    /// # Errors
    /// If it cannot be made, or not in time.
    pub(super) fn invite(worker: Arc<Worker>, wanted: &str, limit: Duration) -> Result<(Guest, Description)> {
        let mut line = Line::open(worker, limit)?;
        let described = Description::read(line.ask(Request::Make(wanted), b'H')?)?;
        let width = described.obs_width();
        line.expect(width);
        line.answered_by(described.thread);
        let shared = described.shared.as_deref().map(|path| opened(line.worker(), path)).transpose()?;
        line.worker().enter();
        Ok((Guest { line, shared, is_image: described.is_image(), width }, described))
    }

    /// Whether a seed repeats its episode.
    ///
    /// # Errors
    /// If the environment raises, or there is no answer in time.
    pub(super) fn check(&mut self) -> Result<Repeats> {
        self.line.expect(wire::LONGEST_ERROR);
        let found = Repeats::read(self.line.ask(Request::Check, b'H')?);
        self.line.expect(self.width);
        found
    }

    /// Begins the episode of a seed, with parameters that were drawn for it by their indices.
    ///
    /// # Errors
    /// If the environment raises or does not keep what was drawn, or there is no answer in time.
    pub(super) fn reset(&mut self, seed: u64, drawn: &[(u32, f64)], obs: &mut [f32]) -> Result<Reply> {
        self.line.ask(Request::Reset(seed, drawn), b'O')?;
        self.reply(obs)
    }

    /// Takes a step.
    ///
    /// # Errors
    /// As above.
    pub(super) fn step(&mut self, command: &[f32], obs: &mut [f32]) -> Result<Reply> {
        self.line.ask(Request::Step(command), b'O')?;
        self.reply(obs)
    }

    /// Whether steps may be played ahead with that policy: it is in the same process, and observations are short.
    pub(super) fn plays_with(&self, policy: &Ahead) -> bool {
        policy.is_in(self.line.worker()) && self.line.is_cheap() && self.shared.is_none() && !self.is_image
    }

    /// Plays steps ahead with a policy.
    ///
    /// # Errors
    /// If there is no answer in time, or none that can be read.
    pub(super) fn play(&mut self, policy: u32, steps: usize, obs: &[f32], commands: usize) -> Result<Played> {
        let asked = u32::try_from(steps)?;
        let body = self.line.ask_for_steps(asked, Request::Play(policy, asked, obs), b'L')?;
        let played = Played::read(body, steps, obs.len(), commands);
        played.with_context(|| format!("its process sent {} bytes that are no steps", body.len()))
    }

    /// Changes a parameter.
    ///
    /// # Errors
    /// As above.
    pub(super) fn set(&mut self, index: u32, value: f64) -> Result<()> {
        self.line.ask(Request::Set(index, value), b'O').map(drop)
    }

    /// The connection.
    pub(super) fn line(&self) -> &Line {
        &self.line
    }

    /// Whether its process may be used for further episodes.
    pub(super) fn is_welcome(&self) -> bool {
        self.line.is_welcome()
    }

    /// Reads the last answer and the observation that belongs to it.
    fn reply(&mut self, obs: &mut [f32]) -> Result<Reply> {
        let (heard, room) = self.line.buffers();
        let (reply, rest) = Reply::read(heard).context("its process sent an answer without a reward")?;
        let found = rest.len();
        let fits = match &self.shared {
            None => wire::numbers(rest, self.is_image, obs),
            Some(file) => {
                room.resize(obs.len() * if self.is_image { 1 } else { 4 }, 0);
                file.read_exact_at(room, 0).context("cannot read the observation of its process")?;
                wire::numbers(room, self.is_image, obs)
            }
        };
        ensure!(fits, "observation: expected {} numbers, found {found} bytes", obs.len());
        Ok(reply)
    }
}

impl Drop for Guest {
    fn drop(&mut self) {
        self.line.worker().leave();
    }
}

/// The file through which observations come; once both sides have it, it needs no name.
fn opened(worker: &Worker, path: &Path) -> Result<File> {
    ensure!(worker.shares(path), "shared: expected a file of its own folder, found {}", path.display());
    let file = File::open(path).context("cannot open the observations of its process")?;
    std::fs::remove_file(path).context("cannot unlink the observations of its process")?;
    Ok(file)
}

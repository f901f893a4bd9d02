//! One environment in a process of Python, as the engine speaks to it.

use crate::foreign::describe::Description;
use crate::foreign::wire::{self, Patient, Reply, Request};
use crate::foreign::worker::Worker;
use anyhow::{Context, Result, anyhow, bail, ensure};
use std::fs::File;
use std::io::ErrorKind;
use std::os::unix::fs::FileExt;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// An environment, and the connection that stands for it.
pub(super) struct Guest {
    worker: Arc<Worker>,
    stream: UnixStream,
    limit: Duration,
    shared: Option<File>,
    is_image: bool,
    /// The longest answer that is believed.
    longest: usize,
    /// Both are used again and again.
    sent: Vec<u8>,
    heard: Vec<u8>,
}

impl Guest {
    /// Has an environment made, and hears what it says of itself.
    ///
    /// # Errors
    /// If it cannot be made, or not in time.
    pub(super) fn invite(worker: Arc<Worker>, id: &str, limit: Duration) -> Result<(Guest, Description)> {
        let (stream, sent, heard) = (worker.connect()?, Vec::new(), Vec::new());
        stream.set_read_timeout(Some(wire::SLICE))?;
        stream.set_write_timeout(Some(limit))?;
        let longest = wire::LONGEST_DESCRIPTION;
        let mut guest = Guest { worker, stream, limit, shared: None, is_image: false, longest, sent, heard };
        guest.ask(Request::Make(id), b'H')?;
        let described = Description::read(&guest.heard)?;
        guest.is_image = described.is_image();
        guest.longest = wire::LONGEST_ERROR.max(described.obs_width().saturating_mul(4).saturating_add(64));
        guest.shared = described.shared.as_deref().map(|path| guest.open(path)).transpose()?;
        Ok((guest, described))
    }

    /// Begins the episode of a seed.
    ///
    /// # Errors
    /// If the environment raises, or there is no answer in time.
    pub(super) fn reset(&mut self, seed: u64, obs: &mut [f32]) -> Result<Reply> {
        self.ask(Request::Reset(seed), b'O')?;
        self.reply(obs)
    }

    /// Takes a step.
    ///
    /// # Errors
    /// As above.
    pub(super) fn step(&mut self, command: &[f32], obs: &mut [f32]) -> Result<Reply> {
        self.ask(Request::Step(command), b'O')?;
        self.reply(obs)
    }

    /// Changes a parameter.
    ///
    /// # Errors
    /// As above.
    pub(super) fn set(&mut self, index: usize, value: f64) -> Result<()> {
        self.ask(Request::Set(u32::try_from(index)?, value), b'O')
    }

    /// The file through which observations come; once both sides have it, it needs no name.
    fn open(&self, path: &Path) -> Result<File> {
        ensure!(
            self.worker.shares(path),
            "shared: expected a file of its own folder, found {}",
            path.display()
        );
        let file = File::open(path).context("cannot open the observations of its process")?;
        std::fs::remove_file(path).context("cannot unlink the observations of its process")?;
        Ok(file)
    }

    /// The process in which it is.
    pub(super) fn worker(&self) -> &Worker {
        &self.worker
    }

    /// Whether its process may be used for further episodes.
    pub(super) fn is_welcome(&self) -> bool {
        self.worker.is_open()
    }

    fn ask(&mut self, request: Request<'_>, expected: u8) -> Result<()> {
        let Guest { stream, sent, heard, longest, limit, .. } = self;
        let mut answer = Patient { stream, until: Instant::now() + *limit };
        let answered =
            request.send(&mut &*stream, sent).and_then(|()| wire::receive(&mut answer, heard, *longest));
        let letter = answered.map_err(|error| self.gone(&error))?;
        if letter == b'E' {
            bail!("{}", String::from_utf8_lossy(&self.heard));
        }
        ensure!(
            letter == expected,
            "its process: expected {:?}, found {:?}",
            expected as char,
            letter as char
        );
        Ok(())
    }

    /// What a failed exchange means. Whoever did not answer once is not asked again.
    fn gone(&self, error: &std::io::Error) -> anyhow::Error {
        self.worker.retire();
        let secs = self.limit.as_secs_f64();
        match error.kind() {
            ErrorKind::WouldBlock | ErrorKind::TimedOut => {
                self.worker.give_up();
                anyhow!("expected an answer within {secs} s, found none")
            }
            ErrorKind::ConnectionAborted => anyhow!("stopped while an answer was waited for"),
            ErrorKind::InvalidData => anyhow!("its process sent {error}"),
            _ => anyhow!("{}", self.worker.why_silent("closed the connection")),
        }
    }

    /// Reads the last answer and the observation that belongs to it.
    fn reply(&mut self, obs: &mut [f32]) -> Result<Reply> {
        let (reply, rest) =
            Reply::read(&self.heard).context("its process sent an answer without a reward")?;
        let found = rest.len();
        let fits = match &self.shared {
            None => wire::numbers(rest, self.is_image, obs),
            Some(file) => {
                self.sent.resize(obs.len() * if self.is_image { 1 } else { 4 }, 0);
                file.read_exact_at(&mut self.sent, 0)
                    .context("cannot read the observation of its process")?;
                wire::numbers(&self.sent, self.is_image, obs)
            }
        };
        ensure!(fits, "observation: expected {} numbers, found {found} bytes", obs.len());
        Ok(reply)
    }
}

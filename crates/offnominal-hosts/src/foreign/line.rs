//! A connection to a process of Python: one environment or one policy, as the engine speaks to it.

use crate::foreign::core::{self, Core};
use crate::foreign::wire::{self, Patient, Request};
use crate::foreign::worker::Worker;
use anyhow::{Result, anyhow, bail, ensure};
use std::io::ErrorKind;
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// An answer within this time is cheap: to wake another core for it would take a good part of it.
const CHEAP: Duration = Duration::from_micros(500);

/// How many more cheap answers than dear ones make a cheap connection; no more of either are remembered.
const MANY: i32 = 16;

/// A connection, whose answers come in time or never again.
pub(super) struct Line {
    worker: Arc<Worker>,
    stream: UnixStream,
    limit: Duration,
    /// The longest answer that is believed.
    longest: usize,
    /// The thread at the other end, and the core to which it was brought.
    thread: Option<i32>,
    core: Option<Core>,
    /// How many more answers were cheap than dear, lately.
    cheap: i32,
    /// Both are used again and again.
    sent: Vec<u8>,
    heard: Vec<u8>,
}

impl Line {
    /// A new connection, whose first answer is a description.
    ///
    /// # Errors
    /// If the process cannot be reached.
    pub(super) fn open(worker: Arc<Worker>, limit: Duration) -> Result<Line> {
        let (stream, sent, heard) = (worker.connect()?, Vec::new(), Vec::new());
        stream.set_read_timeout(Some(wire::SLICE))?;
        stream.set_write_timeout(Some(limit))?;
        let (longest, thread, core, cheap) = (wire::LONGEST_DESCRIPTION, None, None, 0);
        Ok(Line { worker, stream, limit, longest, thread, core, cheap, sent, heard })
    }

    /// Knows the thread at the other end from now on, which shares the core of the threads that ask it.
    pub(super) fn answered_by(&mut self, thread: i32) {
        self.thread = Some(thread).filter(|&thread| self.worker.has_thread(thread));
    }

    /// Whether most answers come so soon that a core should be shared for them.
    pub(super) fn is_cheap(&self) -> bool {
        self.cheap >= MANY
    }

    /// Brings the thread at the other end to the core of this one, or lets it go.
    fn share_core(&mut self) {
        let here = core::of_this_thread();
        if let Some(thread) = self.thread.filter(|_| here != self.core) {
            core::bring(thread, here);
            self.core = here;
        }
    }

    /// Believes no longer answers than those with so many numbers from now on.
    pub(super) fn expect(&mut self, numbers: usize) {
        self.longest = wire::LONGEST_ERROR.max(numbers.saturating_mul(4).saturating_add(64));
    }

    /// Sends a request and hears its answer.
    ///
    /// # Errors
    /// What was raised there; that nothing came in time, or something that is no answer of ours.
    pub(super) fn ask(&mut self, request: Request<'_>, expected: u8) -> Result<&[u8]> {
        self.ask_for_steps(1, request, expected)
    }

    /// The same, of an answer that stands for so many.
    ///
    /// # Errors
    /// As above.
    pub(super) fn ask_for_steps(&mut self, steps: u32, request: Request<'_>, expected: u8) -> Result<&[u8]> {
        self.share_core();
        let began = Instant::now();
        let Line { stream, sent, heard, longest, limit, .. } = self;
        let mut answer = Patient { stream, until: began + *limit };
        let answered =
            request.send(&mut &*stream, sent).and_then(|()| wire::receive(&mut answer, heard, *longest));
        let letter = answered.map_err(|error| self.gone(&error))?;
        let one = if began.elapsed() < CHEAP * steps { 1 } else { -1 };
        self.cheap = (self.cheap + one).clamp(-2 * MANY, 2 * MANY);
        if letter == b'E' {
            bail!("{}", String::from_utf8_lossy(&self.heard));
        }
        ensure!(
            letter == expected,
            "its process: expected {:?}, found {:?}",
            expected as char,
            letter as char
        );
        Ok(&self.heard)
    }

    /// The last answer, and room that is used again and again.
    pub(super) fn buffers(&mut self) -> (&[u8], &mut Vec<u8>) {
        (&self.heard, &mut self.sent)
    }

    /// The process at the other end.
    pub(super) fn worker(&self) -> &Arc<Worker> {
        &self.worker
    }

    /// Whether that process may be used for further episodes.
    pub(super) fn is_welcome(&self) -> bool {
        self.worker.is_open()
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
}

//! A monitor at work: steps as lines in and verdicts as lines out, and what else becomes of the verdicts: a page in the
//! browser, an MCAP file, and what happened before an alarm.
//!
//! | file              | content                                                          |
//! |-------------------|------------------------------------------------------------------|
//! | [`stream`]        | steps and verdicts as JSON lines                                 |
//! | `tick`            | what there is at a tick: observation, action, verdict            |
//! | `topics`          | ticks as messages of MCAP                                        |
//! | `mcap_file`       | an MCAP file that grows with the ticks                           |
//! | `recorder`        | the ticks of the last seconds, and when they are written         |
//! | `alarm_files`     | those ticks as Arrow and MCAP                                    |
//! | `address`         | where the page is, and who may see it                            |
//! | `http`            | requests and answers                                             |
//! | `hub`             | what the page knows, between the monitor and the browsers        |
//! | `metrics`         | the same for Prometheus                                          |
//! | `page`            | the page itself                                                  |
//! | `server`          | who answers requests                                             |

mod address;
mod alarm_files;
mod http;
mod hub;
mod mcap_file;
mod metrics;
mod page;
mod recorder;
mod server;
pub mod stream;
#[cfg(test)]
mod testing;
mod tick;
mod topics;

use anyhow::{Error, Result};
use offnominal_monitor::{About, VerdictLine};
use offnominal_work::progress::Progress;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

pub use address::Address;
use mcap_file::McapFile;
use recorder::Recorder;
use server::Server;
use tick::{Tick, TickVerdict};

/// Whether bytes are the head of a request that the page of this machine would answer, for the list of all readers.
///
/// # Panics
/// Never: the address is one of this machine.
pub fn is_request(head: &[u8]) -> bool {
    let address = Address::new("127.0.0.1:0", None).expect("an address of this machine");
    http::Request::parse(head).is_ok_and(|request| {
        let _ = request.query("token");
        request.body().is_ok() && address.admits(&request).is_ok()
    })
}

/// What else becomes of the verdicts; by default nothing.
#[derive(Debug, Default)]
pub struct Settings {
    /// Where the page is.
    pub serve: Option<Address>,
    /// How much of what happened before an alarm is kept, and the folder in which it is written.
    pub record: Option<(Duration, PathBuf)>,
    /// The file of all observations, actions and verdicts.
    pub mcap: Option<PathBuf>,
}

/// What there is at a tick of the clock. A number that was not read is not finite.
#[derive(Debug, Clone, Copy)]
pub struct TickInput<'a> {
    /// When it is, in nanoseconds of the clock of the log; without a log, of a clock that begins at 0 and counts steps.
    pub time_nanos: i64,
    /// Which episode, counted from 0.
    pub episode: u64,
    /// The observation.
    pub observation: &'a [f64],
    /// The action that answers it, if it is known by now; else [`Live::acted`] tells it.
    pub action: Option<&'a [f64]>,
}

/// Who is told every tick besides the reader of the verdicts. By default nobody is.
#[derive(Default)]
pub struct Live {
    server: Option<Server>,
    recorder: Option<Recorder>,
    mcap: Option<McapFile>,
    /// Why the MCAP file ended early.
    failed: Option<Error>,
    notes: Option<Arc<dyn Progress>>,
}

impl Live {
    /// Opens the files and begins to answer requests; `file` is the monitor's, `notes` is told the address and what goes
    /// wrong later.
    ///
    /// # Errors
    /// If the address or the folder cannot be had, or the MCAP file exists.
    pub fn open(settings: Settings, file: &Path, about: &About, notes: &Arc<dyn Progress>) -> Result<Live> {
        let Settings { serve, record, mcap } = settings;
        let record = record.map(|(span, folder)| Recorder::new(span, &folder, about, notes));
        let mcap = mcap.map(|path| McapFile::create(&path, about));
        let (recorder, mcap) = (record.transpose()?, mcap.transpose()?);
        let server = serve.map(|address| Server::start(&address, file, about, notes)).transpose()?;
        Ok(Live { server, recorder, mcap, failed: None, notes: Some(Arc::clone(notes)) })
    }

    /// Whether somebody has acknowledged the alarm since this was asked last.
    pub fn is_acknowledged(&self) -> bool {
        self.server.as_ref().is_some_and(|server| server.hub().is_acknowledged())
    }

    /// The first tick of an episode, on which there is nothing to say.
    pub fn first(&mut self, seen: &TickInput<'_>) {
        self.keep(seen, None);
    }

    /// A tick, and what is said of the step that it ends.
    ///
    /// # Panics
    /// If the line is not JSON, which is a mistake of ours.
    pub fn step(&mut self, seen: &TickInput<'_>, said: &VerdictLine<'_>) {
        if self.server.is_none() && self.recorder.is_none() && self.mcap.is_none() {
            return;
        }
        let line = serde_json::to_vec(said).expect("a verdict is JSON");
        if let Some(server) = &self.server {
            server.hub().say(&said.verdict, said.dropped, &line);
        }
        self.keep(seen, Some(TickVerdict { verdict: said.verdict, line: line.into() }));
    }

    /// The action that answers the last observation, where it was not known with it.
    pub fn acted(&mut self, action: &[f64]) {
        if let Some(recorder) = &mut self.recorder {
            recorder.acted(action);
        }
        self.write(|mcap| mcap.acted(action));
    }

    /// Nothing comes any more: waits for files that are being written and, for a moment, for browsers.
    ///
    /// # Errors
    /// If something could not be written; it was said when it happened.
    pub fn finish(self) -> Result<()> {
        if let Some(server) = self.server {
            server.finish();
        }
        let recorded = self.recorder.map_or(Ok(()), Recorder::finish);
        let ended = self.mcap.map_or(Ok(()), McapFile::finish);
        self.failed.map_or(Ok(()), Err).and(ended).and(recorded)
    }

    fn keep(&mut self, seen: &TickInput<'_>, said: Option<TickVerdict>) {
        if self.recorder.is_none() && self.mcap.is_none() {
            return;
        }
        let TickInput { time_nanos, episode, observation, action } = *seen;
        let action = action.map(Box::from);
        let tick = Tick { time_nanos, episode, observation: observation.into(), action, said };
        self.write(|mcap| mcap.add(&tick));
        let Some(recorder) = &mut self.recorder else { return };
        let is_lost = !recorder.add(tick);
        if let Some(server) = self.server.as_ref().filter(|_| is_lost) {
            server.hub().lost_recording();
        }
    }

    /// Writes to the MCAP file. A verdict does not wait for a disk that is full: this is said, and the file ends there.
    fn write(&mut self, write: impl FnOnce(&mut McapFile) -> Result<()>) {
        let Some(Err(why)) = self.mcap.as_mut().map(write) else { return };
        let note =
            |notes: &Arc<dyn Progress>| notes.note(&format!("{why:#}; the monitor goes on without it"));
        self.notes.iter().for_each(note);
        (self.mcap, self.failed) = (None, Some(why));
    }
}

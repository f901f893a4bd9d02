//! The ticks of the last seconds, which are written where an alarm is raised.
//!
//! The loop that judges steps never waits for a disk: another thread writes, and takes at most [`MOST_WAITING`] alarms that
//! wait. Ticks are shared with it, not copied.

use super::alarm_files;
use super::tick::Tick;
use anyhow::{Context, Result, anyhow, ensure};
use offnominal_core::alarm::Event;
use offnominal_files::lock::Lock;
use offnominal_files::write;
use offnominal_monitor::About;
use offnominal_work::progress::Progress;
use std::collections::VecDeque;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};
use std::thread::JoinHandle;
use std::time::Duration;

/// Alarms that wait to be written.
const MOST_WAITING: usize = 4;

/// The most memory of the ticks that are kept.
const MOST_BYTES: usize = 256 << 20;

/// The longest time that may be kept.
pub const LONGEST: Duration = Duration::from_secs(86_400);

/// The ticks of the last seconds, and who writes them.
pub struct Recorder {
    span_nanos: i64,
    ticks: VecDeque<Arc<Tick>>,
    n_bytes: usize,
    most_bytes: usize,
    /// What was said once already.
    has_said: Warned,
    notes: Arc<dyn Progress>,
    to: SyncSender<Alarm>,
    writer: JoinHandle<usize>,
    _lock: Lock,
}

#[derive(Default)]
struct Warned {
    full: bool,
    short: bool,
}

/// What is written at an alarm.
struct Alarm {
    episode: u64,
    step: u64,
    ticks: Vec<Arc<Tick>>,
}

impl Recorder {
    /// Keeps ticks for so long, and writes into a folder, which nobody else writes into at the same time.
    ///
    /// # Errors
    /// If the time is none or too long, or the folder cannot be had.
    pub fn new(span: Duration, folder: &Path, about: &About, notes: &Arc<dyn Progress>) -> Result<Recorder> {
        ensure!(
            span > Duration::ZERO && span <= LONGEST,
            "record: expected more than 0 and at most {} seconds, found {}",
            LONGEST.as_secs(),
            span.as_secs_f64()
        );
        let lock = Lock::folder(folder)?;
        let (to, alarms) = sync_channel(MOST_WAITING);
        let writer = Writer { folder: folder.into(), about: about.clone(), notes: Arc::clone(notes) };
        let writer = std::thread::Builder::new().name("alarms".into()).spawn(move || writer.work(&alarms));
        Ok(Recorder {
            span_nanos: span.as_nanos() as i64,
            ticks: VecDeque::new(),
            n_bytes: 0,
            most_bytes: MOST_BYTES,
            has_said: Warned::default(),
            notes: Arc::clone(notes),
            to,
            writer: writer.context("cannot start a thread that writes what happened before an alarm")?,
            _lock: lock,
        })
    }

    /// Keeps a tick, and hands on what is kept if an alarm is raised; false if nobody could take it.
    pub fn add(&mut self, tick: Tick) -> bool {
        let now = tick.time_nanos;
        // Episodes of one table may each have a clock of their own.
        if self.ticks.back().is_some_and(|last| last.time_nanos > now) {
            self.ticks.clear();
            self.n_bytes = 0;
        }
        let verdict = tick.said.as_ref().map(|said| said.verdict);
        let episode = tick.episode;
        self.n_bytes += tick.n_bytes();
        self.ticks.push_back(Arc::new(tick));
        while self.ticks.front().is_some_and(|first| now.saturating_sub(first.time_nanos) > self.span_nanos) {
            self.forget();
        }
        while self.n_bytes > self.most_bytes && self.ticks.len() > 1 {
            self.forget();
            if !std::mem::replace(&mut self.has_said.short, true) {
                self.notes.note("record: more than 256 MiB in that time, so less of it is kept");
            }
        }
        let Some(raised) = verdict.filter(|verdict| verdict.event == Some(Event::Raised)) else {
            return true;
        };
        self.hand_on(Alarm { episode, step: raised.step, ticks: self.ticks.iter().cloned().collect() })
    }

    /// The action that answers the last observation.
    pub fn acted(&mut self, action: &[f64]) {
        if let Some(last) = self.ticks.back_mut() {
            // A tick that is being written stays as it was.
            Arc::make_mut(last).action = Some(action.into());
            self.n_bytes += size_of_val(action);
        }
    }

    /// Waits until everything is written.
    ///
    /// # Errors
    /// If something could not be written.
    pub fn finish(self) -> Result<()> {
        drop(self.to);
        let n_failed =
            self.writer.join().map_err(|_| anyhow!("writing what happened before an alarm failed"))?;
        ensure!(n_failed == 0, "{n_failed} files of what happened before an alarm could not be written");
        Ok(())
    }

    fn forget(&mut self) {
        self.n_bytes -= self.ticks.pop_front().map_or(0, |tick| tick.n_bytes());
    }

    fn hand_on(&mut self, alarm: Alarm) -> bool {
        let (episode, step) = (alarm.episode, alarm.step);
        let Err(TrySendError::Full(_) | TrySendError::Disconnected(_)) = self.to.try_send(alarm) else {
            return true;
        };
        if !std::mem::replace(&mut self.has_said.full, true) {
            let note =
                "what happened before it is not written, as earlier alarms still are; this is said once";
            self.notes.note(&format!("alarm in episode {episode}, step {step}: {note}"));
        }
        false
    }
}

/// The thread that writes.
struct Writer {
    folder: PathBuf,
    about: About,
    notes: Arc<dyn Progress>,
}

impl Writer {
    /// Writes what comes; the number of files that could not be written.
    fn work(self, alarms: &Receiver<Alarm>) -> usize {
        alarms.iter().map(|alarm| self.write(&alarm)).sum()
    }

    fn write(&self, Alarm { episode, step, ticks }: &Alarm) -> usize {
        let name = self.free_name(&format!("alarm-{episode}-{step}"));
        let path = |ending: &str| self.folder.join(format!("{name}.{ending}"));
        let arrow = || write::atomically(&path("arrow"), &alarm_files::arrow(ticks, &self.about)?);
        let mcap = || write::atomically(&path("mcap"), &alarm_files::mcap(ticks, &self.about)?);
        let failed: Vec<_> = [arrow(), mcap()].into_iter().filter_map(Result::err).collect();
        let place = format!("alarm in episode {episode}, step {step}");
        failed.iter().for_each(|why| self.notes.note(&format!("{place}: {why:#}")));
        if failed.is_empty() {
            let (n, arrow) = (ticks.len(), path("arrow"));
            self.notes
                .note(&format!("{place}: the {n} ticks before it are in {} and .mcap", arrow.display()));
        }
        failed.len()
    }

    /// The name, with a number behind it if an earlier run has left files of that name.
    fn free_name(&self, name: &str) -> String {
        let is_free = |name: &String| {
            ["arrow", "mcap"].iter().all(|ending| !self.folder.join(format!("{name}.{ending}")).exists())
        };
        let numbered = (2_u64..).map(|n| format!("{name}-{n}"));
        std::iter::once(name.to_string()).chain(numbered).find(is_free).expect("some name is free")
    }
}

#[cfg(test)]
mod tests;

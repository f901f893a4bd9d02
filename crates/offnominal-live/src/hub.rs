//! What the page knows: the last verdicts, and counts. The loop that judges steps puts them here, and threads that talk to
//! browsers take them; it waits for nobody but for the moment in which a thread copies addresses.

use super::tick;
use offnominal_core::alarm::{Event, State};
use offnominal_monitor::{SensorEvent, Verdict};
use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// Verdicts that a browser can still get; one that reads more slowly misses some.
pub const RECENT: usize = 600;

/// Alarms and lost sensors that a browser can still get when their verdicts are no longer among the recent ones.
const NOTABLE: usize = 100;

/// A line for the browsers, counted from 1.
#[derive(Debug, Clone)]
pub struct Message {
    /// Its number.
    pub id: u64,
    /// Whether it is one of the past that is worth knowing, and others near it are not told.
    pub is_past: bool,
    /// The verdict as a JSON object.
    pub line: Arc<[u8]>,
}

/// What has happened so far, for Prometheus.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Counts {
    /// Verdicts.
    pub steps: u64,
    /// Alarms that were raised, and those that somebody acknowledged.
    pub alarms: u64,
    /// Requests to acknowledge an alarm that was on.
    pub acknowledgements: u64,
    /// Numbers of observations that were not read.
    pub missing: u64,
    /// Lines that came late or twice.
    pub dropped: u64,
    /// Times at which at least one sensor was lost.
    pub sensors_lost: u64,
    /// Alarms of which nobody could write what happened before.
    pub recordings_lost: u64,
    /// The last verdict.
    pub last: Option<Verdict>,
}

/// What the loop and the threads share.
pub struct Hub {
    state: Mutex<Shared>,
    changed: Condvar,
    is_acknowledged: AtomicBool,
    /// Tells this run from an earlier one at the same address.
    run: u64,
}

#[derive(Default)]
struct Shared {
    recent: VecDeque<Message>,
    notable: VecDeque<Message>,
    counts: Counts,
    is_over: bool,
    readers: usize,
}

/// What a browser is to be told.
#[derive(Debug, PartialEq, Eq, Clone, Copy)]
pub enum Next {
    /// Messages have been added.
    Messages,
    /// Nothing happened in the time.
    Nothing,
    /// Nothing comes any more.
    Over,
}

impl Hub {
    /// Nothing has happened.
    pub fn new() -> Hub {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let run = since.as_millis() as u64;
        Hub { state: Mutex::default(), changed: Condvar::new(), is_acknowledged: AtomicBool::new(false), run }
    }

    /// Tells this run from others, in the ids of messages.
    pub fn run(&self) -> u64 {
        self.run
    }

    /// Adds a verdict.
    pub fn say(&self, verdict: &Verdict, dropped: u64, line: &[u8]) {
        let line: Arc<[u8]> = line.into();
        let mut shared = self.lock();
        let is_raised = verdict.event == Some(Event::Raised);
        let is_lost = verdict.sensor_event == Some(SensorEvent::Lost);
        let counts = &mut shared.counts;
        counts.steps += 1;
        counts.alarms += u64::from(is_raised);
        counts.sensors_lost += u64::from(is_lost);
        counts.missing += u64::from(verdict.missing);
        counts.dropped = dropped;
        let is_notable = verdict.event.is_some() || verdict.sensor_event.is_some();
        counts.last = Some(*verdict);
        let message = Message { id: counts.steps, is_past: false, line };
        if is_notable {
            push(&mut shared.notable, Message { is_past: true, ..message.clone() }, NOTABLE);
        }
        push(&mut shared.recent, message, RECENT);
        drop(shared);
        self.changed.notify_all();
    }

    /// What happened before an alarm was not written.
    pub fn lost_recording(&self) {
        self.lock().counts.recordings_lost += 1;
    }

    /// What has happened so far.
    pub fn counts(&self) -> Counts {
        self.lock().counts
    }

    /// Asks to take the alarm back before the next step is judged; false if none is on.
    pub fn acknowledge(&self) -> bool {
        let mut shared = self.lock();
        let is_on = shared.counts.last.is_some_and(|last| last.state == State::Raised);
        shared.counts.acknowledgements += u64::from(is_on);
        self.is_acknowledged.fetch_or(is_on, Ordering::Relaxed);
        is_on
    }

    /// Whether that was asked since the last time.
    pub fn is_acknowledged(&self) -> bool {
        // Asked in every step, so a plain read comes first.
        self.is_acknowledged.load(Ordering::Relaxed) && self.is_acknowledged.swap(false, Ordering::Relaxed)
    }

    /// Adds the messages after one of this number, in their order: the recent ones, and of those before them what is
    /// notable. Waits so long for one; whoever waited before and comes late gets what is left.
    pub fn after(&self, id: u64, patience: Duration, into: &mut Vec<Message>) -> Next {
        let (mut shared, until) = (self.lock(), Instant::now() + patience);
        loop {
            let oldest = shared.recent.front().map_or(u64::MAX, |first| first.id);
            let past = shared.notable.iter().filter(|message| message.id > id && message.id < oldest);
            let missed = id.saturating_add(1).saturating_sub(oldest) as usize;
            into.extend(past.chain(shared.recent.iter().skip(missed)).cloned());
            let left = until.saturating_duration_since(Instant::now());
            match (into.is_empty(), shared.is_over) {
                (false, _) => return Next::Messages,
                (true, true) => return Next::Over,
                (true, false) if left.is_zero() => return Next::Nothing,
                (true, false) => {
                    let waited = self.changed.wait_timeout(shared, left);
                    shared = waited.unwrap_or_else(PoisonError::into_inner).0;
                }
            }
        }
    }

    /// Somebody reads the messages until this is dropped.
    pub fn reader(self: &Arc<Hub>) -> Reader {
        self.lock().readers += 1;
        Reader(Arc::clone(self))
    }

    /// Nothing comes any more; waits so long until all readers have read the last message.
    pub fn end(&self, patience: Duration) {
        let (mut shared, until) = (self.lock(), Instant::now() + patience);
        shared.is_over = true;
        self.changed.notify_all();
        loop {
            let left = until.saturating_duration_since(Instant::now());
            if shared.readers == 0 || left.is_zero() {
                return;
            }
            shared = self.changed.wait_timeout(shared, left).unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    fn lock(&self) -> MutexGuard<'_, Shared> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Somebody who reads the messages.
pub struct Reader(Arc<Hub>);

impl Drop for Reader {
    fn drop(&mut self) {
        self.0.lock().readers -= 1;
        self.0.changed.notify_all();
    }
}

fn push(to: &mut VecDeque<Message>, message: Message, most: usize) {
    if to.len() == most {
        to.pop_front();
    }
    to.push_back(message);
}

/// The word for the state, before the first verdict too.
pub fn state(counts: &Counts) -> &'static str {
    counts.last.map_or("waiting", |last| tick::state(last.state))
}

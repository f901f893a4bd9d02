//! How work tells how far it is, whoever shows it: a bar in the terminal, tqdm in Python, JSON events, or nobody.

use anyhow::{Error, Result, anyhow};
use offnominal_core::fit_progress::FitProgress;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// Shows tasks. A program that embeds the engine brings its own.
pub trait Progress: Send + Sync {
    /// Shows a task of which a part may have been done before.
    fn begin(&self, what: &str, work: Range<u64>) -> Box<dyn Tracker>;

    /// Shows a line about the run that is no result.
    fn note(&self, line: &str);
}

/// Shows one task; the task ends when the tracker is dropped.
pub trait Tracker: Send + Sync {
    /// So much of so much is done.
    fn update(&self, done: u64, total: u64);

    /// What is being done at the moment; it replaces the message before.
    fn message(&self, text: &str);

    /// A line that stays, where messages cannot be replaced; `text` is the message without a position.
    fn milestone(&self, _line: &str) {}
}

/// Nobody looks.
#[derive(Debug, Clone, Copy)]
pub struct Silent;

impl Progress for Silent {
    fn begin(&self, _: &str, _: Range<u64>) -> Box<dyn Tracker> {
        Box::new(Silent)
    }

    fn note(&self, _: &str) {}
}

impl Tracker for Silent {
    fn update(&self, _: u64, _: u64) {}

    fn message(&self, _: &str) {}
}

/// Counted work; it is shown until the value is dropped.
pub struct Task {
    done: AtomicU64,
    total: AtomicU64,
    tracker: Box<dyn Tracker>,
    stop: Arc<AtomicBool>,
}

impl Task {
    /// What asks for the end of the task.
    pub fn stop(&self) -> &Arc<AtomicBool> {
        &self.stop
    }

    /// Begins a task of which a part may have been done before; it is to end when `stop` is set.
    pub fn begin(progress: &dyn Progress, stop: Arc<AtomicBool>, work: Range<u64>, what: &str) -> Task {
        let tracker = progress.begin(what, work.clone());
        Task { done: AtomicU64::new(work.start), total: AtomicU64::new(work.end), tracker, stop }
    }

    /// A task that nobody sees.
    pub fn hidden() -> Task {
        Task::begin(&Silent, Arc::default(), 0..0, "")
    }

    /// Refuses to go on if the work was asked to stop.
    ///
    /// # Errors
    /// If it was.
    pub fn check(&self) -> Result<()> {
        check(&self.stop)
    }

    /// Whether the work was asked to stop.
    pub fn is_stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    /// So many more units are done.
    pub fn inc(&self, n: u64) {
        let done = self.done.fetch_add(n, Ordering::Relaxed) + n;
        self.tracker.update(done, self.total.load(Ordering::Relaxed));
    }

    /// The number of units that are done.
    pub fn position(&self) -> u64 {
        self.done.load(Ordering::Relaxed)
    }

    /// So many units are done in all.
    pub fn set_position(&self, done: u64) {
        self.done.store(done, Ordering::Relaxed);
        self.inc(0);
    }

    /// There are so many units in all.
    pub fn set_length(&self, total: u64) {
        self.total.store(total, Ordering::Relaxed);
        self.inc(0);
    }

    /// Does work that knows how far it is. `hear` hears each per cent once; the work ends early when the task is to end.
    ///
    /// # Errors
    /// If it was asked to stop; else that of the work.
    pub fn watched<T, E: Into<Error>>(
        &self,
        hear: impl Fn(u64) + Sync,
        work: impl FnOnce(FitProgress<'_>) -> Result<T, E>,
    ) -> Result<T> {
        let last = AtomicU64::new(0);
        let tell = |share: f64| {
            let percent = (100.0 * share) as u64;
            if last.fetch_max(percent, Ordering::Relaxed) < percent {
                hear(percent);
            }
            !self.stop.load(Ordering::Relaxed)
        };
        let done = work(FitProgress::new(&tell));
        // That it was stopped says more than what then became of the work.
        done.or_else(|error| self.check().and(Err(error.into())))
    }

    /// Says what is being done at the moment.
    pub fn set_message(&self, text: &str) {
        self.tracker.message(text);
    }

    /// Says something that is worth a line of its own, where messages cannot be replaced.
    pub fn milestone(&self, line: &str) {
        self.tracker.milestone(line);
    }
}

/// Refuses to go on if the work was asked to stop.
pub fn check(stop: &AtomicBool) -> Result<()> {
    if stop.load(Ordering::Relaxed) { Err(stopped()) } else { Ok(()) }
}

/// The error of work that was asked to stop.
pub fn stopped() -> Error {
    anyhow!("stopped; what is finished is saved, and the same command continues from there")
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Mutex;

    #[derive(Default, Clone)]
    struct Seen(Arc<Mutex<Vec<String>>>);

    impl Progress for Seen {
        fn begin(&self, what: &str, work: Range<u64>) -> Box<dyn Tracker> {
            self.note(&format!("{what} {work:?}"));
            Box::new(self.clone())
        }

        fn note(&self, line: &str) {
            self.0.lock().unwrap().push(line.into());
        }
    }

    impl Tracker for Seen {
        fn update(&self, done: u64, total: u64) {
            self.note(&format!("{done}/{total}"));
        }

        fn message(&self, text: &str) {
            self.note(text);
        }
    }

    #[test]
    fn watched_work_tells_each_per_cent_once_and_can_be_stopped() {
        let (seen, stop) = (Seen::default(), Arc::<AtomicBool>::default());
        let task = Task::begin(&Silent, Arc::clone(&stop), 0..100, "");
        let heard = |percent: u64| seen.note(&percent.to_string());
        let work = |progress: FitProgress<'_>| (0..1000).try_for_each(|i| progress.at(i, 2000));
        task.watched(heard, work).unwrap();
        assert_eq!(*seen.0.lock().unwrap(), (1..50).map(|p| p.to_string()).collect::<Vec<_>>());
        stop.store(true, Ordering::Relaxed);
        assert!(task.watched(|_| (), work).unwrap_err().to_string().starts_with("stopped; "));
    }

    #[test]
    fn a_task_tells_where_it_is() {
        let seen = Seen::default();
        let task = Task::begin(&seen, Arc::default(), 2..9, "episodes");
        task.inc(3);
        task.set_length(10);
        task.set_position(4);
        task.set_message("nearly");
        assert_eq!(*seen.0.lock().unwrap(), ["episodes 2..9", "5/9", "5/10", "4/10", "nearly"]);
    }
}

//! The processes that host the environments of one environment, and the environments that wait for an episode.

use crate::foreign::describe::Description;
use crate::foreign::guest::Guest;
use crate::foreign::worker::Worker;
use crate::parallel::default_jobs;
use anyhow::{Context, Result, ensure};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// Makes environments of one id, as many as episodes are played at a time.
pub(super) struct Host {
    /// The environment's name in Gymnasium, with its options.
    id: String,
    python: PathBuf,
    limit: Duration,
    /// Declared before the processes: environments go first.
    idle: Mutex<Vec<Guest>>,
    workers: Mutex<Vec<Arc<Worker>>>,
    /// Why no environment is made any longer.
    closed: Mutex<Option<String>>,
}

impl Host {
    /// A host without a process yet.
    pub(super) fn new(id: String, python: PathBuf, limit: Duration) -> Host {
        let (idle, workers, closed) = (Mutex::default(), Mutex::default(), Mutex::default());
        Host { id, python, limit, idle, workers, closed }
    }

    /// An environment for an episode: one that waits, or a new one.
    ///
    /// # Errors
    /// If a new one cannot be made.
    pub(super) fn guest(&self) -> Result<Guest> {
        let why = held(&self.closed).clone();
        ensure!(why.is_none(), "{} (before; its processes were ended then)", why.unwrap_or_default());
        let waiting = {
            let mut idle = held(&self.idle);
            idle.retain(Guest::is_welcome);
            idle.pop()
        };
        waiting.map_or_else(|| Ok(self.invite()?.0), Ok)
    }

    /// A new environment, and what it says of itself.
    ///
    /// # Errors
    /// If it cannot be made; the message names the interpreter.
    pub(super) fn invite(&self) -> Result<(Guest, Description)> {
        let worker = self.worker();
        let asked = worker.as_ref().ok().cloned();
        let invited = worker.and_then(|worker| Guest::invite(worker, &self.id, self.limit));
        if let (Err(why), Some(worker)) = (&invited, asked) {
            self.close_if_late(&worker, why);
        }
        invited.with_context(|| {
            format!("{} ({} names another one)", self.python.display(), crate::foreign::PYTHON)
        })
    }

    /// Makes no environment any longer if a process did not answer in time: each further one would be waited for anew.
    pub(super) fn close_if_late(&self, worker: &Worker, why: &anyhow::Error) {
        if worker.is_late() {
            held(&self.closed).get_or_insert_with(|| format!("{why:#}"));
        }
    }

    /// Takes an environment back, for the next episode.
    pub(super) fn welcome_back(&self, guest: Guest) {
        held(&self.idle).push(guest);
    }

    /// The process with the fewest environments; a new one as long as there are fewer than cores.
    fn worker(&self) -> Result<Arc<Worker>> {
        let mut workers = held(&self.workers);
        workers.retain(|worker| worker.is_open());
        let load = |worker: &Arc<Worker>| Arc::strong_count(worker);
        let least = workers.iter().min_by_key(|worker| load(worker));
        // One owner is this list: such a process has no environment.
        let is_free = least.is_some_and(|worker| load(worker) == 1);
        if let Some(worker) = least.filter(|_| is_free || workers.len() >= default_jobs()) {
            return Ok(worker.clone());
        }
        let worker = Arc::new(Worker::start(&self.python)?);
        workers.push(worker.clone());
        Ok(worker)
    }
}

/// A panic elsewhere leaves no half-changed list behind.
fn held<T>(list: &Mutex<T>) -> MutexGuard<'_, T> {
    list.lock().unwrap_or_else(PoisonError::into_inner)
}

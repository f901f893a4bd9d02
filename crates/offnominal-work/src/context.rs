//! What every command hands down to the work: the seed, the number of threads, who sees the progress, and when to stop.

use crate::progress::{self, Progress, Silent, Task};
use crate::{parallel, remarks};
use anyhow::{Error, Result};
use offnominal_core::fit_progress::FitProgress;
use offnominal_files::checkpoint::Checkpoint;
use offnominal_nets::Tensors;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// The settings that all work shares.
#[derive(Clone)]
pub struct Context {
    /// Seed of everything random; the same seed gives the same bits.
    pub seed: u64,
    /// Number of worker threads.
    pub jobs: usize,
    /// Episodes without an outcome that are accepted where each one matters.
    pub allow_diverged: u64,
    /// Whether a part of a log that cannot be read ends the command; else it is left out, which is said.
    pub strict: bool,
    /// The command line that makes the same result; empty where the work was begun otherwise.
    pub command: String,
    /// Who sees how far the work is.
    pub progress: Arc<dyn Progress>,
    /// Set from outside to end the work at the next safe moment.
    pub stop: Arc<AtomicBool>,
}

impl Context {
    /// A context whose progress nobody sees.
    pub fn silent(seed: u64, jobs: usize) -> Context {
        Context {
            seed,
            jobs,
            allow_diverged: 0,
            strict: false,
            command: String::new(),
            progress: Arc::new(Silent),
            stop: Arc::default(),
        }
    }

    /// The same context with another seed.
    pub fn with_seed(&self, seed: u64) -> Context {
        Context { seed, ..self.clone() }
    }

    /// Begins a task of `n` units.
    pub fn task(&self, n: usize, what: &str) -> Task {
        self.resumed(0..n as u64, what)
    }

    /// Begins a task of which a part was done before.
    pub fn resumed(&self, work: Range<u64>, what: &str) -> Task {
        self.pass_on_remarks();
        Task::begin(self.progress.as_ref(), Arc::clone(&self.stop), work, what)
    }

    /// Tells something about the run that is no result, such as what was finished before.
    pub fn note(&self, line: &str) {
        self.progress.note(line);
    }

    /// Tells what was said where no context is at hand.
    pub fn pass_on_remarks(&self) {
        remarks::take().iter().for_each(|line| self.note(line));
    }

    /// Refuses to go on if the work was asked to stop.
    ///
    /// # Errors
    /// If it was.
    pub fn check(&self) -> Result<()> {
        progress::check(&self.stop)
    }

    /// Does work that knows how far it is, as a task that counts per cents.
    ///
    /// # Errors
    /// If it was asked to stop; else that of the work.
    pub fn watched<T, E: Into<Error>>(
        &self,
        what: &str,
        work: impl FnOnce(FitProgress<'_>) -> Result<T, E>,
    ) -> Result<T> {
        let task = self.task(100, &format!("{what}, %"));
        task.watched(|percent| task.set_position(percent), work)
    }

    /// Saves a training when that is due or the work was asked to stop, and then refuses to go on if it was.
    ///
    /// # Errors
    /// If it was, or the checkpoint cannot be written.
    pub fn save(&self, checkpoint: &mut Checkpoint, state: impl FnOnce() -> Tensors) -> Result<()> {
        if checkpoint.is_due() || self.stop.load(Ordering::Relaxed) {
            checkpoint.save(state())?;
        }
        self.check()
    }

    /// Computes `work(0), …, work(n − 1)` on all threads as one task, and returns the results in order.
    ///
    /// # Errors
    /// The first error in order of index, or that the work was asked to stop.
    pub fn map<T: Send>(
        &self,
        n: usize,
        what: &str,
        work: impl Fn(usize) -> Result<T> + Sync,
    ) -> Result<Vec<T>> {
        parallel::map(self.jobs, n, &self.task(n, what), work)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_that_is_stopped_ends_with_an_error() {
        let context = Context::silent(0, 2);
        assert_eq!(context.map(3, "squares", |i| Ok(i * i)).unwrap(), [0, 1, 4]);
        context.stop.store(true, Ordering::Relaxed);
        let error = context.map(3, "squares", |i| Ok(i * i)).unwrap_err();
        assert!(error.to_string().starts_with("stopped"), "{error}");
    }
}

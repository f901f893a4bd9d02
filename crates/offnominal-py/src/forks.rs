//! Copies of a monitor that score whole episodes, so that nobody disturbs the one that is stepped, and threads do not wait for
//! one another.

use std::sync::{Mutex, PoisonError};

/// Copies that nobody uses at the moment.
pub(crate) struct Forks<M: ?Sized>(Mutex<Vec<Box<M>>>);

impl<M: ?Sized> Forks<M> {
    pub(crate) fn new() -> Forks<M> {
        Forks(Mutex::new(vec![]))
    }

    /// One of them; a new one if all are at work.
    pub(crate) fn take(&self, fork: impl FnOnce() -> Box<M>) -> Box<M> {
        let idle = self.0.lock().unwrap_or_else(PoisonError::into_inner).pop();
        idle.unwrap_or_else(fork)
    }

    /// One that has done its work.
    pub(crate) fn give_back(&self, fork: Box<M>) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(fork);
    }
}

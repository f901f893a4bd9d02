//! Whether the work of this thread was asked to stop, for what has no context at hand: an episode in progress, and an
//! answer that is waited for. An episode that is asked to stop unwinds to where its work began, and the work is an error.

use crate::progress::stopped;
use anyhow::Result;
use offnominal_core::run::Stopped;
use std::cell::RefCell;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

thread_local! {
    static STOP: RefCell<Option<Arc<AtomicBool>>> = const { RefCell::new(None) };
}

/// Does work that belongs to a task which ends when `stop` is set.
///
/// # Errors
/// That of the work, or that an episode of it was stopped.
pub fn within<T>(stop: &Arc<AtomicBool>, work: impl FnOnce() -> Result<T>) -> Result<T> {
    let outer = STOP.replace(Some(Arc::clone(stop)));
    let _back = Back(outer);
    guard(work)
}

/// Does work of which an episode may be stopped. What the work leaves behind in memory is of no use to anybody: it ends
/// with an error.
///
/// # Errors
/// As [`within`].
pub fn guard<T>(work: impl FnOnce() -> Result<T>) -> Result<T> {
    catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|why| match why.downcast::<Stopped>() {
        Ok(_) => Err(stopped()),
        Err(panic) => resume_unwind(panic),
    })
}

/// All further work of this thread belongs to a task which ends when `stop` is set.
pub fn from_now_on(stop: &Arc<AtomicBool>) {
    STOP.set(Some(Arc::clone(stop)));
}

/// Puts back what was there before, however the work ends.
struct Back(Option<Arc<AtomicBool>>);

impl Drop for Back {
    fn drop(&mut self) {
        STOP.set(self.0.take());
    }
}

/// Whether the work of this thread is to end.
pub fn is_requested() -> bool {
    STOP.with_borrow(|stop| stop.as_ref().is_some_and(|stop| stop.load(Ordering::Relaxed)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_asked_of_the_work_of_this_thread_only() {
        let (stop, other) = (Arc::new(AtomicBool::new(true)), Arc::default());
        assert!(!is_requested());
        let asked = within(&stop, || {
            let inner = within(&other, || Ok(is_requested()))?;
            Ok((is_requested(), inner, std::thread::spawn(is_requested).join().unwrap()))
        });
        assert_eq!(asked.unwrap(), (true, false, false));
        assert!(!is_requested());
    }

    #[test]
    fn a_stopped_episode_is_an_error_and_a_panic_stays_one() {
        let stopped = guard(|| -> Result<()> { resume_unwind(Box::new(Stopped)) });
        assert!(stopped.unwrap_err().to_string().starts_with("stopped"));
        let panic = catch_unwind(|| guard(|| -> Result<()> { resume_unwind(Box::new("another")) }));
        assert!(panic.is_err());
    }
}

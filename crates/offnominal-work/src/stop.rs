//! Whether the work of this thread was asked to stop, for what has no context at hand: an episode in progress, and an
//! answer that is waited for.

use std::cell::RefCell;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

thread_local! {
    static STOP: RefCell<Option<Arc<AtomicBool>>> = const { RefCell::new(None) };
}

/// Does work that belongs to a task which ends when `stop` is set.
pub fn within<T>(stop: &Arc<AtomicBool>, work: impl FnOnce() -> T) -> T {
    let outer = STOP.replace(Some(Arc::clone(stop)));
    let _back = Back(outer);
    work()
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
        within(&stop, || {
            assert!(is_requested());
            within(&other, || assert!(!is_requested()));
            assert!(is_requested() && !std::thread::spawn(is_requested).join().unwrap());
        });
        assert!(!is_requested());
    }
}

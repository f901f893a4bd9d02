//! Progress of the engine, shown by Python, and Python's signals, which ask the engine to stop.

use offnominal_engine::context::Context;
use offnominal_engine::parallel::default_jobs;
use offnominal_engine::progress::{Progress, Silent, Tracker};
use pyo3::prelude::*;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// A Python object with `begin(what, done, total)`, which gives one with `update(done, total)`, `message(text)` and
/// `close()`; and with `note(line)`.
struct Shown {
    display: Py<PyAny>,
    stop: Arc<AtomicBool>,
}

/// A task as Python shows it.
struct Task {
    display: Py<PyAny>,
    stop: Arc<AtomicBool>,
}

/// The context of a call, with `jobs` 0 on all cores: what Python shows, and Ctrl-C as a request to stop.
pub(crate) fn context(seed: u64, jobs: usize, display: Option<Py<PyAny>>) -> Context {
    let silent = Context::silent(seed, if jobs == 0 { default_jobs() } else { jobs });
    let stop = Arc::clone(&silent.stop);
    let progress: Arc<dyn Progress> = match display {
        Some(display) => Arc::new(Shown { display, stop }),
        None => Arc::new(Silent),
    };
    Context { progress, ..silent }
}

/// Calls Python; an exception there, such as that of Ctrl-C, asks the engine to stop.
fn told<T>(stop: &AtomicBool, call: impl FnOnce(Python<'_>) -> PyResult<T>) -> Option<T> {
    Python::attach(|py| {
        let done = py.check_signals().and_then(|()| call(py));
        done.inspect_err(|error| {
            stop.store(true, Ordering::Relaxed);
            error.clone_ref(py).restore(py);
            drop(PyErr::take(py));
        })
        .ok()
    })
}

impl Progress for Shown {
    fn begin(&self, what: &str, work: Range<u64>) -> Box<dyn Tracker> {
        let task =
            told(&self.stop, |py| self.display.call_method1(py, "begin", (what, work.start, work.end)));
        match task {
            Some(display) => Box::new(Task { display, stop: Arc::clone(&self.stop) }),
            None => Box::new(Silent),
        }
    }

    fn note(&self, line: &str) {
        told(&self.stop, |py| self.display.call_method1(py, "note", (line,)).map(drop));
    }
}

impl Tracker for Task {
    fn update(&self, done: u64, total: u64) {
        told(&self.stop, |py| self.display.call_method1(py, "update", (done, total)).map(drop));
    }

    fn message(&self, text: &str) {
        told(&self.stop, |py| self.display.call_method1(py, "message", (text,)).map(drop));
    }
}

impl Drop for Task {
    fn drop(&mut self) {
        told(&self.stop, |py| self.display.call_method0(py, "close").map(drop));
    }
}

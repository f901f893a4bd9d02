//! Progress of the engine, shown by Python, and Python's signals, which ask the engine to stop.
//!
//! Only the interpreter's main thread hears signals, and only while Python runs in it. So the engine works on a thread of its
//! own, and the one that called it looks for signals now and then.

use crate::error::caught;
use anyhow::Result;
use offnominal_engine::context::Context;
use offnominal_engine::parallel::default_jobs;
use offnominal_engine::progress::{Progress, Silent, Tracker};
use pyo3::prelude::*;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::thread;
use std::time::Duration;

/// Time between two looks for signals.
const LOOK_EVERY: Duration = Duration::from_millis(50);

/// Stack of the thread that works: as much as a main thread has.
const STACK: usize = 8 << 20;

/// A Python object with `begin(what, done, total)`, which gives one with `update(done, total)`, `message(text)` and
/// `close()`; and with `note(line)`.
struct Shown(Py<PyAny>);

/// A task as Python shows it.
struct Task(Py<PyAny>);

/// The context of a call, with `jobs` 0 on all cores: what Python shows, and Ctrl-C as a request to stop.
pub(crate) fn context(seed: u64, jobs: usize, display: Option<Py<PyAny>>, stop: Arc<AtomicBool>) -> Context {
    let jobs = if jobs == 0 { default_jobs() } else { jobs };
    let progress: Arc<dyn Progress> = match display {
        Some(display) => Arc::new(Shown(display)),
        None => Arc::new(Silent),
    };
    Context { progress, stop, ..Context::silent(seed, jobs) }
}

/// Does work of the engine without the interpreter's lock. A signal that Python turns into an exception, such as Ctrl-C, asks
/// the work to stop; once it has, the exception is raised.
pub(crate) fn interruptible<T: Send>(
    py: Python<'_>,
    stop: &AtomicBool,
    work: impl FnOnce() -> Result<T> + Send,
) -> PyResult<T> {
    py.detach(|| {
        thread::scope(|scope| {
            let (send, done) = mpsc::channel();
            let worker = move || drop(send.send(caught(work)));
            thread::Builder::new().stack_size(STACK).spawn_scoped(scope, worker)?;
            // After a signal the scope waits until the work has stopped.
            waited(&done).inspect_err(|_| stop.store(true, Ordering::Relaxed))
        })
    })
}

/// As [`interruptible`], for work that cannot be asked to stop: after a signal nobody waits for it.
pub(crate) fn abandonable<T: Send + 'static>(
    py: Python<'_>,
    work: impl FnOnce() -> Result<T> + Send + 'static,
) -> PyResult<T> {
    py.detach(|| {
        let (send, done) = mpsc::channel();
        let worker = move || drop(send.send(caught(work)));
        thread::Builder::new().stack_size(STACK).spawn(worker)?;
        waited(&done)
    })
}
/// What work has found, or the exception of a signal that came before.
fn waited<T>(done: &Receiver<PyResult<T>>) -> PyResult<T> {
    loop {
        match done.recv_timeout(LOOK_EVERY) {
            Ok(result) => return result,
            Err(RecvTimeoutError::Disconnected) => unreachable!("panics of the work are caught"),
            Err(RecvTimeoutError::Timeout) => Python::attach(|py| py.check_signals())?,
        }
    }
}

/// Calls Python; a display that fails is no reason to stop.
fn told<T>(call: impl FnOnce(Python<'_>) -> PyResult<T>) -> Option<T> {
    Python::attach(call).ok()
}

impl Progress for Shown {
    fn begin(&self, what: &str, work: Range<u64>) -> Box<dyn Tracker> {
        match told(|py| self.0.call_method1(py, "begin", (what, work.start, work.end))) {
            Some(task) => Box::new(Task(task)),
            None => Box::new(Silent),
        }
    }

    fn note(&self, line: &str) {
        told(|py| self.0.call_method1(py, "note", (line,)));
    }
}

impl Tracker for Task {
    fn update(&self, done: u64, total: u64) {
        told(|py| self.0.call_method1(py, "update", (done, total)));
    }

    fn message(&self, text: &str) {
        told(|py| self.0.call_method1(py, "message", (text,)));
    }
}

impl Drop for Task {
    fn drop(&mut self) {
        told(|py| self.0.call_method0(py, "close"));
    }
}

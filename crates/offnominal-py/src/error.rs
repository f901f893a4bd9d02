//! Errors on their way to Python: what the user gave is a `ValueError`, a file an `OSError`, and a panic of the engine a
//! `RuntimeError`, never the end of the interpreter.

use anyhow::Result;
use pyo3::exceptions::{PyOSError, PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// An error as Python sees it. An exception that Python code raised inside the engine stays what it was.
pub(crate) fn raised(error: impl Into<anyhow::Error>) -> PyErr {
    let error = error.into();
    if let Some(own) = error.chain().find_map(|e| e.downcast_ref::<PyErr>()) {
        return Python::attach(|py| own.clone_ref(py));
    }
    let message = format!("{error:#}");
    if error.chain().any(|e| e.is::<std::io::Error>()) {
        return PyOSError::new_err(message);
    }
    PyValueError::new_err(message)
}

/// A `ValueError`.
pub(crate) fn wrong(message: impl Into<String>) -> PyErr {
    PyValueError::new_err(message.into())
}

/// Does work of the engine without the interpreter's lock.
pub(crate) fn detached<T: Send>(py: Python<'_>, work: impl FnOnce() -> Result<T> + Send) -> PyResult<T> {
    py.detach(|| caught(work))
}

/// Does work of the engine that is too short for giving the lock away.
pub(crate) fn caught<T>(work: impl FnOnce() -> Result<T>) -> PyResult<T> {
    match catch_unwind(AssertUnwindSafe(work)) {
        Ok(done) => done.map_err(raised),
        Err(panic) => Err(unwound(panic)),
    }
}

/// What a panic was about. An exception of a Python policy or detector travels as the payload of an unwinding.
fn unwound(panic: Box<dyn Any + Send>) -> PyErr {
    let panic = match panic.downcast::<PyErr>() {
        Ok(own) => return *own,
        Err(other) => other,
    };
    let text = panic.downcast_ref::<String>().map(String::as_str);
    let text = text.or(panic.downcast_ref::<&str>().copied()).unwrap_or("it does not say why");
    PyRuntimeError::new_err(format!("the engine panicked, which is a defect of offnominal: {text}"))
}

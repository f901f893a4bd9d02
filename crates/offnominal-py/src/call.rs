//! The program's commands by name: a request as JSON in, what the command prints with `--json` out.
//!
//! The requests are those of the command line, by the names of its arguments; what Python's functions add is documentation.

use crate::error::raised;
use crate::progress::{context, interruptible};
use offnominal_hosts::foreign;
use pyo3::prelude::*;
use serde_json::Value;
use std::sync::Arc;

/// Runs a command; with `jobs` 0 on all cores. `display` shows progress.
#[pyfunction]
#[pyo3(signature = (command, request, seed = 0, jobs = 0, display = None))]
pub(crate) fn call(
    py: Python<'_>,
    command: &str,
    request: &str,
    seed: u64,
    jobs: usize,
    display: Option<Py<PyAny>>,
) -> PyResult<String> {
    let request: Value = serde_json::from_str(request).map_err(raised)?;
    let context = context(seed, jobs, display, Arc::default());
    interruptible(py, &context.stop.clone(), || offnominal::cli::call(command, request, context))
}

/// All commands with their arguments, as JSON.
#[pyfunction]
pub(crate) fn commands() -> PyResult<String> {
    serde_json::to_string(&offnominal::cli::declarations()).map_err(raised)
}

/// Makes an environment known by a name, which this program has as an object; `how` tells a host how to make it.
#[pyfunction]
pub(crate) fn give_environment(name: &str, how: &str) -> PyResult<String> {
    let how = serde_json::from_str(how).map_err(|error| raised(anyhow::Error::from(error)))?;
    Ok(foreign::give(name, how))
}

/// Ends the processes that host environments and policies, as far as nobody uses them.
#[pyfunction]
pub(crate) fn end_hosts(py: Python<'_>) {
    py.detach(foreign::end_all);
}

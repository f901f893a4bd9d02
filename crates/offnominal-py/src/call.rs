//! The library's commands by name: a request as JSON in, a result as JSON out.
//!
//! The requests are those of the crates; what Python's functions add is names of arguments and their documentation.

use crate::error::{detached, raised};
use crate::progress::context;
use anyhow::{Result, bail};
use offnominal_engine::context::Context;
use offnominal_engine::parallel::default_jobs;
use pyo3::prelude::*;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

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
    let context = context(seed, if jobs == 0 { default_jobs() } else { jobs }, display);
    let done = detached(py, || run(command, request, &context));
    py.check_signals()?;
    done
}

fn run(command: &str, request: Value, context: &Context) -> Result<String> {
    match command {
        _ => bail!("expected a command of the library, found {command:?}"),
    }
}

/// Reads the request, runs the command, and writes the result.
fn typed<Q: DeserializeOwned, R: Serialize>(
    request: Value,
    context: &Context,
    run: impl FnOnce(&Q, &Context) -> Result<R>,
) -> Result<String> {
    let request: Q = serde_json::from_value(request)?;
    Ok(serde_json::to_string(&run(&request, context)?)?)
}

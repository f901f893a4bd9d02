//! The library's commands by name: a request as JSON in, a result as JSON out.
//!
//! The requests are those of the crates; what Python's functions add is names of arguments and their documentation.

use crate::error::raised;
use crate::progress::{context, interruptible};
use anyhow::{Context as _, Result, bail};
use offnominal_bench::{calibrate, images, metrics_file, ood_rl, report, run as campaign, suite};
use offnominal_engine::context::Context;
use offnominal_engine::policies::Told;
use offnominal_engine::{
    collect, ensemble, evaluation, export, fit, foreign, import as policy, render, score as scores,
    train as training,
};
use offnominal_logs::{
    fit as logs_fit, inspect as logs_inspect, recalibrate as logs_recalibrate, score as logs_score, splits,
};
use offnominal_pixels::{describe, evaluate, features, frames, import, paste, predict, scenes, score, train};
use offnominal_risk::{
    budget, committor, compare, estimate, forks, history, learning, multifidelity, perturb, replay,
    replicates, search, select, sensitivity, split, stress,
};
use pyo3::prelude::*;
use serde::Serialize;
use serde::de::DeserializeOwned;
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
    let mut request: Value = serde_json::from_str(request).map_err(raised)?;
    let allow_diverged =
        taken(&mut request, "allow_diverged", Value::as_u64, "a whole number from 0").map_err(raised)?;
    let strict = taken(&mut request, "strict", Value::as_bool, "true or false").map_err(raised)?;
    let context = Context { allow_diverged, strict, ..context(seed, jobs, display, Arc::default()) };
    interruptible(py, &context.stop, || {
        let done = run(command, request, &context);
        context.pass_on_remarks();
        done
    })
}

/// The id of a hosted environment in which an option says what counts as a failure, or how far a state is from one.
#[pyfunction]
pub(crate) fn with_option(env: &str, option: &str, value: &str) -> PyResult<String> {
    foreign::with_option(env, option, value).map_err(raised)
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

/// Takes a setting that all commands share out of the request.
fn taken<T: Default>(
    request: &mut Value,
    key: &str,
    read: fn(&Value) -> Option<T>,
    expected: &str,
) -> Result<T> {
    let given = request.as_object_mut().and_then(|all| all.remove(key)).filter(|value| !value.is_null());
    let Some(given) = given else { return Ok(T::default()) };
    read(&given).with_context(|| format!("{key}: expected {expected}, found {given}"))
}

fn run(command: &str, request: Value, context: &Context) -> Result<String> {
    let (r, c) = (request, context);
    match command {
        "audit" => typed(r, c, offnominal_audit::run),
        "evidence" => typed(r, c, offnominal_audit::evidence::run),
        "verify" => typed(r, c, offnominal_audit::verify::run),
        "collect" => typed(r, c, collect::run),
        "evaluate" => typed(r, c, evaluation::run),
        "compare" => typed(r, c, compare::run),
        "train" => typed(r, c, training::run),
        "fit" => typed(r, c, fit::run),
        "score" => typed(r, c, scores::run),
        "render" => typed(r, c, render::run),
        "export" => typed(r, c, export::run),
        "import" => typed(r, c, policy::run),
        "ensemble" => typed(r, c, ensemble::run),
        "campaign" => typed(r, c, campaign::run),
        "suite" => typed(r, c, suite::run),
        "ood-rl" => typed(r, c, ood_rl::run),
        "report" => typed(r, c, |request, _| report::run(request)),
        "calibrate" => typed(r, c, calibrate::run),
        "metrics" => typed(r, c, metrics_file::run),
        "risk.learn" => typed(r, c, learning::run),
        "risk.history" => typed(r, c, history::run),
        "risk.estimate" => typed(r, c, estimate::run),
        "risk.committor" => typed(r, c, committor::run),
        "risk.fork" => typed(r, c, forks::run),
        "risk.search" => typed(r, c, search::run),
        "risk.stress" => typed(r, c, stress::run),
        "risk.select" => typed(r, c, select::run),
        "risk.split" => typed(r, c, split::run),
        "risk.replay" => typed(r, c, replay::run),
        "risk.perturb" => typed(r, c, perturb::run),
        "risk.sensitivity" => typed(r, c, sensitivity::run),
        "risk.replicates" => typed(r, c, replicates::run),
        "risk.multifidelity" => typed(r, c, multifidelity::run),
        "risk.budget" => typed(r, c, budget::run),
        "logs.inspect" => typed(r, c, logs_inspect::run),
        "logs.fit" => typed(r, c, logs_fit::run),
        "logs.recalibrate" => typed(r, c, logs_recalibrate::run),
        "logs.score" => typed(r, c, logs_score::run),
        "logs.score_splits" => typed(r, c, splits::run),
        "rollouts.judge" => typed(r, c, offnominal_rollouts::judge::run),
        "rollouts.signals" => typed(r, c, |request, _| offnominal_rollouts::signals::run(request)),
        "shift" => typed(r, c, offnominal_shift::run),
        "pixels.scenes" => typed(r, c, scenes::run),
        "pixels.frames" => typed(r, c, frames::run),
        "pixels.paste" => typed(r, c, paste::run),
        "pixels.describe" => typed(r, c, describe::run),
        "pixels.train" => typed(r, c, train::run),
        "pixels.import" => typed(r, c, import::run),
        "pixels.predict" => typed(r, c, predict::run),
        "pixels.features" => typed(r, c, features::run),
        "pixels.score" => typed(r, c, score::run),
        "pixels.evaluate" => typed(r, c, evaluate::run),
        "images.train" => typed(r, c, images::encoder::run),
        "images.fit" => typed(r, c, images::fit::run),
        "images.score" => typed(r, c, images::score::run),
        other => bail!("expected a command of the library, found {other:?}"),
    }
}

/// Reads the request, runs the command, and writes the result.
fn typed<Q: DeserializeOwned, R: Serialize>(
    request: Value,
    context: &Context,
    run: impl FnOnce(&Q, &Context) -> Result<R>,
) -> Result<String> {
    let found = run(&serde_json::from_value(request.clone())?, context)?;
    Ok(serde_json::to_string(&Told::new(&found, Some(&request)))?)
}

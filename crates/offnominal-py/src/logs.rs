//! Logs of any format, and data frames, as recordings at one clock.

use crate::arrays::shaped;
use crate::error::{raised, wrong};
use crate::progress::{context, interruptible};
use anyhow::Result;
use numpy::{PyArray1, PyArrayMethods};
use offnominal_engine::context::Context;
use offnominal_logs::chosen::Truth;
use offnominal_logs::episodes::Recorded;
use offnominal_logs::frame::{Cell, Cells, Content, Frame};
use offnominal_logs::mapping::{Channel, Mapping};
use offnominal_logs::recordings::{self, Recordings, held};
use offnominal_logs::source::Log;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyBytes, PyDict, PyFloat};
use serde::Deserialize;
use serde_json::{Value, json};
use std::path::PathBuf;
use std::sync::Arc;

/// A mapping as Python gives it.
#[derive(Deserialize)]
#[serde(rename_all = "lowercase")]
enum Given {
    File(PathBuf),
    Text(String),
    Table(Box<Mapping>),
}

impl Given {
    fn mapping(self) -> Result<Mapping> {
        match self {
            Given::File(path) => recordings::load(&path),
            Given::Text(text) => Mapping::parse(&text),
            Given::Table(mapping) => mapping.check().map(|()| *mapping),
        }
    }
}

/// The recordings of all logs as dicts, and as JSON what they share: mapping, channels, seconds per step. A log is a path, or
/// the name of a frame with the bytes of its Arrow stream or its columns. `mapping` is JSON; null is the proposed one.
#[pyfunction]
#[pyo3(signature = (logs, mapping, strict = false, jobs = 0, display = None))]
pub(crate) fn read_logs<'py>(
    py: Python<'py>,
    logs: Vec<Bound<'py, PyAny>>,
    mapping: &str,
    strict: bool,
    jobs: usize,
    display: Option<Py<PyAny>>,
) -> PyResult<(Vec<Bound<'py, PyDict>>, String)> {
    let logs = logs.iter().map(log).collect::<PyResult<Vec<Log>>>()?;
    let given: Option<Given> = serde_json::from_str(mapping).map_err(raised)?;
    let context = Context { strict, ..context(0, jobs, display, Arc::default()) };
    let (mapping, text, found) = interruptible(py, &context.stop, || {
        let (mapping, text) = match given {
            Some(given) => given.mapping().map(|mapping| (mapping.clone(), mapping.to_toml()))?,
            None => {
                recordings::proposal(&logs, &context).map(|found| (found.mapping.clone(), found.to_toml()))?
            }
        };
        let found = recordings::read(&logs, &mapping, Truth::Needed, &context)?;
        Ok((mapping, text, found))
    })?;
    let shared = shared(&mapping, text, &found);
    let why_not = recordings::not_for_fit(&found.all);
    let one = |own: Recorded| {
        let left_out = why_not(&own);
        as_dict(py, own, left_out, &mapping)
    };
    let found = found.all.into_iter().map(one).collect::<PyResult<_>>()?;
    Ok((found, shared))
}

/// The mapping that is proposed for logs that are alike, as TOML that says why.
#[pyfunction]
pub(crate) fn propose_mapping(py: Python<'_>, logs: Vec<Bound<'_, PyAny>>) -> PyResult<String> {
    let logs = logs.iter().map(log).collect::<PyResult<Vec<Log>>>()?;
    let context = context(0, 1, None, Arc::default());
    interruptible(py, &context.stop, || Ok(recordings::proposal(&logs, &context)?.to_toml()))
}

fn shared(mapping: &Mapping, text: String, found: &Recordings) -> String {
    let channel = |channel: &Channel| json!({"name": channel.name(), "unit": channel.unit});
    let channels = |all: &[Channel]| all.iter().map(channel).collect::<Vec<Value>>();
    let dt_secs = found.all.first().map(|first| first.dt_secs(mapping));
    json!({
        "mapping": text,
        "observation": channels(&mapping.observation),
        "action": channels(&mapping.command),
        "dt_secs": dt_secs,
        "remarks": found.remarks,
    })
    .to_string()
}

fn as_dict<'py>(
    py: Python<'py>,
    own: Recorded,
    left_out: Option<&str>,
    mapping: &Mapping,
) -> PyResult<Bound<'py, PyDict>> {
    let widths = [mapping.observation.len(), mapping.command.len()];
    let (steps, dict) = (own.len(widths[0]), PyDict::new(py));
    let (observations, actions) = (held(&own.observations, widths[0]), held(&own.commands, widths[1]));
    let missing: Vec<bool> = own.observations.iter().map(|x| x.is_nan()).collect();
    dict.set_item("name", own.name())?;
    dict.set_item("log", own.log.display().to_string())?;
    dict.set_item("start_nanos", own.start_nanos)?;
    dict.set_item("observations", shaped(py, observations, &[steps + 1, widths[0]])?)?;
    dict.set_item("actions", shaped(py, actions, &[steps, widths[1]])?)?;
    dict.set_item("is_nominal", own.not_nominal().is_none())?;
    dict.set_item("left_out", left_out)?;
    dict.set_item("is_missing", shaped(py, missing, &[steps + 1, widths[0]])?)?;
    dict.set_item("ages_secs", shaped(py, own.ages_secs, &[steps + 1, widths[0]])?)?;
    dict.set_item("secs", shaped(py, own.secs, &[steps + 1])?)?;
    let labels = own.labels.map(|labels| shaped(py, labels, &[steps])).transpose()?;
    dict.set_item("labels", labels)?;
    dict.set_item("success", own.success)?;
    dict.set_item("task", own.task)?;
    Ok(dict)
}

/// A path, or a name with what a frame holds.
fn log(given: &Bound<'_, PyAny>) -> PyResult<Log> {
    if let Ok(path) = given.extract::<PathBuf>() {
        return Ok(Log::File(path));
    }
    let (name, content): (PathBuf, Bound<'_, PyAny>) = given.extract()?;
    let content = match content.cast::<PyBytes>() {
        Ok(bytes) => Content::Stream(bytes.as_bytes().to_vec()),
        Err(_) => {
            let columns: Vec<(String, Bound<'_, PyAny>)> = content.extract()?;
            let place = |column: &str| format!("data frame {}, column {column:?}", name.display());
            let read = |(column, own): (String, Bound<'_, PyAny>)| {
                cells(&own, &place(&column)).map(|cells| (column, cells))
            };
            Content::Columns(columns.into_iter().map(read).collect::<PyResult<_>>()?)
        }
    };
    Ok(Log::Frame(Frame { name, content }))
}

/// A NumPy array of float64 or int64, or a list of anything.
fn cells(own: &Bound<'_, PyAny>, place: &str) -> PyResult<Cells> {
    if let Ok(numbers) = own.cast::<PyArray1<f64>>() {
        return Ok(Cells::Numbers(numbers.to_vec()?));
    }
    if let Ok(numbers) = own.cast::<PyArray1<i64>>() {
        return Ok(Cells::Integers(numbers.to_vec()?));
    }
    let rows = own.try_iter()?.enumerate();
    let read = |(row, own): (usize, PyResult<Bound<'_, PyAny>>)| cell(&own?, place, row);
    Ok(Cells::Any(rows.map(read).collect::<PyResult<_>>()?))
}

fn cell(own: &Bound<'_, PyAny>, place: &str, row: usize) -> PyResult<Cell> {
    if own.is_none() {
        return Ok(Cell::Missing);
    }
    if let Ok(text) = own.extract::<String>() {
        return Ok(Cell::Text(text));
    }
    if let Ok(is) = own.cast::<PyBool>() {
        return Ok(Cell::Integer(is.is_true().into()));
    }
    if let Ok(x) = own.cast::<PyFloat>() {
        return Ok(Cell::Number(x.extract()?));
    }
    if let Ok(n) = own.extract::<i64>() {
        return Ok(Cell::Integer(n));
    }
    let kind = own.get_type();
    let kind = kind.name()?;
    own.extract::<f64>().map(Cell::Number).map_err(|_| {
        wrong(format!("{place}, row {row}: expected a number, a text or nothing, found a {kind}"))
    })
}

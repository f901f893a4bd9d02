//! A benchmark that Python runs cell by cell, so that it can show its progress and be interrupted.

use crate::error::{detached, wrong};
use crate::own::OwnPolicy;
use crate::policy::Policy;
use crate::progress::{context, interruptible};
use anyhow::Result;
use offnominal_bench::campaign::{Campaign as Asked, Plan};
use offnominal_bench::cells::{Bench, Layer, Node};
use offnominal_bench::run;
use offnominal_engine::catalogues;
use offnominal_engine::subject::Subject;
use offnominal_files::dataset::PolicyName;
use offnominal_files::store::{Store, address};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// A campaign and the folder in which it is done.
#[pyclass(module = "offnominal._engine", frozen)]
pub(crate) struct Campaign {
    bench: Bench,
    text: String,
    out: PathBuf,
    stop: Arc<AtomicBool>,
}

/// The title of a layer, and its cells with what they do.
type LayerOfCells = (&'static str, Vec<(String, String)>);

/// A policy that Python brings: one of the engine, or a callable with what it is known by.
enum Brought {
    Engine(Box<dyn offnominal_core::policy::Policy>, String),
    Own(Py<PyAny>, String),
}

#[pymethods]
impl Campaign {
    /// Lays out a campaign; `policies` maps names in it to policies of the engine, or to callables with a digest.
    #[new]
    fn new(py: Python<'_>, text: String, out: PathBuf, policies: &Bound<'_, PyDict>) -> PyResult<Campaign> {
        let brought: HashMap<String, Brought> = policies
            .iter()
            .map(|(name, own)| Ok((name.extract()?, brought(&own)?)))
            .collect::<PyResult<_>>()?;
        detached(py, || {
            let plan = Plan::with(Asked::parse(&text)?, &text, |env, policy| match brought.get(policy) {
                Some(own) => subject(env, policy, own),
                None => Subject::new(env, policy),
            })?;
            let bench = Bench::new(plan, Store::new(&out))?;
            Ok(Campaign { bench, text, out, stop: Arc::default() })
        })
    }

    /// The cells that are not finished, layer after layer: the title of each layer, and ids with what they do.
    fn open(&self, py: Python<'_>) -> PyResult<Vec<LayerOfCells>> {
        detached(py, || {
            let (open, _) = self.bench.open();
            let of = |layer| open.iter().filter(move |n| n.cell.layer() == layer);
            let named = |node: &&Node| (node.id.clone(), node.cell.to_string());
            Ok(Layer::ALL.iter().map(|&layer| (layer.title(), of(layer).map(named).collect())).collect())
        })
    }

    /// Whether a cell is there, whole.
    fn is_finished(&self, py: Python<'_>, cell: &str) -> PyResult<bool> {
        detached(py, || Ok(self.bench.is_finished(self.bench.find(cell)?)))
    }

    /// Runs one cell on so many threads; `display` shows its progress.
    #[pyo3(signature = (cell, jobs, display = None))]
    fn run(&self, py: Python<'_>, cell: &str, jobs: usize, display: Option<Py<PyAny>>) -> PyResult<()> {
        let context = context(0, jobs, display, Arc::clone(&self.stop));
        interruptible(py, &self.stop, || self.bench.run_one(self.bench.find(cell)?, &context))
    }

    /// Asks the cells that are running, on whatever threads, to stop.
    fn stop(&self) {
        self.stop.store(true, Ordering::Relaxed);
    }

    /// Writes tables and report once all cells are finished; returns the path of the page and a summary.
    fn finish(&self, py: Python<'_>, command: &str, secs: f64) -> PyResult<(PathBuf, String)> {
        detached(py, || {
            let done = run::finish(&self.bench, &self.text, command, &self.out, secs)?;
            self.bench.store.sweep();
            Ok((done.report, done.summary))
        })
    }
}

fn brought(own: &Bound<'_, PyAny>) -> PyResult<Brought> {
    if let Ok(policy) = own.cast::<Policy>() {
        let policy = policy.borrow();
        return Ok(Brought::Engine(policy.inner.fork(), policy.digest.clone()));
    }
    let (callable, digest): (Py<PyAny>, String) = own
        .extract()
        .map_err(|_| wrong("policies: expected policies of the engine, or callables with a digest"))?;
    Ok(Brought::Own(callable, digest))
}

fn subject(env: &str, name: &str, own: &Brought) -> Result<Subject> {
    let env = catalogues::environment(env, None)?;
    let (policy, digest): (Box<dyn offnominal_core::policy::Policy>, _) = match own {
        Brought::Engine(policy, digest) => (policy.fork(), digest),
        Brought::Own(own, digest) => (Box::new(OwnPolicy::of(own, env.as_ref())), digest),
    };
    let name = PolicyName { id: name.into(), digest: digest.clone() };
    Ok(Subject::of(env, policy, name))
}

/// The name of some content: the digest by which finished work is found again.
#[pyfunction]
pub(crate) fn digest(content: &str) -> String {
    address(content.as_bytes())
}

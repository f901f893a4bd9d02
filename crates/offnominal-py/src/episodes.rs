//! Episodes: played, stored, read.

use crate::arrays::shaped;
use crate::error::{detached, raised, wrong};
use crate::progress::{context, interruptible};
use offnominal_engine::collect::Request;
use offnominal_files::dataset::{self, Dataset};
use offnominal_files::minari::{self, Format};
use offnominal_work::cli;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use serde_json::json;
use std::path::PathBuf;
use std::sync::Arc;

/// Episodes with the recipe that recreates them, as they stand in a file.
#[pyclass(module = "offnominal._engine")]
pub(crate) struct Recording(pub(crate) Dataset);

#[pymethods]
impl Recording {
    fn __len__(&self) -> usize {
        self.0.episodes.len()
    }

    /// What was played, as JSON.
    fn recipe(&self) -> PyResult<String> {
        serde_json::to_string(&self.0.recipe).map_err(raised)
    }

    /// For each episode, the index of its twin.
    fn twins(&self) -> Vec<Option<usize>> {
        self.0.twins.clone()
    }

    /// The arrays of an episode and what is known of it.
    fn episode<'py>(&self, py: Python<'py>, i: usize) -> PyResult<Bound<'py, PyDict>> {
        let n = self.0.episodes.len();
        let episode =
            self.0.episodes.get(i).ok_or_else(|| wrong(format!("episode: expected 0 to {n}, found {i}")))?;
        let (steps, dict) = (episode.len(), PyDict::new(py));
        let rows = |values: &[f32], rows, width| shaped(py, values.to_vec(), &[rows, width]);
        dict.set_item("observations", rows(&episode.observations, steps + 1, episode.obs_width)?)?;
        dict.set_item("actions", rows(&episode.actions, steps, episode.act_width)?)?;
        dict.set_item("rewards", shaped(py, episode.rewards.clone(), &[steps])?)?;
        dict.set_item("labels", shaped(py, episode.labels.clone(), &[steps])?)?;
        dict.set_item("initial", episode.initial.clone())?;
        dict.set_item("seed", episode.seed.0)?;
        dict.set_item("onset", episode.onset)?;
        dict.set_item("end", json!(episode.end).as_str())?;
        dict.set_item("success", episode.success())?;
        Ok(dict)
    }

    /// Some of the episodes, in this order; a twin that is not among them is forgotten.
    fn select(&self, chosen: Vec<usize>) -> PyResult<Recording> {
        let n = self.0.episodes.len();
        if let Some(bad) = chosen.iter().find(|&&i| i >= n) {
            return Err(wrong(format!("episode: expected 0 to {n}, found {bad}")));
        }
        let place = |twin: usize| chosen.iter().position(|&i| i == twin);
        Ok(Recording(Dataset {
            recipe: self.0.recipe.clone(),
            episodes: chosen.iter().map(|&i| self.0.episodes[i].clone()).collect(),
            twins: chosen.iter().map(|&i| self.0.twins[i].and_then(place)).collect(),
        }))
    }

    /// Writes a folder that Minari reads, `<folder>/<id>`, whole or not at all, and returns its path.
    fn export_minari(&self, py: Python<'_>, folder: PathBuf, id: &str) -> PyResult<PathBuf> {
        detached(py, || minari::export(&self.0, &folder, id, Format::Hdf5))
    }

    /// Writes an Arrow file, whole or not at all.
    fn save(&self, py: Python<'_>, path: PathBuf) -> PyResult<()> {
        detached(py, || dataset::save(&self.0, &path))
    }
}

/// Reads an Arrow file of episodes.
#[pyfunction]
pub(crate) fn load(py: Python<'_>, path: PathBuf) -> PyResult<Recording> {
    detached(py, || dataset::load(&path).map(Recording))
}

/// Plays episodes as `offnominal collect` does; `display` shows progress.
#[pyfunction]
#[pyo3(signature = (request, seed = 0, jobs = 0, display = None))]
pub(crate) fn collect(
    py: Python<'_>,
    request: &str,
    seed: u64,
    jobs: usize,
    display: Option<Py<PyAny>>,
) -> PyResult<Recording> {
    let context = context(seed, jobs, display, Arc::default());
    interruptible(py, &context.stop, || {
        let request: Request = cli::request(&serde_json::from_str(request)?)?;
        let subject = request.subject()?;
        let anomaly_spec = subject.anomaly_spec(request.anomaly.as_ref())?;
        let episodes = 0..request.episodes as usize;
        let played = request.play(&subject, anomaly_spec.as_ref(), episodes, &context);
        context.pass_on_remarks();
        // Where it broke, what was whole before is only a part of what was asked for.
        subject.health().map_err(anyhow::Error::msg)?;
        played.map(Recording)
    })
}

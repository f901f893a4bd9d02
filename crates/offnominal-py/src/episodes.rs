//! Episodes: played, stored, read, judged.

use crate::anomaly_spec;
use crate::arrays::shaped;
use crate::error::{detached, raised, wrong};
use offnominal_core::prelude::*;
use offnominal_engine::collect::{Plan, nominal, with_twins};
use offnominal_engine::context::Context;
use offnominal_engine::evaluation::{self, Evaluation};
use offnominal_engine::parallel::default_jobs;
use offnominal_engine::progress::Task;
use offnominal_engine::subject::Subject;
use offnominal_files::dataset::{self, Dataset};
use offnominal_files::minari::{self, Format};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use serde_json::json;
use std::path::PathBuf;

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

    /// Adds the episodes of another recording of the same recipe.
    fn extend(&mut self, other: &Recording) -> PyResult<()> {
        if self.0.recipe != other.0.recipe {
            return Err(wrong("expected recordings of the same recipe, found two"));
        }
        let n = self.0.episodes.len();
        self.0.episodes.extend(other.0.episodes.iter().cloned());
        self.0.twins.extend(other.0.twins.iter().map(|twin| twin.map(|i| i + n)));
        Ok(())
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

/// Plays the episodes `first` to `first + n − 1` of a seed, as `offnominal collect` does; disturbed ones with their
/// twins.
#[pyfunction]
#[allow(clippy::too_many_arguments)]
#[pyo3(signature = (env, policy, first, n, seed = 0, anomaly_spec = "null", jobs = 0))]
pub(crate) fn collect(
    py: Python<'_>,
    env: &str,
    policy: &str,
    first: usize,
    n: usize,
    seed: u64,
    anomaly_spec: &str,
    jobs: usize,
) -> PyResult<Recording> {
    detached(py, || {
        let subject = Subject::new(env, policy)?;
        let anomaly_spec =
            anomaly_spec::read(anomaly_spec, subject.env.as_ref(), subject.env.spec().horizon)?;
        let (root, bar) = (Seed(seed).child("collect"), Task::hidden());
        let jobs = if jobs == 0 { default_jobs() } else { jobs };
        let plan = Plan { seed, root, episodes: first..first + n, jobs, bar: &bar };
        let played = match &anomaly_spec {
            None => nominal(&subject, &plan),
            Some(anomaly_spec) => with_twins(&subject, anomaly_spec, &plan),
        };
        played.map(Recording)
    })
}

/// Return and success rate of a policy with intervals, as JSON.
#[pyfunction]
#[pyo3(signature = (env, policy, episodes, seed = 0, jobs = 0))]
pub(crate) fn evaluate(
    py: Python<'_>,
    env: &str,
    policy: &str,
    episodes: usize,
    seed: u64,
    jobs: usize,
) -> PyResult<String> {
    detached(py, || {
        let subject = Subject::new(env, policy)?;
        let jobs = if jobs == 0 { default_jobs() } else { jobs };
        let context = Context::silent(seed, jobs);
        let Evaluation { total_reward, success, random_return } =
            evaluation::evaluate(subject.env.as_ref(), subject.policy.as_ref(), episodes, &context)?;
        let found = json!({ "return": total_reward, "success": success, "random_return": random_return });
        Ok(found.to_string())
    })
}

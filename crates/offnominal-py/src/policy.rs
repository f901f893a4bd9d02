//! Policies: those that the engine knows, and Python's own.

use crate::arrays::{Floats, row};
use crate::error::{caught, detached, raised};
use anyhow::Context as _;
use numpy::PyArray1;
use offnominal_agents::Card;
use offnominal_agents::sb3::{self, Model, Options};
use offnominal_core::policy::Policy as Acting;
use offnominal_core::prelude::*;
use offnominal_engine::{catalogues, policies as known};
use offnominal_files::store::address;
use offnominal_files::write::atomically;
use pyo3::prelude::*;
use std::path::PathBuf;

/// Names and summaries of the policies that need no file.
#[pyfunction]
pub(crate) fn policies() -> PyResult<Vec<(String, String)>> {
    known::list().map_err(raised)
}

/// A policy of the engine.
#[pyclass(module = "offnominal._engine")]
pub(crate) struct Policy {
    pub(crate) inner: Box<dyn Acting>,
    rng: Rng,
    name: String,
    env: String,
    widths: (usize, usize),
    card: Option<Card>,
    is_choice: bool,
    /// The digest of its file.
    pub(crate) digest: String,
    /// The name by which it was found.
    asked: String,
    /// The file of an imported policy.
    file: Option<Vec<u8>>,
}

#[pymethods]
impl Policy {
    /// The policy of that name (an algorithm, a card's id, a path) for an environment.
    #[new]
    fn new(py: Python<'_>, env: &str, name: &str) -> PyResult<Policy> {
        detached(py, || {
            let environment = catalogues::environment(env, None)?;
            let found = known::find(name, environment.as_ref())?;
            let asked = name.to_string();
            let (inner, name, card, digest) = (found.policy, found.name, found.card, found.digest);
            let file = found.own;
            Ok(Policy { card, asked, file, ..Policy::of(inner, environment.spec(), env, name, digest) })
        })
    }

    /// A model of Stable-Baselines3 from the bytes of its zip and, if observations were normalised, of the pickle of
    /// their statistics. Without an environment it acts on what it was trained on.
    #[staticmethod]
    #[pyo3(signature = (model, normalize = None, env = None, stack = 1))]
    fn from_sb3(
        py: Python<'_>,
        model: Vec<u8>,
        normalize: Option<Vec<u8>>,
        env: Option<&str>,
        stack: usize,
    ) -> PyResult<Policy> {
        detached(py, || {
            let statistics = normalize.map(|bytes| sb3::read_normalisation(&bytes)).transpose()?.flatten();
            let model = Model::read(&model)?;
            let spec = match env {
                Some(env) => catalogues::environment(env, None)?.spec().clone(),
                None => model.spec("imported"),
            };
            let taken = model.policy(&spec, &Options { statistics, stack })?;
            let (name, file) = (taken.algorithm().to_string(), taken.to_bytes());
            let policy = Policy::of(taken.into_policy(), &spec, &spec.id, name, address(&file));
            Ok(Policy { file: Some(file), ..policy })
        })
    }

    /// Writes the policy where commands find it by its path, with its card beside it if it has one.
    fn save(&self, py: Python<'_>, path: PathBuf) -> PyResult<()> {
        detached(py, || {
            let bytes = match &self.file {
                Some(bytes) => Some(bytes.clone()),
                None => known::content(&self.asked, &self.env)?,
            };
            let bytes = bytes
                .with_context(|| format!("policy {}: expected one with a file, found none", self.name))?;
            atomically(&path, &bytes)?;
            self.card.as_ref().map_or(Ok(()), |card| known::write_card(card, &path))
        })
    }

    /// Whether the command is one of a few choices.
    #[getter]
    fn is_choice(&self) -> bool {
        self.is_choice
    }

    /// The name under which results list it.
    #[getter]
    fn name(&self) -> &str {
        &self.name
    }

    /// The environment in which it acts.
    #[getter]
    fn env(&self) -> &str {
        &self.env
    }

    /// The digest of its file.
    #[getter]
    fn digest(&self) -> &str {
        &self.digest
    }

    /// What is known of it, as JSON; null if it has no card.
    fn card(&self) -> PyResult<String> {
        serde_json::to_string(&self.card).map_err(raised)
    }

    /// Forgets the episode before; of an episode's seed it draws what the engine would.
    #[pyo3(signature = (seed = 0))]
    fn reset(&mut self, seed: u64) {
        self.inner.reset();
        self.rng = Seed(seed).child("policy").rng();
    }

    /// The command for an observation.
    fn act<'py>(&mut self, py: Python<'py>, obs: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyArray1<f32>>> {
        let floats = Floats::read(obs, "observation")?;
        if floats.slice().len() != self.widths.0 {
            floats.expect_shape(&[self.widths.0], "observation")?;
        }
        floats.expect_finite("observation")?;
        let mut action = vec![0.0; self.widths.1];
        caught(|| {
            self.inner.act(floats.slice(), &mut action, &mut self.rng);
            Ok(())
        })?;
        Ok(row(py, &action))
    }
}

impl Policy {
    /// A policy without card and file.
    fn of(inner: Box<dyn Acting>, spec: &EnvSpec, env: &str, name: String, digest: String) -> Policy {
        Policy {
            inner,
            rng: Rng::new(0),
            name,
            env: env.into(),
            widths: (spec.obs_width(), spec.act_width()),
            card: None,
            is_choice: spec.action.iter().any(Channel::is_choice),
            digest,
            asked: String::new(),
            file: None,
        }
    }
}

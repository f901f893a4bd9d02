//! Policies: those that the engine knows, and Python's own.

use crate::arrays::{Floats, row};
use crate::error::{detached, raised};
use numpy::PyArray1;
use offnominal::{catalogues, policies as known};
use offnominal_agents::Card;
use offnominal_core::policy::Policy as Acting;
use offnominal_core::prelude::*;
use pyo3::prelude::*;

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
}

#[pymethods]
impl Policy {
    /// The policy of that name (an algorithm, a card's id, a path) for a world.
    #[new]
    fn new(py: Python<'_>, env: &str, name: &str) -> PyResult<Policy> {
        detached(py, || {
            let world = catalogues::world(env, None)?;
            let found = known::find(name, world.as_ref())?;
            let widths = (world.spec().obs_width(), world.spec().act_width());
            let (inner, name, card) = (found.policy, found.name, found.card);
            Ok(Policy { inner, rng: Rng::new(0), name, env: env.into(), widths, card })
        })
    }

    /// The name under which results list it.
    #[getter]
    fn name(&self) -> &str {
        &self.name
    }

    /// The world in which it acts.
    #[getter]
    fn env(&self) -> &str {
        &self.env
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
        self.inner.act(floats.slice(), &mut action, &mut self.rng);
        Ok(row(py, &action))
    }
}

//! Policies and detectors written in Python, as the engine sees them.
//!
//! An exception that they raise cannot be returned through the engine, whose policies and monitors never fail, so it
//! unwinds to the call that Python made and is raised there.

use crate::arrays::{Floats, row, shaped};
use crate::error::wrong;
use numpy::{PyArray1, PyArrayMethods};
use offnominal_core::detector::Monitor as Watching;
use offnominal_core::policy::Policy as Acting;
use offnominal_core::prelude::*;
use pyo3::intern;
use pyo3::prelude::*;
use serde_json::Value;
use std::collections::HashMap;
use std::panic::resume_unwind;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The detectors that Python gave, by the key in their recipe.
static DETECTORS: Mutex<Option<HashMap<String, Py<PyAny>>>> = Mutex::new(None);

fn given() -> MutexGuard<'static, Option<HashMap<String, Py<PyAny>>>> {
    DETECTORS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Makes a detector known by a key; the recipe `{ id = "python", key = KEY }` then means it.
#[pyfunction]
pub(crate) fn give_detector(key: String, detector: Py<PyAny>) {
    given().get_or_insert_default().insert(key, detector);
}

/// The id of detectors written in Python.
pub(crate) const PYTHON: &str = "python";

/// How the engine finds them.
pub(crate) const ENTRY: Entry<dyn Detector> =
    Entry { id: PYTHON, summary: "a detector written in Python", build: found, exempt: &[] };

fn found(recipe: &Value) -> Result<Box<dyn Detector>, BuildError> {
    let key = recipe.get("key").and_then(Value::as_str).unwrap_or_default();
    // The interpreter's lock comes first, as it does where detectors are given.
    let own = Python::attach(|py| given().as_ref().and_then(|all| Some(all.get(key)?.clone_ref(py))));
    match own {
        Some(own) => Ok(Box::new(OwnDetector(own))),
        None => Err(BuildError::Parameters(format!(
            "expected the key of a detector of this process, found {key:?}"
        ))),
    }
}

/// Calls Python; an exception unwinds.
pub(crate) fn attached<T>(call: impl FnOnce(Python<'_>) -> PyResult<T>) -> T {
    Python::attach(|py| call(py).and_then(|done| py.check_signals().map(|()| done)))
        .unwrap_or_else(|error| resume_unwind(Box::new(error)))
}

/// An object with `fit(episodes)` and `score(episode)`.
struct OwnDetector(Py<PyAny>);

impl Detector for OwnDetector {
    fn fit(&self, Nominal { train, .. }: Nominal<'_>, _: &mut Rng) -> Result<Box<dyn Monitor>, FitError> {
        let fitted = attached(|py| {
            let fresh = py.import("copy")?.call_method1("deepcopy", (&self.0,))?;
            let episodes = train.iter().map(|s| pair(py, s)).collect::<PyResult<Vec<_>>>()?;
            let made = fresh.call_method1("fit", (episodes,))?;
            Ok(if made.hasattr("score")? { made } else { fresh }.unbind())
        });
        let width = train.first().map_or(0, Signals::obs_width);
        Ok(Box::new(OwnMonitor { fitted, width, observations: vec![], actions: vec![] }))
    }
}

/// Observations and commands of an episode as arrays.
fn pair<'py>(py: Python<'py>, seen: &Signals<'_>) -> PyResult<(Bound<'py, PyAny>, Bound<'py, PyAny>)> {
    let observations = shaped(py, seen.observations().to_vec(), &[seen.len() + 1, seen.obs_width()])?;
    let actions = shaped(py, seen.actions().to_vec(), &[seen.len(), seen.act_width()])?;
    Ok((observations.into_any(), actions.into_any()))
}

/// What was fitted, with the episode so far, for it scores whole episodes only.
struct OwnMonitor {
    fitted: Py<PyAny>,
    width: usize,
    observations: Vec<f32>,
    actions: Vec<f32>,
}

impl OwnMonitor {
    fn scores(&self, seen: &Signals<'_>) -> Vec<f64> {
        attached(|py| {
            let found = self.fitted.bind(py).call_method1("score", (pair(py, seen)?,))?;
            let found = py.import(intern!(py, "numpy"))?.call_method1("asarray", (found, "float64"))?;
            let found = found.cast_into::<PyArray1<f64>>()?.to_vec()?;
            let sound = found.len() == seen.len() && found.iter().all(|s| s.is_finite());
            let expected = format!("score: expected {} finite numbers, one for each step", seen.len());
            sound.then_some(()).ok_or_else(|| wrong(format!("{expected}, found {} numbers", found.len())))?;
            Ok(found)
        })
    }
}

impl Watching for OwnMonitor {
    fn reset(&mut self) {
        self.observations.clear();
        self.actions.clear();
    }

    fn score(&mut self, seen: &Transition<'_>) -> f64 {
        if self.observations.is_empty() {
            self.observations.extend_from_slice(seen.obs);
        }
        self.observations.extend_from_slice(seen.next_obs);
        self.actions.extend_from_slice(seen.action);
        let so_far = Signals::new(&self.observations, &self.actions, self.width, seen.action.len());
        self.scores(&so_far).pop().unwrap_or_default()
    }

    fn score_episode(&mut self, seen: &Signals<'_>, scores: &mut Vec<f64>) {
        *scores = self.scores(seen);
    }

    fn fork(&self) -> Box<dyn Monitor> {
        let fitted = Python::attach(|py| self.fitted.clone_ref(py));
        Box::new(OwnMonitor { fitted, width: self.width, observations: vec![], actions: vec![] })
    }
}

/// A callable `policy(obs) -> action`.
pub(crate) struct OwnPolicy(pub(crate) Py<PyAny>);

impl Acting for OwnPolicy {
    fn reset(&mut self) {
        attached(|py| {
            let own = self.0.bind(py);
            if own.hasattr(intern!(py, "reset"))? {
                own.call_method0(intern!(py, "reset"))?;
            }
            Ok(())
        });
    }

    fn act(&mut self, obs: &[f32], action: &mut [f32], _: &mut Rng) {
        attached(|py| {
            let found = Floats::read(&self.0.bind(py).call1((row(py, obs),))?, "action of the policy")?;
            if found.slice().len() != action.len() {
                found.expect_shape(&[action.len()], "action of the policy")?;
            }
            found.expect_finite("action of the policy")?;
            action.copy_from_slice(found.slice());
            Ok(())
        });
    }

    /// One that remembers is copied whole.
    fn fork(&self) -> Box<dyn Acting> {
        Box::new(OwnPolicy(attached(|py| {
            let own = self.0.bind(py);
            if own.hasattr(intern!(py, "reset"))? {
                return Ok(py.import("copy")?.call_method1("deepcopy", (own,))?.unbind());
            }
            Ok(own.clone().unbind())
        })))
    }
}

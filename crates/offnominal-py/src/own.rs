//! Policies and detectors written in Python, as the engine sees them.
//!
//! An exception that they raise cannot be returned through the engine, whose policies and monitors never fail, so it
//! unwinds to the call that Python made and is raised there.

use crate::arrays::{Floats, row, shaped};
use crate::environment::Border;
use crate::error::wrong;
use numpy::{PyArray1, PyArrayMethods};
use offnominal_core::archive::{Archive, Numbers};
use offnominal_core::policy::Policy as Acting;
use offnominal_core::prelude::*;
use offnominal_engine::policies;
use offnominal_hosts::foreign;
use offnominal_monitor::About;
use pyo3::intern;
use pyo3::prelude::*;
use serde_json::Value;
use std::collections::HashMap;
use std::panic::resume_unwind;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

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
    let Some(key) = recipe.get("key").and_then(Value::as_str) else {
        return Ok(Box::new(OwnDetector(None)));
    };
    // The interpreter's lock comes first, as it does where detectors are given.
    let own = Python::attach(|py| given().as_ref().and_then(|all| Some(all.get(key)?.clone_ref(py))));
    match own {
        Some(own) => Ok(Box::new(OwnDetector(Some(own)))),
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

/// An object with `fit(episodes)` and `score(episode)`; none, where a fitted one is brought back.
struct OwnDetector(Option<Py<PyAny>>);

impl Detector for OwnDetector {
    fn fit(&self, Nominal { train, .. }: Nominal<'_>, _: &mut Rng) -> Result<Box<dyn Scorer>, FitError> {
        let Some(own) = &self.0 else { return Err(FitError::Missing(UNKNOWN.into())) };
        let fitted = attached(|py| {
            let fresh = py.import("copy")?.call_method1("deepcopy", (own,))?;
            let episodes = train.iter().map(|s| pair(py, s)).collect::<PyResult<Vec<_>>>()?;
            let made = fresh.call_method1("fit", (episodes,))?;
            Ok(if made.hasattr("score")? { made } else { fresh }.unbind())
        });
        let width = train.first().map_or(0, Signals::obs_width);
        Ok(Box::new(OwnMonitor::new(fitted, width)))
    }

    /// A fitted object of this process; it is found once.
    fn load(&self, from: &Reader<'_>, _: Option<&dyn Policy>) -> Result<Box<dyn Scorer>, ArchiveError> {
        let handle = from.one::<u64>(HANDLE)?;
        let fitted = fitted().as_mut().and_then(|all| all.remove(&handle));
        from.require(fitted.is_some(), HANDLE, "that of a fitted detector of this process", handle)?;
        let fitted = fitted.expect("it was checked");
        Ok(Box::new(OwnMonitor::new(fitted, from.obs_width)))
    }
}

/// Why a detector of another process cannot be fitted.
const UNKNOWN: &str = "expected a detector of this process, found only the name of one written in Python";

/// The name of the list with which a fitted object of Python travels through an archive: its number in this process.
const HANDLE: &str = "handle";

/// Where the archive of a monitor has that list.
const PLACE: &str = "detector.handle";

/// The fitted objects that are on their way through an archive.
static FITTED: Mutex<Option<HashMap<u64, Py<PyAny>>>> = Mutex::new(None);

/// The number of the next one.
static NEXT: AtomicU64 = AtomicU64::new(0);

fn fitted() -> MutexGuard<'static, Option<HashMap<u64, Py<PyAny>>>> {
    FITTED.lock().unwrap_or_else(PoisonError::into_inner)
}

fn sent(own: Py<PyAny>) -> u64 {
    let handle = NEXT.fetch_add(1, Ordering::Relaxed);
    fitted().get_or_insert_default().insert(handle, own);
    handle
}

/// Takes the fitted object out of the archive of a monitor, if there is one.
pub(crate) fn take(archive: &mut Archive) -> Option<Py<PyAny>> {
    let Some(Numbers::U64(handle)) = archive.lists.remove(PLACE) else { return None };
    fitted().as_mut().and_then(|all| all.remove(handle.first()?))
}

/// Puts a fitted object into the archive of a monitor.
pub(crate) fn put(archive: &mut Archive, own: Py<PyAny>) {
    archive.lists.insert(PLACE.into(), Numbers::U64(vec![sent(own)]));
}

/// The header without the key by which this process knows a detector of Python.
pub(crate) fn forgotten(mut about: About) -> About {
    if about.detector.id == PYTHON {
        about.detector.params.as_object_mut().map(|params| params.remove("key"));
    }
    about
}

/// Observations and commands of an episode as arrays.
fn pair<'py>(py: Python<'py>, seen: &Signals<'_>) -> PyResult<(Bound<'py, PyAny>, Bound<'py, PyAny>)> {
    let observations = shaped(py, seen.observations().to_vec(), &[seen.len() + 1, seen.obs_width()])?;
    let actions = shaped(py, seen.actions().to_vec(), &[seen.len(), seen.act_width()])?;
    Ok((observations.into_any(), actions.into_any()))
}

/// What was fitted, with the episode so far, for one that scores whole episodes only.
struct OwnMonitor {
    fitted: Py<PyAny>,
    /// Whether it has `step` and `reset`.
    streams: bool,
    width: usize,
    observations: Vec<f32>,
    actions: Vec<f32>,
}

impl OwnMonitor {
    fn new(fitted: Py<PyAny>, width: usize) -> OwnMonitor {
        let streams =
            attached(|py| Ok(fitted.bind(py).hasattr("step")? && fitted.bind(py).hasattr("reset")?));
        OwnMonitor { fitted, streams, width, observations: vec![], actions: vec![] }
    }

    /// The score of a step by `step`.
    fn streamed(&self, seen: &Transition<'_>) -> f64 {
        attached(|py| {
            let rows = [seen.obs, seen.action, seen.next_obs].map(|values| row(py, values));
            let [obs, action, next_obs] = rows;
            let score: f64 = self.fitted.bind(py).call_method1("step", (obs, action, next_obs))?.extract()?;
            let sound = score.is_finite();
            sound
                .then_some(score)
                .ok_or_else(|| wrong(format!("step: expected a finite number, found {score}")))
        })
    }

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

/// An object of its own, where it remembers an episode.
impl Clone for OwnMonitor {
    fn clone(&self) -> OwnMonitor {
        let fitted = attached(|py| {
            // What remembers an episode is copied whole.
            if self.streams {
                return Ok(py.import("copy")?.call_method1("deepcopy", (&self.fitted,))?.unbind());
            }
            Ok(self.fitted.clone_ref(py))
        });
        OwnMonitor::new(fitted, self.width)
    }
}

impl Scorer for OwnMonitor {
    fn reset(&mut self) {
        self.observations.clear();
        self.actions.clear();
        if self.streams {
            attached(|py| self.fitted.bind(py).call_method0("reset").map(drop));
        }
    }

    fn score(&mut self, seen: &Transition<'_>) -> f64 {
        if self.streams {
            return self.streamed(seen);
        }
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

    fn save(&self, to: &mut Writer<'_>) -> Result<(), ArchiveError> {
        to.put(HANDLE, &[sent(Python::attach(|py| self.fitted.clone_ref(py)))]);
        Ok(())
    }
}

/// Makes a policy known by a name: one of the engine, or a callable `policy(obs) -> action`.
#[pyfunction]
pub(crate) fn give_policy(name: String, digest: String, policy: &Bound<'_, PyAny>) {
    if let Ok(own) = policy.cast::<crate::policy::Policy>() {
        let own = own.borrow().inner.fork();
        return policies::bring(name, digest, Arc::new(move |_| Ok(own.fork())));
    }
    let own = policy.clone().unbind();
    policies::bring(name, digest, Arc::new(move |env| Ok(Box::new(OwnPolicy::of(&own, env)))));
}

/// A callable `policy(obs) -> action`.
pub(crate) struct OwnPolicy {
    callable: Py<PyAny>,
    /// The shape of the observations that it reads; a row, if there is none.
    shape: Option<Vec<usize>>,
    /// What its commands must be.
    border: Border,
}

impl OwnPolicy {
    /// The policy in an environment.
    pub(crate) fn of(callable: &Py<PyAny>, env: &dyn Env) -> OwnPolicy {
        let spec = env.spec();
        let image = spec.image().map(|i| vec![i.frames * i.planes, i.height, i.columns]);
        let shape = image.or_else(|| foreign::shape(&spec.id)).filter(|shape| shape.len() != 1);
        OwnPolicy { callable: Python::attach(|py| callable.clone_ref(py)), shape, border: Border::of(spec) }
    }

    /// An observation as the callable reads it.
    fn observation<'py>(&self, py: Python<'py>, obs: &[f32]) -> PyResult<Bound<'py, PyAny>> {
        match &self.shape {
            None => Ok(row(py, obs).into_any()),
            Some(shape) => Ok(shaped(py, obs.to_vec(), shape)?.into_any()),
        }
    }
}

impl Acting for OwnPolicy {
    fn reset(&mut self) {
        attached(|py| {
            let own = self.callable.bind(py);
            if own.hasattr(intern!(py, "reset"))? {
                own.call_method0(intern!(py, "reset"))?;
            }
            Ok(())
        });
    }

    fn act(&mut self, obs: &[f32], action: &mut [f32], _: &mut Rng) {
        attached(|py| {
            let found = Floats::read(
                &self.callable.bind(py).call1((self.observation(py, obs)?,))?,
                "action of the policy",
            )?;
            if found.slice().len() != action.len() {
                found.expect_shape(&[action.len()], "action of the policy")?;
            }
            found.expect_finite("action of the policy")?;
            self.border.check(found.slice())?;
            action.copy_from_slice(found.slice());
            Ok(())
        });
    }

    /// One that remembers is copied whole.
    fn fork(&self) -> Box<dyn Acting> {
        let callable = attached(|py| {
            let own = self.callable.bind(py);
            if own.hasattr(intern!(py, "reset"))? {
                return Ok(py.import("copy")?.call_method1("deepcopy", (own,))?.unbind());
            }
            Ok(own.clone().unbind())
        });
        Box::new(OwnPolicy { callable, shape: self.shape.clone(), border: self.border.clone() })
    }
}

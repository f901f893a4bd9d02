//! Detectors: the engine's catalogue, and what is fitted.

use crate::arrays::{Floats, shaped};
use crate::error::{caught, detached, raised, wrong};
use crate::forks::Forks;
use crate::own::PYTHON;
use crate::policy::Policy;
use crate::progress::{abandonable, context, interruptible};
use anyhow::Context as _;
use numpy::{PyArray1, PyArrayDyn};
use offnominal_core::archive::Archive;
use offnominal_core::detector::Monitor as Watching;
use offnominal_core::prelude::*;
use offnominal_detectors::{ALL, Described, SequenceTraining, Training, fields};
use offnominal_engine::catalogues;
use offnominal_engine::detector_choice::seed_label;
use offnominal_monitor::{DetectorRecipe, FORMAT, seal, unseal};
use pyo3::prelude::*;
use pyo3::sync::MutexExt;
use pyo3::types::PyBytes;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Ids and summaries of the detectors, in the order of the catalogue.
#[pyfunction]
pub(crate) fn detectors() -> Vec<(&'static str, &'static str)> {
    let all = catalogues::detectors();
    all.entries().iter().filter(|e| e.id != PYTHON).map(|e| (e.id, e.summary)).collect()
}

/// Every built-in detector with its parameters, as JSON.
#[pyfunction]
pub(crate) fn recipes() -> PyResult<String> {
    let described = ALL.iter().zip(fields());
    let all: Vec<_> =
        described.map(|(e, fields)| json!({ "id": e.id, "summary": e.summary, "fields": fields })).collect();
    let tables = json!({ "Training": Training::fields(), "SequenceTraining": SequenceTraining::fields() });
    serde_json::to_string(&json!({ "detectors": all, "tables": tables })).map_err(raised)
}

/// Checks the options of a detector, given as JSON.
#[pyfunction]
pub(crate) fn check_detector(id: &str, options: &str) -> PyResult<()> {
    let options = serde_json::from_str(options).map_err(raised)?;
    catalogues::detectors().build(id, &options).map(drop).map_err(raised)
}

/// Observations `[T + 1, o]` and commands `[T, a]` of one episode, borrowed from Python.
pub(crate) type Pair<'py> = (Bound<'py, PyAny>, Bound<'py, PyAny>);

pub(crate) struct Recorded<'py> {
    observations: Floats<'py>,
    actions: Floats<'py>,
}

impl<'py> Recorded<'py> {
    fn read((observations, actions): &Pair<'py>) -> PyResult<Recorded<'py>> {
        let (o, a) = ("observations", "actions");
        let found =
            Recorded { observations: Floats::read(observations, o)?, actions: Floats::read(actions, a)? };
        found.check()?;
        found.observations.expect_finite(o)?;
        found.actions.expect_finite(a)?;
        Ok(found)
    }

    fn check(&self) -> PyResult<()> {
        let (o, a) = (self.observations.shape(), self.actions.shape());
        // Recordings may be without commands.
        let sound = matches!((o, a), (&[rows, 1..=usize::MAX], &[steps, _]) if rows == steps + 1);
        if sound {
            return Ok(());
        }
        Err(wrong(format!(
            "arrays: expected observations of shape [T + 1, o] and actions of shape [T, a], found {o:?} and {a:?}"
        )))
    }

    pub(crate) fn signals(&self) -> Signals<'_> {
        let (o, a) = (self.observations.shape()[1], self.actions.shape()[1]);
        Signals::new(self.observations.slice(), self.actions.slice(), o, a)
    }
}

pub(crate) fn recorded<'py>(episodes: &[Pair<'py>], what: &str) -> PyResult<Vec<Recorded<'py>>> {
    let read = |(i, e): (usize, &Pair<'py>)| {
        Recorded::read(e).map_err(|error| wrong(format!("{what} episode {i}, {}", error.value(e.0.py()))))
    };
    episodes.iter().enumerate().map(read).collect()
}

/// Fits a detector; `train` and `validation` are lists of `(observations, actions)`.
#[pyfunction]
#[pyo3(signature = (id, options, train, validation, seed, policy = None, display = None))]
#[expect(clippy::too_many_arguments, reason = "they are keywords of a Python function")]
pub(crate) fn fit<'py>(
    py: Python<'py>,
    id: &str,
    options: &str,
    train: Vec<Pair<'py>>,
    validation: Vec<Pair<'py>>,
    seed: u64,
    policy: Option<&Policy>,
    display: Option<Py<PyAny>>,
) -> PyResult<Monitor> {
    let options = serde_json::from_str(options).map_err(raised)?;
    let detector = catalogues::detectors().build(id, &options).map_err(raised)?;
    let (train, validation) = (recorded(&train, "training")?, recorded(&validation, "validation")?);
    let train: Vec<Signals<'_>> = train.iter().map(Recorded::signals).collect();
    let validation: Vec<Signals<'_>> = validation.iter().map(Recorded::signals).collect();
    let widths = train.first().map_or((0, 0), |s| (s.obs_width(), s.act_width()));
    let policy = policy.map(|p| p.inner.as_ref());
    let nominal = Nominal { policy, ..Nominal::new(&train, &validation) };
    let context = context(seed, 0, display, Arc::default());
    let inner = interruptible(py, &context.stop, || {
        let mut rng = Seed(seed).child("fit").child(seed_label(id)).rng();
        context.watched(&format!("fit of {id}"), |progress| {
            detector.fit(nominal.with_progress(progress), &mut rng)
        })
    })?;
    Ok(Monitor::new(inner, widths, id.into(), options))
}

/// A fitted detector.
#[pyclass(module = "offnominal._engine", frozen)]
pub(crate) struct Monitor {
    /// The one that is stepped.
    inner: Mutex<Box<dyn Watching>>,
    /// Those that score whole episodes.
    forks: Forks<dyn Watching>,
    widths: (usize, usize),
    id: String,
    options: Value,
}

/// The header of the file of a fitted detector.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Header {
    format: u32,
    engine: String,
    detector: DetectorRecipe,
    widths: (usize, usize),
}

#[pymethods]
impl Monitor {
    /// The detector that was fitted.
    #[getter]
    fn detector(&self) -> &str {
        &self.id
    }

    /// Numbers per observation and per command.
    #[getter]
    fn widths(&self) -> (usize, usize) {
        self.widths
    }

    /// Forgets the episode before.
    fn reset(&self, py: Python<'_>) {
        self.own(py).reset();
    }

    /// Scores a whole episode, `[T]`; what is remembered of the one that is stepped stays as it is.
    fn score_episode<'py>(
        &self,
        py: Python<'py>,
        observations: Bound<'py, PyAny>,
        actions: Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyArray1<f64>>> {
        let seen = Recorded::read(&(observations, actions))?;
        let signals = seen.signals();
        let found = (signals.obs_width(), signals.act_width());
        if found != self.widths {
            return Err(wrong(format!(
                "episode: expected {:?} observation and action channels, as in training, found {found:?}",
                self.widths
            )));
        }
        let mut fork = self.forks.take(|| self.own(py).fork());
        let (o, a) = (seen.observations.slice().to_vec(), seen.actions.slice().to_vec());
        let (scores, fork) = abandonable(py, move || {
            let mut scores = vec![];
            fork.score_episode(&Signals::new(&o, &a, found.0, found.1), &mut scores);
            Ok((scores, fork))
        })?;
        self.forks.give_back(fork);
        let n = scores.len();
        Ok(shaped(py, scores, &[n])?.cast_into()?)
    }

    /// Scores one step, while it happens: observation before it, `[o]`, the policy's command, `[a]`, and observation
    /// after it, `[o]`. Step by step this gives what `score` gives for the whole episode, up to rounding (1e-5 relative).
    fn step(
        &self,
        py: Python<'_>,
        obs: &Bound<'_, PyAny>,
        action: &Bound<'_, PyAny>,
        next_obs: &Bound<'_, PyAny>,
    ) -> PyResult<f64> {
        let obs = self.part(obs, "observation", self.widths.0)?;
        let action = self.part(action, "action", self.widths.1)?;
        let next_obs = self.part(next_obs, "next observation", self.widths.0)?;
        let seen = Transition { obs: obs.slice(), action: action.slice(), next_obs: next_obs.slice() };
        caught(|| Ok(self.own(py).score(&seen)))
    }

    /// Which part of the score of the last step is due to each number of the observation, `[o]`; they sum to the score. None if
    /// the detector does not tell.
    fn shares<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyArrayDyn<f64>>>> {
        let mut shares = vec![0.0; self.widths.0];
        let tells = self.own(py).shares(&mut shares);
        tells.then(|| shaped(py, shares, &[self.widths.0])).transpose()
    }

    /// An independent copy.
    fn fork(&self, py: Python<'_>) -> Monitor {
        Monitor::new(self.own(py).fork(), self.widths, self.id.clone(), self.options.clone())
    }

    /// The bytes of its file.
    fn to_bytes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let header = Header {
            format: FORMAT,
            engine: env!("CARGO_PKG_VERSION").into(),
            detector: DetectorRecipe { id: self.id.clone(), params: self.options.clone() },
            widths: self.widths,
        };
        let mut archive = Archive::default();
        self.own(py).save(&mut archive.writer()).map_err(raised)?;
        Ok(PyBytes::new(py, &seal(serde_json::to_string(&header).map_err(raised)?, &archive)))
    }

    /// Brings back what [`Monitor::to_bytes`] wrote, with the policy, if the detector looks inside it.
    #[staticmethod]
    #[pyo3(signature = (bytes, policy = None))]
    fn from_bytes(py: Python<'_>, bytes: Vec<u8>, policy: Option<&Policy>) -> PyResult<Monitor> {
        let policy = policy.map(|p| p.inner.as_ref());
        detached(py, || {
            let (header, archive) = unseal(&bytes)?;
            let Header { detector: DetectorRecipe { id, params: options }, widths, .. } =
                serde_json::from_str(&header).context(
                    "expected the file of a fitted detector; one with a threshold is opened by offnominal.alarms.Watch.load",
                )?;
            let detector = catalogues::detectors().build(&id, &options)?;
            let inner = detector.load(&archive.reader(widths.0, widths.1), policy)?;
            Ok(Monitor::new(inner, widths, id, options))
        })
    }
}

impl Monitor {
    fn new(inner: Box<dyn Watching>, widths: (usize, usize), id: String, options: Value) -> Monitor {
        Monitor { inner: Mutex::new(inner), forks: Forks::new(), widths, id, options }
    }

    /// The one that is stepped; who waits for it leaves the interpreter to others.
    fn own(&self, py: Python<'_>) -> MutexGuard<'_, Box<dyn Watching>> {
        self.inner.lock_py_attached(py).unwrap_or_else(PoisonError::into_inner)
    }

    fn part<'py>(&self, array: &Bound<'py, PyAny>, what: &str, width: usize) -> PyResult<Floats<'py>> {
        let floats = Floats::read(array, what)?;
        if floats.slice().len() != width {
            floats.expect_shape(&[width], what)?;
        }
        floats.expect_finite(what)?;
        Ok(floats)
    }
}

//! Detectors: the engine's catalogue, and what is fitted.

use crate::arrays::{Floats, shaped};
use crate::error::{caught, detached, raised, wrong};
use crate::own::PYTHON;
use crate::policy::Policy;
use crate::progress::{context, interruptible};
use numpy::PyArray1;
use offnominal_core::detector::Monitor as Watching;
use offnominal_core::prelude::*;
use offnominal_engine::catalogues;
use offnominal_engine::detector_choice::seed_label;
use pyo3::prelude::*;
use std::sync::Arc;

/// Ids and summaries of the detectors, in the order of the catalogue.
#[pyfunction]
pub(crate) fn detectors() -> Vec<(&'static str, &'static str)> {
    let all = catalogues::detectors();
    all.entries().iter().filter(|e| e.id != PYTHON).map(|e| (e.id, e.summary)).collect()
}

/// Checks the options of a detector, given as JSON.
#[pyfunction]
pub(crate) fn check_detector(id: &str, options: &str) -> PyResult<()> {
    let options = serde_json::from_str(options).map_err(raised)?;
    catalogues::detectors().build(id, &options).map(drop).map_err(raised)
}

/// Observations `[T + 1, o]` and commands `[T, a]` of one episode, borrowed from Python.
type Pair<'py> = (Bound<'py, PyAny>, Bound<'py, PyAny>);

struct Recorded<'py> {
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
        let sound =
            matches!((o, a), (&[rows, 1..=usize::MAX], &[steps, 1..=usize::MAX]) if rows == steps + 1);
        if sound {
            return Ok(());
        }
        Err(wrong(format!(
            "arrays: expected observations of shape [T + 1, o] and actions of shape [T, a], found {o:?} and {a:?}"
        )))
    }

    fn signals(&self) -> Signals<'_> {
        let (o, a) = (self.observations.shape()[1], self.actions.shape()[1]);
        Signals::new(self.observations.slice(), self.actions.slice(), o, a)
    }
}

fn recorded<'py>(episodes: &[Pair<'py>], what: &str) -> PyResult<Vec<Recorded<'py>>> {
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
        context.watched(&format!("fit of {id}"), |course| detector.fit(nominal.with_course(course), &mut rng))
    })?;
    Ok(Monitor { inner, widths, id: id.into() })
}

/// A fitted detector.
#[pyclass(module = "offnominal._engine")]
pub(crate) struct Monitor {
    inner: Box<dyn Watching>,
    widths: (usize, usize),
    id: String,
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
    fn reset(&mut self) {
        self.inner.reset();
    }

    /// Scores a whole episode, `[T]`.
    fn score_episode<'py>(
        &mut self,
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
        let inner = &mut self.inner;
        let scores = detached(py, || {
            let mut scores = Vec::with_capacity(signals.len());
            inner.score_episode(&signals, &mut scores);
            Ok(scores)
        })?;
        let n = scores.len();
        Ok(shaped(py, scores, &[n])?.cast_into()?)
    }

    /// Scores one step, while it happens: observation before it, `[o]`, the policy's command, `[a]`, and observation
    /// after it, `[o]`. Step by step this gives what `score` gives for the whole episode, up to rounding (1e-5 relative).
    fn step(
        &mut self,
        obs: &Bound<'_, PyAny>,
        action: &Bound<'_, PyAny>,
        next_obs: &Bound<'_, PyAny>,
    ) -> PyResult<f64> {
        let obs = self.part(obs, "observation", self.widths.0)?;
        let action = self.part(action, "action", self.widths.1)?;
        let next_obs = self.part(next_obs, "next observation", self.widths.0)?;
        let seen = Transition { obs: obs.slice(), action: action.slice(), next_obs: next_obs.slice() };
        caught(|| Ok(self.inner.score(&seen)))
    }

    /// An independent copy.
    fn fork(&self) -> Monitor {
        Monitor { inner: self.inner.fork(), widths: self.widths, id: self.id.clone() }
    }
}

impl Monitor {
    fn part<'py>(&self, array: &Bound<'py, PyAny>, what: &str, width: usize) -> PyResult<Floats<'py>> {
        let floats = Floats::read(array, what)?;
        if floats.slice().len() != width {
            floats.expect_shape(&[width], what)?;
        }
        floats.expect_finite(what)?;
        Ok(floats)
    }
}

//! Detectors: the engine's catalogue, and what is fitted.

use crate::arrays::{Floats, shaped};
use crate::error::{caught, detached, raised, wrong};
use crate::forks::Forks;
use crate::own::PYTHON;
use crate::policy::Policy;
use crate::progress::{abandonable, context, interruptible};
use anyhow::{Context as _, Result};
use numpy::{PyArray1, PyArrayDyn};
use offnominal_core::archive::Archive;
use offnominal_core::prelude::*;
use offnominal_core::reference::{references, relative};
use offnominal_detectors::{ALL, Described, SequenceTraining, Training, complete, fields};
use offnominal_engine::catalogues;
use offnominal_engine::detector_choice::seed_label;
use offnominal_monitor::{DetectorRecipe, FORMAT, seal, unseal};
use pyo3::prelude::*;
use pyo3::sync::MutexExt;
use pyo3::types::PyBytes;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::borrow::Cow;
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
    observations: Numbers<'py>,
    actions: Numbers<'py>,
}

/// Numbers in the precision in which they came, if that is single, else in double precision.
enum Numbers<'py> {
    Single(Floats<'py>),
    Double(Floats<'py, f64>),
}

/// The same, and how many are in a row; any thread may read them.
#[derive(Clone, Copy)]
pub(crate) enum Rows<'a> {
    Single(&'a [f32], usize),
    Double(&'a [f64], usize),
}

/// Observations and commands of an episode as a detector sees them: less the references of their channels.
pub(crate) struct ReferencedEpisode<'a> {
    observations: Cow<'a, [f32]>,
    actions: Cow<'a, [f32]>,
    widths: [usize; 2],
}

impl<'py> Numbers<'py> {
    fn read(array: &Bound<'py, PyAny>, what: &str) -> PyResult<Numbers<'py>> {
        if array.cast::<PyArrayDyn<f32>>().is_ok() {
            let found = Floats::read(array, what)?;
            found.expect_finite(what)?;
            return Ok(Numbers::Single(found));
        }
        let found = Floats::read(array, what)?;
        found.expect_finite(what)?;
        Ok(Numbers::Double(found))
    }

    fn shape(&self) -> &[usize] {
        match self {
            Numbers::Single(own) => own.shape(),
            Numbers::Double(own) => own.shape(),
        }
    }

    fn rows(&self) -> Rows<'_> {
        let width = self.shape()[1];
        match self {
            Numbers::Single(own) => Rows::Single(own.slice(), width),
            Numbers::Double(own) => Rows::Double(own.slice(), width),
        }
    }
}

impl<'a> Rows<'a> {
    fn width(self) -> usize {
        match self {
            Rows::Single(_, width) | Rows::Double(_, width) => width,
        }
    }

    /// Less the references of the channels; where there are none, zero is what is subtracted.
    fn less(self, references: &[f64]) -> Result<Cow<'a, [f32]>> {
        match self {
            Rows::Single(own, _) if references.iter().all(|x| *x == 0.0) => Ok(Cow::Borrowed(own)),
            Rows::Single(own, width) => less(own, width, references).map(Cow::Owned),
            Rows::Double(own, width) => less(own, width, references).map(Cow::Owned),
        }
    }
}

fn less<X: Copy + Into<f64>>(rows: &[X], width: usize, references: &[f64]) -> Result<Vec<f32>> {
    let of = |(i, &x): (usize, &X)| {
        let reference = references.get(i % width).copied().unwrap_or(0.0);
        relative(x.into(), reference).with_context(|| {
            let (row, channel, x): (_, _, f64) = (i / width, i % width, x.into());
            format!(
                "row {row}, channel {channel}: expected a number within {:e} of {reference}, found {x:e}",
                f32::MAX
            )
        })
    };
    rows.iter().enumerate().map(of).collect()
}

impl ReferencedEpisode<'_> {
    pub(crate) fn signals(&self) -> Signals<'_> {
        Signals::new(&self.observations, &self.actions, self.widths[0], self.widths[1])
    }
}

/// Episodes less the references of their channels.
pub(crate) fn seen<'a>(
    all: &[[Rows<'a>; 2]],
    references: &[Vec<f64>; 2],
) -> Result<Vec<ReferencedEpisode<'a>>> {
    let of = |[observations, actions]: &[Rows<'a>; 2]| {
        Ok(ReferencedEpisode {
            observations: observations.less(&references[0])?,
            actions: actions.less(&references[1])?,
            widths: [observations.width(), actions.width()],
        })
    };
    all.iter().map(of).collect()
}

/// Observations and commands of episodes that came in double precision: of those that did not, nothing is left to save.
pub(crate) fn doubles<'a>(all: &'a [Recorded<'_>]) -> [Vec<&'a [f64]>; 2] {
    let double = |rows: Rows<'a>| match rows {
        Rows::Single(..) => None,
        Rows::Double(own, _) => Some(own),
    };
    [0, 1].map(|part: usize| {
        all.iter().map(|one| double(one.rows()[part])).collect::<Option<_>>().unwrap_or_default()
    })
}

impl<'py> Recorded<'py> {
    fn read((observations, actions): &Pair<'py>) -> PyResult<Recorded<'py>> {
        let (o, a) = ("observations", "actions");
        let found =
            Recorded { observations: Numbers::read(observations, o)?, actions: Numbers::read(actions, a)? };
        found.check()?;
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

    pub(crate) fn rows(&self) -> [Rows<'_>; 2] {
        [self.observations.rows(), self.actions.rows()]
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
    let widths = train.first().map_or((0, 0), |one| (one.observations.shape()[1], one.actions.shape()[1]));
    let doubles = doubles(&train);
    let references = [references(&doubles[0], widths.0), references(&doubles[1], widths.1)];
    let rows = [&train, &validation].map(|all| all.iter().map(Recorded::rows).collect::<Vec<_>>());
    let less = |part: usize| seen(&rows[part], &references).map_err(raised);
    let (train, validation) = (less(0)?, less(1)?);
    let [train, validation] =
        [&train, &validation].map(|all| all.iter().map(ReferencedEpisode::signals).collect::<Vec<_>>());
    let policy = policy.map(|p| p.inner.as_ref());
    let nominal = Nominal { policy, ..Nominal::new(&train, &validation) };
    let context = context(seed, 0, display, Arc::default());
    let inner = interruptible(py, &context.stop, || {
        let mut rng = Seed(seed).child("fit").child(seed_label(id)).rng();
        context.watched(&format!("fit of {id}"), |progress| {
            detector.fit(nominal.with_progress(progress), &mut rng)
        })
    })?;
    Ok(Monitor::new(inner, widths, references, id.into(), options))
}

/// A fitted detector.
#[pyclass(module = "offnominal._engine", frozen)]
pub(crate) struct Monitor {
    /// The one that is stepped.
    inner: Mutex<Box<dyn Scorer>>,
    /// Those that score whole episodes.
    forks: Forks<dyn Scorer>,
    widths: (usize, usize),
    /// What is subtracted from the channels of observations and of commands.
    references: [Vec<f64>; 2],
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
    references: [Vec<f64>; 2],
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
        let recorded = Recorded::read(&(observations, actions))?;
        let rows = recorded.rows();
        let found = (rows[0].width(), rows[1].width());
        if found != self.widths {
            return Err(wrong(format!(
                "episode: expected {:?} observation and action channels, as in training, found {found:?}",
                self.widths
            )));
        }
        let mut fork = self.forks.take(|| self.own(py).fork());
        let [o, a] = [0, 1].map(|part: usize| rows[part].less(&self.references[part]).map(Cow::into_owned));
        let (o, a) = (o.map_err(raised)?, a.map_err(raised)?);
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
        let obs = self.part(obs, "observation", &self.references[0])?;
        let action = self.part(action, "action", &self.references[1])?;
        let next_obs = self.part(next_obs, "next observation", &self.references[0])?;
        let seen = Transition { obs: &obs, action: &action, next_obs: &next_obs };
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
        let (id, options) = (self.id.clone(), self.options.clone());
        Monitor::new(self.own(py).fork(), self.widths, self.references.clone(), id, options)
    }

    /// The bytes of its file.
    fn to_bytes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let header = Header {
            format: FORMAT,
            engine: env!("CARGO_PKG_VERSION").into(),
            detector: DetectorRecipe { id: self.id.clone(), params: complete(&self.id, &self.options) },
            widths: self.widths,
            references: self.references.clone(),
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
            let Header { detector: DetectorRecipe { id, params: options }, widths, references, .. } =
                serde_json::from_str(&header).context(
                    "expected the file of a fitted detector; one with a threshold is opened by offnominal.alarms.Watch.load",
                )?;
            let detector = catalogues::detectors().build(&id, &options)?;
            let inner = detector.load(&archive.reader(widths.0, widths.1), policy)?;
            Ok(Monitor::new(inner, widths, references, id, options))
        })
    }
}

impl Monitor {
    fn new(
        inner: Box<dyn Scorer>,
        widths: (usize, usize),
        references: [Vec<f64>; 2],
        id: String,
        options: Value,
    ) -> Monitor {
        Monitor { inner: Mutex::new(inner), forks: Forks::new(), widths, references, id, options }
    }

    /// The one that is stepped; who waits for it leaves the interpreter to others.
    fn own(&self, py: Python<'_>) -> MutexGuard<'_, Box<dyn Scorer>> {
        self.inner.lock_py_attached(py).unwrap_or_else(PoisonError::into_inner)
    }

    /// A part of a step, less the references of its channels.
    fn part(&self, array: &Bound<'_, PyAny>, what: &str, references: &[f64]) -> PyResult<Vec<f32>> {
        let (floats, width) = (Floats::<f64>::read(array, what)?, references.len());
        if floats.slice().len() != width {
            floats.expect_shape(&[width], what)?;
        }
        floats.expect_finite(what)?;
        less(floats.slice(), width, references).map_err(|why| wrong(format!("{what}: {why}")))
    }
}

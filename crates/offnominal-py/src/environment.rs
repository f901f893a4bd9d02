//! An environment that Python steps.

use crate::anomaly_spec;
use crate::arrays::{Floats, row, shaped};
use crate::error::{detached, raised, wrong};
use crate::lane::{Game, Lane, Outcome, is_seen};
use numpy::PyArrayDyn;
use offnominal_core::prelude::*;
use offnominal_engine::catalogues;
use offnominal_files::png::shrunk;
use offnominal_worlds::anomaly::ids_for;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Ids and summaries of the environments, in the order of the catalogue.
#[pyfunction]
pub(crate) fn environments() -> Vec<(&'static str, &'static str)> {
    catalogues::environments().entries().iter().map(|e| (e.id, e.summary)).collect()
}

/// Ids and summaries of the anomalies, in the order of the catalogue; `dyn` stands for every parameter of an environment.
#[pyfunction]
pub(crate) fn anomalies() -> Vec<(&'static str, &'static str)> {
    catalogues::anomalies().entries().iter().map(|e| (e.id, e.summary)).collect()
}

/// What is played, from what Python says.
pub(crate) fn game(id: &str, options: &str, wanted: &str, max_steps: Option<u32>) -> anyhow::Result<Game> {
    let env = catalogues::configured(id, &serde_json::from_str(options)?)?;
    let horizon = max_steps.unwrap_or(env.spec().horizon);
    anyhow::ensure!(horizon > 0, "max_episode_steps: expected at least 1, found 0");
    let anomaly_spec = anomaly_spec::read(wanted, env.as_ref(), horizon)?;
    Ok(Game { env, anomaly_spec, horizon })
}

/// How Python's commands and observations look like in one environment.
#[derive(Clone)]
pub(crate) struct Border {
    pub(crate) action: Vec<Channel>,
    pub(crate) image: Option<Image>,
}

impl Border {
    pub(crate) fn of(spec: &EnvSpec) -> Border {
        Border { action: spec.action.clone(), image: spec.image() }
    }

    /// The shape of one observation.
    pub(crate) fn shape(&self, width: usize) -> Vec<usize> {
        self.image.map_or(vec![width], |i| vec![i.frames * i.planes, i.height, i.columns])
    }

    /// The number of choices if the command is one choice.
    pub(crate) fn choices(&self) -> Option<u32> {
        match self.action.as_slice() {
            [only] if only.is_choice() => Some(only.choices),
            _ => None,
        }
    }

    /// Observations, one after another, as Python has them: grey levels are bytes.
    pub(crate) fn observations<'py>(
        &self,
        py: Python<'py>,
        values: &[f32],
        shape: &[usize],
    ) -> PyResult<Bound<'py, PyAny>> {
        if self.image.is_some() {
            return Ok(shaped(py, bytes(values), shape)?.into_any());
        }
        if let [_] = shape {
            return Ok(row(py, values).into_any());
        }
        Ok(shaped(py, values.to_vec(), shape)?.into_any())
    }

    /// Checks commands that are choices.
    pub(crate) fn check(&self, action: &[f32]) -> PyResult<()> {
        for (channel, &value) in self.action.iter().zip(action).filter(|(c, _)| c.is_choice()) {
            let last = channel.choices - 1;
            if !(0.0..=last as f32).contains(&value) || value.fract() != 0.0 {
                let name = &channel.name;
                return Err(wrong(format!(
                    "action {name}: expected a whole number from 0 to {last}, found {value}"
                )));
            }
        }
        Ok(())
    }
}

/// Grey levels as bytes, as a camera would give them.
pub(crate) fn bytes(levels: &[f32]) -> Vec<u8> {
    levels.iter().map(|v| v.round().clamp(0.0, 255.0) as u8).collect()
}

/// One environment, one episode at a time.
#[pyclass(module = "offnominal._engine")]
pub(crate) struct Environment {
    game: Arc<Game>,
    // A lane may not be shared between threads; behind the lock, which is never contended, it need not be.
    lane: Mutex<Lane>,
    border: Border,
    shape: Vec<usize>,
}

#[pymethods]
impl Environment {
    #[new]
    #[pyo3(signature = (id, options = "{}", anomaly_spec = "null", max_steps = None))]
    fn new(
        py: Python<'_>,
        id: &str,
        options: &str,
        anomaly_spec: &str,
        max_steps: Option<u32>,
    ) -> PyResult<Environment> {
        detached(py, || {
            let game = Arc::new(game(id, options, anomaly_spec, max_steps)?);
            let (lane, border) = (Mutex::new(Lane::new(Arc::clone(&game), 0)?), Border::of(game.env.spec()));
            let shape = border.shape(game.env.spec().obs_width());
            Ok(Environment { game, lane, border, shape })
        })
    }

    /// The specification as JSON; an absent bound is null.
    fn spec(&self) -> PyResult<String> {
        serde_json::to_string(self.game.env.spec()).map_err(raised)
    }

    /// What is done to the episodes, as JSON; null for nothing.
    fn anomaly_spec(&self) -> PyResult<String> {
        serde_json::to_string(&self.game.anomaly_spec).map_err(raised)
    }

    /// Ids of the anomalies that apply here.
    fn anomalies(&self) -> Vec<String> {
        ids_for(self.game.env.spec())
    }

    /// Whether the anomaly changes observations, which can then be outside the environment's bounds.
    fn disturbs_observations(&self) -> PyResult<bool> {
        let Some(anomaly_spec) = &self.game.anomaly_spec else { return Ok(false) };
        is_seen(anomaly_spec).map_err(raised)
    }

    /// Steps after which an episode is truncated.
    #[getter]
    fn horizon(&self) -> u32 {
        self.game.horizon
    }

    /// First anomalous step of the episode, if there is an anomaly.
    #[getter]
    fn onset(&self) -> Option<u32> {
        self.seen().onset
    }

    /// Begins the episode of a seed, or the next one, and returns the first observation.
    #[pyo3(signature = (seed = None, initial = None))]
    fn start<'py>(
        &mut self,
        py: Python<'py>,
        seed: Option<u64>,
        initial: Option<Vec<f64>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let lane = self.lane();
        detached(py, || lane.start(seed, initial.as_deref()))?;
        self.border.observations(py, &self.seen().obs, &self.shape)
    }

    /// Takes a step: `(observation, reward, terminated, truncated, info)`.
    fn step<'py>(&mut self, py: Python<'py>, action: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyTuple>> {
        if !self.seen().is_running() {
            return Err(wrong("expected reset() before step(): no episode is running"));
        }
        let outcome = match self.border.choices() {
            Some(n) => self.choose(py, action, n)?,
            None => self.command(py, action)?,
        };
        let obs = self.border.observations(py, &self.seen().obs, &self.shape)?;
        let info = info(py, &outcome)?;
        (obs, outcome.reward, outcome.terminated, outcome.truncated, info).into_pyobject(py)
    }

    /// Changes a physical quantity of the episode in progress.
    fn set_parameter(&mut self, name: &str, value: f64) -> PyResult<()> {
        self.lane().env().set_parameter(name, value).map_err(raised)
    }

    /// Colours of the current state, `[height, width, 3]`, drawn larger by `smooth` and shrunk.
    fn render<'py>(
        &mut self,
        py: Python<'py>,
        camera: &str,
        width: usize,
        height: usize,
        smooth: usize,
    ) -> PyResult<Bound<'py, PyArrayDyn<u8>>> {
        let known = &self.game.env.spec().cameras;
        let Some(at) = known.iter().position(|name| name == camera) else {
            let known = known.join(", ");
            return Err(wrong(format!("camera: expected one of {known}, found {camera:?}")));
        };
        let lane = self.lane();
        let frame = detached(py, || {
            let mut large = Frame::new(width * smooth, height * smooth);
            lane.env().render(Camera(at), &mut large);
            Ok(if smooth > 1 { shrunk(&large, smooth) } else { large })
        })?;
        shaped(py, frame.rgb, &[height, width, 3])
    }
}

impl Environment {
    fn lane(&mut self) -> &mut Lane {
        self.lane.get_mut().unwrap_or_else(PoisonError::into_inner)
    }

    fn seen(&self) -> MutexGuard<'_, Lane> {
        self.lane.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn choose(&mut self, py: Python<'_>, action: &Bound<'_, PyAny>, n: u32) -> PyResult<Outcome> {
        let choice: Result<i64, _> = action.extract();
        let choice = choice.or_else(|_| action.call_method0(intern!(py, "item"))?.extract::<i64>());
        match choice {
            Ok(choice) if (0..i64::from(n)).contains(&choice) => self.advance(py, &[choice as f32]),
            _ => Err(wrong(format!("action: expected a whole number from 0 to {}, found {action}", n - 1))),
        }
    }

    fn command(&mut self, py: Python<'_>, action: &Bound<'_, PyAny>) -> PyResult<Outcome> {
        let floats = Floats::read(action, "action")?;
        floats.expect_shape(&[self.border.action.len()], "action")?;
        floats.expect_finite("action")?;
        self.border.check(floats.slice())?;
        self.advance(py, floats.slice())
    }

    fn advance(&mut self, py: Python<'_>, action: &[f32]) -> PyResult<Outcome> {
        let lane = self.lane();
        detached(py, || Ok(lane.step(action)))
    }
}

/// What Gymnasium's `info` says of a step.
fn info<'py>(py: Python<'py>, outcome: &Outcome) -> PyResult<Bound<'py, PyDict>> {
    let info = PyDict::new(py);
    info.set_item(intern!(py, "label"), outcome.label)?;
    if outcome.is_last() {
        info.set_item(intern!(py, "end"), outcome.status_name())?;
        if let Some(success) = outcome.success {
            info.set_item(intern!(py, "is_success"), success)?;
        }
    }
    Ok(info)
}

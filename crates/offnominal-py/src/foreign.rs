//! An anomaly around an environment that is somebody else's: the engine's hooks, with the steps taken in Python.

use crate::anomaly_spec;
use crate::arrays::{Floats, row};
use crate::error::{detached, raised, wrong};
use crate::lane::{Seeds, disturbance};
use crate::own::attached;
use numpy::PyArray1;
use offnominal_core::prelude::*;
use offnominal_core::run::Rollout;
use offnominal_worlds::anomaly::{Class, ids_for, kind};
use pyo3::prelude::*;
use std::sync::Mutex;

/// Somebody's environment, as the engine sees it.
struct Outside {
    spec: EnvSpec,
    /// Takes a step under a command and returns observation and reward.
    step: Py<PyAny>,
    /// Sets a parameter by name.
    set: Py<PyAny>,
    obs: Vec<f32>,
}

impl Env for Outside {
    fn spec(&self) -> &EnvSpec {
        &self.spec
    }

    fn draw(&self, _: &mut Rng) -> Vec<f64> {
        vec![]
    }

    fn start(&mut self, _: &[f64], _: &mut Rng) {}

    fn observe(&self, obs: &mut [f32]) {
        obs.copy_from_slice(&self.obs);
    }

    fn step(&mut self, action: &[f32], _: &mut Rng) -> Step {
        let mut reward = 0.0;
        attached(|py| {
            let found = self.step.bind(py).call1((row(py, action),))?;
            let (obs, brought): (Bound<'_, PyAny>, f64) = found.extract()?;
            reward = brought;
            read(&obs, &mut self.obs)
        });
        Step::running(reward)
    }

    fn set_parameter(&mut self, name: &str, value: f64) -> Result<(), ParameterError> {
        self.spec.check(name, value)?;
        attached(|py| self.set.bind(py).call1((name, value)).map(drop));
        Ok(())
    }

    fn fork(&self) -> Option<Box<dyn Env>> {
        None
    }
}

fn read(from: &Bound<'_, PyAny>, obs: &mut [f32]) -> PyResult<()> {
    let floats = Floats::read(from, "observation")?;
    floats.expect_shape(&[obs.len()], "observation")?;
    obs.copy_from_slice(floats.slice());
    Ok(())
}

/// An anomaly around somebody's environment.
#[pyclass(module = "offnominal._engine")]
pub(crate) struct Around {
    inner: Mutex<Inner>,
    anomaly_spec: AnomalySpec,
    anomalies: Vec<String>,
}

struct Inner {
    env: Outside,
    rollout: Option<Rollout>,
    seeds: Seeds,
    seen: Vec<f32>,
    horizon: u32,
}

impl Inner {
    fn start(&mut self, seed: Option<u64>, anomaly_spec: &AnomalySpec) -> anyhow::Result<u32> {
        let seed = self.seeds.next(seed);
        let disturbance = disturbance(anomaly_spec, &self.env, self.horizon, seed)?;
        let onset = disturbance.onset;
        self.rollout = Some(Rollout::start(&mut self.env, &[], seed, Some(disturbance), &mut self.seen));
        Ok(onset)
    }
}

#[pymethods]
impl Around {
    /// `spec` is a specification as JSON with the environment's channels and parameters; `seeds` are those of another one, which
    /// this one goes on with.
    #[new]
    fn new(
        spec: &str,
        anomaly_spec: &str,
        seeds: (u64, u64),
        step: Py<PyAny>,
        set: Py<PyAny>,
    ) -> PyResult<Around> {
        let spec: EnvSpec = serde_json::from_str(spec).map_err(raised)?;
        let (width, horizon, anomalies) = (spec.obs_width(), spec.horizon, ids_for(&spec));
        let env = Outside { spec, step, set, obs: vec![0.0; width] };
        let anomaly_spec = anomaly_spec::read(anomaly_spec, &env, horizon).map_err(raised)?;
        let anomaly_spec = anomaly_spec.ok_or_else(|| wrong("anomaly: expected one, found none"))?;
        let inner = Inner { env, rollout: None, seeds: Seeds::after(seeds), seen: vec![0.0; width], horizon };
        Ok(Around { inner: Mutex::new(inner), anomaly_spec, anomalies })
    }

    /// From which seed the next episodes are drawn, and how many were.
    fn seeds(&mut self) -> (u64, u64) {
        self.inner.get_mut().unwrap_or_else(std::sync::PoisonError::into_inner).seeds.so_far()
    }

    /// What is done, as JSON.
    fn anomaly_spec(&self) -> PyResult<String> {
        serde_json::to_string(&self.anomaly_spec).map_err(raised)
    }

    /// Ids of the anomalies that apply to such an environment.
    fn anomalies(&self) -> Vec<String> {
        self.anomalies.clone()
    }

    /// Whether observations are changed.
    fn disturbs_observations(&self) -> PyResult<bool> {
        Ok(kind(&self.anomaly_spec.anomaly).map_err(raised)?.class == Class::Observation)
    }

    /// Begins an episode of which the first observation was made, and returns the onset.
    fn start(&mut self, py: Python<'_>, seed: Option<u64>, obs: &Bound<'_, PyAny>) -> PyResult<u32> {
        let inner = self.inner.get_mut().unwrap_or_else(std::sync::PoisonError::into_inner);
        read(obs, &mut inner.env.obs)?;
        let anomaly_spec = &self.anomaly_spec;
        detached(py, || inner.start(seed, anomaly_spec))
    }

    /// Why the episode has no outcome, if it diverged.
    fn diverged(&mut self) -> Option<String> {
        let inner = self.inner.get_mut().unwrap_or_else(std::sync::PoisonError::into_inner);
        let rollout = inner.rollout.as_ref()?;
        rollout
            .divergence()
            .map(|why| why.describe(&inner.env.spec, (rollout.steps() as usize).saturating_sub(1)))
    }

    /// Takes a step: the observation, and whether the anomaly was active.
    fn step<'py>(
        &mut self,
        py: Python<'py>,
        action: &Bound<'py, PyAny>,
    ) -> PyResult<(Bound<'py, PyArray1<f32>>, bool)> {
        let inner = self.inner.get_mut().unwrap_or_else(std::sync::PoisonError::into_inner);
        let action = Floats::read(action, "action")?;
        action.expect_shape(&[inner.env.spec.act_width()], "action")?;
        action.expect_finite("action")?;
        let Inner { env, rollout, seen, .. } = inner;
        let rollout = rollout.as_mut().ok_or_else(|| wrong("expected reset() before step()"))?;
        if rollout.divergence().is_some() {
            return Err(wrong("expected reset() before step(): the episode diverged"));
        }
        let action = action.slice();
        let (_, label) = detached(py, || Ok(rollout.step(env, action, seen)))?;
        Ok((row(py, seen), label))
    }
}

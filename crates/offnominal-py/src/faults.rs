//! Faults of simulators that somebody else steps: the engine's hooks before and after each of his steps.

use crate::anomaly_spec;
use crate::arrays::{Floats, row, shaped};
use crate::error::{detached, raised, wrong};
use crate::lane::{Seeds, disturbance, is_seen};
use crate::own::attached;
use numpy::{PyArray1, PyArrayDyn, PyReadonlyArray1};
use offnominal_core::prelude::*;
use offnominal_core::run::Gate;
use offnominal_worlds::anomaly::ids_for;
use pyo3::prelude::*;
use std::sync::{Mutex, PoisonError};

/// Somebody's simulators, of which the engine reaches the parameters only.
struct Simulators {
    spec: EnvSpec,
    /// Sets a parameter by name in the simulator of a number.
    set: Py<PyAny>,
    /// The simulator whose hooks are called.
    at: usize,
}

impl Env for Simulators {
    fn spec(&self) -> &EnvSpec {
        &self.spec
    }

    fn draw(&self, _: &mut Rng) -> Vec<f64> {
        vec![]
    }

    fn start(&mut self, _: &[f64], _: &mut Rng) {}

    fn observe(&self, _: &mut [f32]) {}

    fn step(&mut self, _: &[f32], _: &mut Rng) -> Step {
        Step::running(0.0)
    }

    fn set_parameter(&mut self, name: &str, value: f64) -> Result<(), ParameterError> {
        self.spec.check(name, value)?;
        attached(|py| self.set.bind(py).call1((name, value, self.at)).map(drop));
        Ok(())
    }

    fn fork(&self) -> Option<Box<dyn Env>> {
        None
    }
}

/// An episode in one of the simulators.
struct Episode {
    gate: Gate,
    seeds: Seeds,
    onset: u32,
    /// The steps that were taken.
    t: u32,
    /// The sum of the rewards.
    total: f64,
    /// Whether the fault is active in the step that is taken.
    active: bool,
    divergence: Option<Divergence>,
}

impl Episode {
    /// Nothing has begun yet.
    fn none(seeds: Seeds) -> Episode {
        let gate = Gate::new(None, Seed(0));
        Episode { gate, seeds, onset: 0, t: 0, total: 0.0, active: false, divergence: None }
    }

    fn before(&mut self, env: &mut Simulators, action: &mut [f32]) {
        self.active = self.divergence.is_none() && self.gate.before_step(self.t, env, action);
    }

    fn after(&mut self, reward: f64, obs: &mut [f32]) {
        if self.divergence.is_some() {
            return;
        }
        self.total += reward;
        // What a fault hides from the policy counts as well.
        let step = Step::running(reward);
        let before = Divergence::of(&step, obs, self.total);
        self.gate.after_step(self.active, obs);
        self.t += 1;
        self.divergence = before.or_else(|| Divergence::of(&step, obs, self.total));
    }
}

/// The same fault in each of some simulators, with onset and randomness of its own.
#[pyclass(module = "offnominal._engine")]
pub(crate) struct Faults {
    inner: Mutex<Inner>,
    anomaly_spec: AnomalySpec,
    anomalies: Vec<String>,
}

struct Inner {
    env: Simulators,
    episodes: Vec<Episode>,
    /// Where each begins, if that is given.
    onsets: Option<Vec<u32>>,
    /// Which simulators take the step.
    running: Vec<bool>,
}

impl Inner {
    fn begin(&mut self, at: usize, seed: Option<u64>, anomaly_spec: &AnomalySpec) -> anyhow::Result<()> {
        let horizon = self.env.spec.horizon;
        let seed = self.episodes[at].seeds.next(seed);
        let drawn = disturbance(anomaly_spec, &self.env, horizon, seed)?;
        let onset = self.onsets.as_ref().map_or(drawn.onset, |onsets| onsets[at]);
        let seeds = Seeds::after(self.episodes[at].seeds.so_far());
        let gate = Gate::new(Some(offnominal_core::run::Disturbance { onset, ..drawn }), seed);
        self.episodes[at] = Episode { gate, onset, ..Episode::none(seeds) };
        Ok(())
    }

    /// Calls the hooks of each simulator that takes the step, with its row of numbers.
    fn each(&mut self, rows: &mut [f32], mut hook: impl FnMut(&mut Simulators, &mut Episode, &mut [f32])) {
        let width = rows.len() / self.episodes.len();
        let all = self.episodes.iter_mut().zip(rows.chunks_exact_mut(width)).zip(&self.running);
        for (at, ((episode, row), _)) in all.enumerate().filter(|(_, (_, running))| **running) {
            self.env.at = at;
            hook(&mut self.env, episode, row);
        }
    }
}

#[pymethods]
impl Faults {
    /// `spec` is a specification as JSON with the channels and parameters of one simulator; `seeds` are those of others, which
    /// these go on with, one for each simulator.
    #[new]
    fn new(
        spec: &str,
        anomaly_spec: &str,
        seeds: Vec<(u64, u64)>,
        onsets: Option<Vec<u32>>,
        set: Py<PyAny>,
    ) -> PyResult<Faults> {
        let spec: EnvSpec = serde_json::from_str(spec).map_err(raised)?;
        let anomalies = ids_for(&spec);
        let env = Simulators { spec, set, at: 0 };
        let anomaly_spec = anomaly_spec::read(anomaly_spec, &env, env.spec.horizon).map_err(raised)?;
        let anomaly_spec = anomaly_spec.ok_or_else(|| wrong("anomaly: expected one, found none"))?;
        let running = vec![true; seeds.len()];
        let episodes = seeds.into_iter().map(|seeds| Episode::none(Seeds::after(seeds))).collect();
        Ok(Faults { inner: Mutex::new(Inner { env, episodes, onsets, running }), anomaly_spec, anomalies })
    }

    /// From which seed the next episodes of each are drawn, and how many were.
    fn seeds(&mut self) -> Vec<(u64, u64)> {
        self.inner().episodes.iter().map(|episode| episode.seeds.so_far()).collect()
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
        is_seen(&self.anomaly_spec).map_err(raised)
    }

    /// Begins an episode in each of the named simulators, of which the first observations of all are given.
    fn begin(
        &mut self,
        py: Python<'_>,
        at: Vec<usize>,
        seeds: Vec<Option<u64>>,
        obs: &Bound<'_, PyAny>,
    ) -> PyResult<()> {
        let obs = Floats::read(obs, "observation")?;
        let anomaly_spec = self.anomaly_spec.clone();
        let inner = self.inner();
        let width = inner.env.spec.obs_width();
        obs.expect_shape(&[inner.episodes.len(), width], "observation")?;
        let obs = obs.slice();
        detached(py, || {
            for (&at, seed) in at.iter().zip(seeds) {
                inner.begin(at, seed, &anomaly_spec)?;
                let (first, episode) = (&obs[at * width..][..width], &mut inner.episodes[at]);
                episode.gate.after_start(first);
                episode.divergence = Divergence::of_first(first);
            }
            Ok(())
        })
    }

    /// The actions that reach the simulators which take the step.
    fn act<'py>(
        &mut self,
        py: Python<'py>,
        actions: &Bound<'py, PyAny>,
        running: Option<PyReadonlyArray1<'py, bool>>,
    ) -> PyResult<Bound<'py, PyArrayDyn<f32>>> {
        let inner = self.inner();
        let shape = [inner.episodes.len(), inner.env.spec.act_width()];
        let actions = Floats::read(actions, "action")?;
        actions.expect_shape(&shape, "action")?;
        actions.expect_finite("action")?;
        inner.running = match running {
            Some(mask) => mask.as_slice().map_err(raised)?.to_vec(),
            None => vec![true; shape[0]],
        };
        let mut disturbed = actions.slice().to_vec();
        detached(py, || {
            inner.each(&mut disturbed, |env, episode, action| episode.before(env, action));
            Ok(())
        })?;
        shaped(py, disturbed, &shape)
    }

    /// The observations after the step, as policies read them.
    fn see<'py>(
        &mut self,
        py: Python<'py>,
        obs: &Bound<'py, PyAny>,
        rewards: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyArrayDyn<f32>>> {
        let inner = self.inner();
        let shape = [inner.episodes.len(), inner.env.spec.obs_width()];
        let (obs, rewards) = (Floats::read(obs, "observation")?, Floats::<f64>::read(rewards, "reward")?);
        obs.expect_shape(&shape, "observation")?;
        rewards.expect_shape(&shape[..1], "reward")?;
        let (mut seen, rewards) = (obs.slice().to_vec(), rewards.slice());
        detached(py, || {
            inner.each(&mut seen, |env, episode, obs| episode.after(rewards[env.at], obs));
            Ok(())
        })?;
        shaped(py, seen, &shape)
    }

    /// The first anomalous step of each episode.
    fn onsets<'py>(&mut self, py: Python<'py>) -> Bound<'py, PyArray1<i64>> {
        let onsets: Vec<i64> = self.inner().episodes.iter().map(|e| e.onset.into()).collect();
        row(py, &onsets)
    }

    /// In which simulators the fault was active in the last step.
    fn active<'py>(&mut self, py: Python<'py>) -> Bound<'py, PyArray1<bool>> {
        let inner = self.inner();
        let active: Vec<bool> =
            inner.episodes.iter().zip(&inner.running).map(|(e, runs)| *runs && e.active).collect();
        row(py, &active)
    }

    /// The simulators whose episode has no outcome, each with the reason.
    fn diverged(&mut self) -> Vec<(usize, String)> {
        let inner = self.inner();
        let why = |(at, episode): (usize, &Episode)| {
            let steps = (episode.t as usize).saturating_sub(1);
            Some((at, episode.divergence?.describe(&inner.env.spec, steps)))
        };
        inner.episodes.iter().enumerate().filter_map(why).collect()
    }
}

impl Faults {
    fn inner(&mut self) -> &mut Inner {
        self.inner.get_mut().unwrap_or_else(PoisonError::into_inner)
    }
}

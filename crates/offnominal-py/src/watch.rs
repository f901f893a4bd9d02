//! Fitted monitors with their thresholds, from the files that `fit` writes; and the commands themselves.

use crate::arrays::{Floats, shaped};
use crate::detectors::{Pair, Recorded, ReferencedEpisode, doubles, recorded, seen};
use crate::error::{caught, detached, raised};
use crate::own;
use crate::policy::Policy;
use crate::progress::{context, interruptible};
use anyhow::Result;
use numpy::PyArrayDyn;
use offnominal_core::policy::Policy as Acting;
use offnominal_core::prelude::{Seed, Signals, Transition};
use offnominal_core::reference::references;
use offnominal_engine::catalogues;
use offnominal_engine::fit::{self, Request};
use offnominal_engine::monitor_file::{self, System};
use offnominal_engine::subject::Subject;
use offnominal_files::write::atomically;
use offnominal_logs::exchangeability;
use offnominal_logs::fit::with_references;
use offnominal_logs::mapping::Mapping;
use offnominal_monitor::{ChannelName, Identity, Monitor, Recalibration, Verdict, decode, encode};
use offnominal_work::cli;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

/// Step, score, statistic, threshold, state of the alarm, and what happened to it; then what was not read: numbers,
/// the longest time in steps, the share that the detector compared, sensors that are lost, and what happened to them; and whether
/// the promise does not hold.
type VerdictTuple = (u64, f64, f64, f64, String, Option<String>, u32, u32, f64, u32, Option<String>, bool);

/// A monitor that raises alarms.
#[pyclass(module = "offnominal._engine")]
pub(crate) struct Watch(Mutex<Monitor>);

#[pymethods]
impl Watch {
    /// Opens a file of `fit`.
    #[staticmethod]
    fn open(py: Python<'_>, path: PathBuf) -> PyResult<Watch> {
        detached(py, || Ok(Watch(Mutex::new(monitor_file::open(&path)?))))
    }

    /// The bytes of its file, and the fitted detector of Python that they do not hold, if it is one.
    fn parts<'py>(&mut self, py: Python<'py>) -> PyResult<(Bound<'py, PyBytes>, Option<Py<PyAny>>)> {
        let (about, mut archive) = self.own().contents().map_err(raised)?;
        let own = own::take(&mut archive);
        Ok((PyBytes::new(py, &encode(&about, &archive)), own))
    }

    /// Brings back what [`Watch::parts`] gave; a detector that looks inside the policy finds it by its name.
    #[staticmethod]
    #[pyo3(signature = (bytes, own = None))]
    fn from_parts(py: Python<'_>, bytes: Vec<u8>, own: Option<Py<PyAny>>) -> PyResult<Watch> {
        detached(py, || {
            let (about, mut archive) = decode(&bytes)?;
            own.into_iter().for_each(|own| own::put(&mut archive, own));
            Ok(Watch(Mutex::new(monitor_file::restore(about, &archive)?)))
        })
    }

    /// What was fitted, on what, and when it raises an alarm, as JSON.
    fn about(&mut self) -> PyResult<String> {
        serde_json::to_string(self.own().about()).map_err(raised)
    }

    /// An episode begins, perhaps one of a group.
    #[pyo3(signature = (group = None))]
    fn reset(&mut self, group: Option<&str>) -> PyResult<()> {
        self.own().begin(group).map_err(raised)
    }

    /// Names of the sensors that are lost now.
    fn lost(&mut self) -> Vec<String> {
        self.own().lost().map(|channel| channel.name.clone()).collect()
    }

    /// Somebody says that the episode was nominal: the threshold, and whether the tolerance limits it.
    fn confirm(&mut self, memory: usize, tolerance: f64) -> PyResult<(f64, bool)> {
        let found = self.own().confirm(&Recalibration { memory, tolerance }).map_err(raised)?;
        Ok((found.value, found.is_limited))
    }

    /// Somebody has seen the alarm.
    fn acknowledge(&mut self) -> Option<String> {
        self.own().acknowledge().as_ref().map(word)
    }

    /// The observation that was just read and the command for it; without one the episode is over.
    #[pyo3(signature = (obs, action = None))]
    fn step(
        &mut self,
        obs: &Bound<'_, PyAny>,
        action: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Option<VerdictTuple>> {
        let obs = Floats::<f64>::read(obs, "observation")?;
        let action = action.map(|action| Floats::<f64>::read(action, "action")).transpose()?;
        let found = caught(|| match &action {
            Some(action) => Ok(self.own().step(obs.slice(), action.slice())?),
            None => Ok(self.own().last(obs.slice())?),
        });
        Ok(found?.as_ref().map(as_tuple))
    }

    /// A whole transition.
    fn transition(
        &mut self,
        obs: &Bound<'_, PyAny>,
        action: &Bound<'_, PyAny>,
        next_obs: &Bound<'_, PyAny>,
    ) -> PyResult<VerdictTuple> {
        let obs = Floats::<f64>::read(obs, "observation")?;
        let action = Floats::<f64>::read(action, "action")?;
        let next_obs = Floats::<f64>::read(next_obs, "next observation")?;
        let seen = Transition { obs: obs.slice(), action: action.slice(), next_obs: next_obs.slice() };
        caught(|| Ok(as_tuple(&self.own().transition(&seen)?)))
    }

    /// Which part of the score of the last step is due to each number of the observation, `[o]`; they sum to the score. None
    /// before the first step, and if the detector does not tell.
    fn shares<'py>(&mut self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyArrayDyn<f64>>>> {
        let width = self.own().about().obs_width();
        let mut shares = vec![0.0; width];
        let tells = self.own().write_shares(&mut shares);
        tells.then(|| shaped(py, shares, &[width])).transpose()
    }

    /// Whether a diagnosis says something new at the last step.
    fn is_diagnosis_due(&mut self) -> bool {
        self.own().is_diagnosis_due()
    }

    /// What looks wrong, as JSON; null if nothing can be said.
    fn diagnose(&mut self) -> PyResult<String> {
        serde_json::to_string(&self.own().diagnose()).map_err(raised)
    }
}

impl Watch {
    fn own(&mut self) -> &mut Monitor {
        self.0.get_mut().unwrap_or_else(PoisonError::into_inner)
    }
}

fn as_tuple(verdict: &Verdict) -> VerdictTuple {
    let Verdict { step, score, statistic, threshold, state, event, .. } = verdict;
    let Verdict { missing, stale, confidence, lost, sensor_event, beyond_promise, .. } = verdict;
    let (event, sensor_event) = (event.as_ref().map(word), sensor_event.as_ref().map(word));
    let alarm = (word(state), event);
    (
        *step,
        *score,
        *statistic,
        *threshold,
        alarm.0,
        alarm.1,
        *missing,
        *stale,
        *confidence,
        *lost,
        sensor_event,
        *beyond_promise,
    )
}

/// The word by which files and lines call it.
fn word(thing: &impl Serialize) -> String {
    serde_json::to_value(thing).ok().and_then(|v| v.as_str().map(String::from)).unwrap_or_default()
}

/// A system that is no environment of the engine.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Named {
    observation: Vec<ChannelName>,
    action: Vec<ChannelName>,
    /// Seconds per step; null if nobody has said them.
    dt_secs: Option<f64>,
    /// The mapping of the logs whose clock says them, if it is one that does.
    clock: Option<String>,
    /// The mapping of logs, as TOML, if the episodes were read with one.
    mapping: Option<String>,
}

impl Named {
    /// The system that the request names, with the references of its channels by what is learned from.
    fn system<'a>(
        mut self,
        request: &Request,
        policy: Option<&'a dyn Acting>,
        train: &[Vec<&[f64]>; 2],
    ) -> Result<System<'a>> {
        let dt_secs = self.dt_secs.unwrap_or(1.0);
        let assumes_dt = match &self.clock {
            Some(text) => offnominal_logs::fit::system(&Mapping::parse(text)?, dt_secs).assumes_dt,
            None => self.dt_secs.is_none(),
        };
        if let Some(text) = &self.mapping {
            let mapping = with_references(&Mapping::parse(text)?, train);
            return Ok(offnominal_logs::fit::system(&mapping, dt_secs));
        }
        for (channels, rows) in [&mut self.observation, &mut self.action].into_iter().zip(train) {
            let needed = references(rows, channels.len());
            channels.iter_mut().zip(needed).for_each(|(channel, reference)| channel.reference = reference);
        }
        let identity = |id: &str| Identity { id: id.into(), digest: String::new() };
        Ok(System {
            environment: identity(&request.env),
            policy_name: identity(&request.policy),
            policy,
            observation: self.observation,
            action: self.action,
            dt_secs,
            assumes_dt,
            mapping: None,
        })
    }
}

/// Fits a detector on nominal episodes and sets its threshold on others; both are lists of `(observations, actions)`. Groups of
/// the latter may have thresholds of their own. With the monitor comes what makes its promise doubtful. The request names an environment and a policy of the engine, which `recipes` must be of, unless `system` describes another.
#[pyfunction]
#[pyo3(signature = (request, episodes, groups, recipes, system, seed, policy = None, display = None))]
#[expect(clippy::too_many_arguments, reason = "they are keywords of a Python function")]
pub(crate) fn fit_watch<'py>(
    py: Python<'py>,
    request: &str,
    episodes: (Vec<Pair<'py>>, Vec<Pair<'py>>),
    groups: Option<Vec<String>>,
    recipes: Vec<String>,
    system: Option<&str>,
    seed: u64,
    policy: Option<&Policy>,
    display: Option<Py<PyAny>>,
) -> PyResult<(Watch, Vec<String>)> {
    let request =
        serde_json::from_str(request).map_err(anyhow::Error::from).and_then(|json| cli::request(&json));
    let request: Request = request.map_err(raised)?;
    let (train, calibration) = (recorded(&episodes.0, "training")?, recorded(&episodes.1, "calibration")?);
    let named: Option<Named> = system.map(serde_json::from_str).transpose().map_err(raised)?;
    let (policy, context) = (policy.map(|p| p.inner.as_ref()), context(seed, 0, display, Arc::default()));
    let (learned, both) = (
        doubles(&train),
        [&train, &calibration].map(|all| all.iter().map(Recorded::rows).collect::<Vec<_>>()),
    );
    interruptible(py, &context.stop, || {
        let fit = |system: &System<'_>| {
            let references = [&system.observation, &system.action]
                .map(|channels| channels.iter().map(|channel| channel.reference).collect::<Vec<f64>>());
            let seen = [seen(&both[0], &references)?, seen(&both[1], &references)?];
            let views = [0, 1]
                .map(|part: usize| seen[part].iter().map(ReferencedEpisode::signals).collect::<Vec<_>>());
            let mut made = request.make(system, [&views[0], &views[1]], groups.as_deref(), None, &context)?;
            made.warnings.extend(doubts(system, &views, seed));
            let about = own::forgotten(made.about);
            let found = Monitor::new(about, &made.archive, &catalogues::detectors(), system.policy)?;
            Ok((Watch(Mutex::new(found)), made.warnings))
        };
        let Some(named) = named else {
            let subject = Subject::new(&request.env, &request.policy)?;
            let of = |recipe: &String| fit::are_of(&serde_json::from_str(recipe)?, &subject);
            recipes.iter().try_for_each(of)?;
            return fit(&monitor_file::system(&subject));
        };
        fit(&named.system(&request, policy, &learned)?)
    })
}

/// Channels above which a test of all of them would take longer than a fit; images have more.
const COMPARED: usize = 100;

/// What makes the promise doubtful, as of logs.
fn doubts(system: &System<'_>, [train, calibration]: &[Vec<Signals<'_>>; 2], seed: u64) -> Vec<String> {
    if system.observation.len() > COMPARED {
        return vec![];
    }
    let names: Vec<String> = system.observation.iter().map(|channel| channel.name.clone()).collect();
    exchangeability::warnings(train, calibration, &names, Seed(seed))
}

/// Writes a file, whole or not at all.
#[pyfunction]
pub(crate) fn write(py: Python<'_>, path: PathBuf, bytes: Vec<u8>) -> PyResult<()> {
    detached(py, || atomically(&path, &bytes))
}

/// Runs one command line, the program's name first, and returns its exit code.
#[pyfunction]
pub(crate) fn main(py: Python<'_>, line: Vec<String>) -> u8 {
    py.detach(|| offnominal::cli::main_from(line))
}

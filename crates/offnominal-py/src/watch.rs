//! Fitted monitors with their thresholds, from the files that `fit` writes; and the commands themselves.

use crate::arrays::Floats;
use crate::episodes::Recording;
use crate::error::{caught, detached, raised};
use crate::progress::{context, interruptible};
use offnominal_core::prelude::*;
use offnominal_engine::fit::{self, Request};
use offnominal_engine::monitor_file;
use offnominal_engine::subject::Subject;
use offnominal_monitor::{Monitor, Verdict};
use pyo3::prelude::*;
use serde::Serialize;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

/// Step, score, statistic, threshold, state of the alarm, and what happened to it.
type VerdictTuple = (u64, f64, f64, f64, String, Option<String>);

/// A monitor that raises alarms.
#[pyclass(module = "offnominal._engine")]
pub(crate) struct Watch(Mutex<Monitor>);

#[pymethods]
impl Watch {
    #[new]
    fn new(py: Python<'_>, path: PathBuf) -> PyResult<Watch> {
        detached(py, || Ok(Watch(Mutex::new(monitor_file::open(&path)?))))
    }

    /// What was fitted, on what, and when it raises an alarm, as JSON.
    fn about(&mut self) -> PyResult<String> {
        serde_json::to_string(self.own().about()).map_err(raised)
    }

    /// An episode begins.
    fn reset(&mut self) {
        self.own().reset();
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
        let obs = Floats::read(obs, "observation")?;
        let action = action.map(|action| Floats::read(action, "action")).transpose()?;
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
        let obs = Floats::read(obs, "observation")?;
        let action = Floats::read(action, "action")?;
        let next_obs = Floats::read(next_obs, "next observation")?;
        let seen = Transition { obs: obs.slice(), action: action.slice(), next_obs: next_obs.slice() };
        caught(|| Ok(as_tuple(&self.own().transition(&seen)?)))
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
    let Verdict { step, score, statistic, threshold, state, event } = verdict;
    (*step, *score, *statistic, *threshold, word(state), event.as_ref().map(word))
}

/// The word by which files and lines call it.
fn word(thing: &impl Serialize) -> String {
    serde_json::to_value(thing).ok().and_then(|v| v.as_str().map(String::from)).unwrap_or_default()
}

/// Fits a detector on nominal episodes, sets its threshold on others, and writes both as one file.
#[pyfunction]
#[pyo3(signature = (request, train, calibration, seed, display = None))]
pub(crate) fn fit_file(
    py: Python<'_>,
    request: &str,
    train: &Recording,
    calibration: &Recording,
    seed: u64,
    display: Option<Py<PyAny>>,
) -> PyResult<()> {
    let context = context(seed, 0, display, Arc::default());
    interruptible(py, &context.stop, || {
        let request: Request = serde_json::from_str(request)?;
        let subject = Subject::new(&request.env, &request.policy)?;
        [train, calibration].into_iter().try_for_each(|played| fit::are_of(&played.0.recipe, &subject))?;
        request.fit(&subject, [&train.0.episodes, &calibration.0.episodes], &context).map(drop)
    })
}

/// Runs one command line, the program's name first, and returns its exit code.
#[pyfunction]
pub(crate) fn main(py: Python<'_>, line: Vec<String>) -> u8 {
    py.detach(|| offnominal::cli::main_from(line))
}

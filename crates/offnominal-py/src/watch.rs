//! Fitted monitors with their thresholds, from the files that `fit` writes; and the commands themselves.

use crate::arrays::Floats;
use crate::episodes::Recording;
use crate::error::{caught, detached, raised};
use anyhow::{Context, Result, ensure};
use offnominal_core::alarm::Settings;
use offnominal_core::prelude::*;
use offnominal_engine::detector_choice::DetectorChoice;
use offnominal_engine::monitor_file;
use offnominal_engine::subject::Subject;
use offnominal_files::write::atomically;
use offnominal_monitor::{Monitor, Verdict};
use offnominal_stats::Rule;
use pyo3::prelude::*;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::num::NonZeroU32;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

/// Step, score, statistic, threshold, state of the alarm, and what happened to it.
type Told = (u64, f64, f64, f64, String, Option<String>);

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
    fn step(&mut self, obs: &Bound<'_, PyAny>, action: Option<&Bound<'_, PyAny>>) -> PyResult<Option<Told>> {
        let obs = Floats::read(obs, "observation")?;
        let action = action.map(|action| Floats::read(action, "action")).transpose()?;
        let found = caught(|| match &action {
            Some(action) => Ok(self.own().step(obs.slice(), action.slice())?),
            None => Ok(self.own().last(obs.slice())?),
        });
        Ok(found?.as_ref().map(told))
    }

    /// A whole transition.
    fn transition(
        &mut self,
        obs: &Bound<'_, PyAny>,
        action: &Bound<'_, PyAny>,
        next_obs: &Bound<'_, PyAny>,
    ) -> PyResult<Told> {
        let obs = Floats::read(obs, "observation")?;
        let action = Floats::read(action, "action")?;
        let next_obs = Floats::read(next_obs, "next observation")?;
        let seen = Transition { obs: obs.slice(), action: action.slice(), next_obs: next_obs.slice() };
        caught(|| Ok(told(&self.own().transition(&seen)?)))
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

fn told(verdict: &Verdict) -> Told {
    let Verdict { step, score, statistic, threshold, state, event } = verdict;
    (*step, *score, *statistic, *threshold, word(state), event.as_ref().map(word))
}

/// The word by which files and lines call it.
fn word(thing: &impl Serialize) -> String {
    serde_json::to_value(thing).ok().and_then(|v| v.as_str().map(String::from)).unwrap_or_default()
}

/// What Python asks of a file.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Asked {
    detector: Map<String, Value>,
    rule: String,
    alpha: f64,
    arm_after: u32,
    raise_after: NonZeroU32,
    clear_after: Option<NonZeroU32>,
    diagnosis: bool,
    seed: u64,
}

impl Asked {
    fn choice(&self) -> Result<DetectorChoice> {
        let table = toml::Table::try_from(self.detector.clone())?;
        DetectorChoice::try_from(toml::Value::Table(table)).map_err(anyhow::Error::msg)
    }

    fn rule(&self) -> Result<Rule> {
        ensure!(
            self.alpha > 0.0 && self.alpha < 1.0,
            "alpha: expected a number between 0 and 1, found {}",
            self.alpha
        );
        let rules = Rule::all(self.alpha);
        let ids = rules.map(|rule| rule.id()).join(", ");
        let found = rules.into_iter().find(|rule| rule.id() == self.rule);
        found.with_context(|| format!("rule: expected one of {ids}, found {:?}", self.rule))
    }
}

/// Fits a detector on nominal episodes, sets its threshold on others, and writes both as one file.
#[pyfunction]
pub(crate) fn fit_file(
    py: Python<'_>,
    asked: &str,
    train: &Recording,
    calibration: &Recording,
    out: PathBuf,
) -> PyResult<()> {
    detached(py, || {
        let asked: Asked = serde_json::from_str(asked)?;
        let (recipe, other) = (&train.0.recipe, &calibration.0.recipe);
        let same = (&recipe.env, &recipe.policy) == (&other.env, &other.policy);
        ensure!(same, "calibration: expected episodes of the same policy in the same environment");
        let nominal = recipe.anomaly_spec.is_none() && other.anomaly_spec.is_none();
        ensure!(nominal, "expected nominal episodes, found anomalous ones");
        let subject = Subject::new(&recipe.env, &recipe.policy.id)?;
        let alarm = Settings {
            arm_after: asked.arm_after,
            raise_after: asked.raise_after,
            clear_after: asked.clear_after,
        };
        let fit = monitor_file::Fit {
            subject: &subject,
            detector: &asked.choice()?,
            rule: asked.rule()?,
            alarm,
            diagnoses: asked.diagnosis,
            seed: asked.seed,
        };
        atomically(&out, &fit.make(&train.0.episodes, &calibration.0.episodes)?.bytes)
    })
}

/// Runs one command line, the program's name first, and returns its exit code.
#[pyfunction]
pub(crate) fn main(py: Python<'_>, line: Vec<String>) -> u8 {
    py.detach(|| offnominal::cli::main_from(line))
}

//! Failure probes of rollouts, from the files that `rollouts fit` writes.

use crate::error::{caught, detached, raised, wrong};
use offnominal_rollouts::probe::{Probe as Fitted, Rollout, Watcher};
use pyo3::prelude::*;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

/// A probe, and the rollout that it watches.
#[pyclass(module = "offnominal._engine")]
pub(crate) struct Probe {
    fitted: Fitted,
    now: Mutex<Now>,
}

/// The rollout in progress, and how many have begun.
#[derive(Default)]
struct Now {
    watcher: Option<Watcher>,
    begun: usize,
}

#[pymethods]
impl Probe {
    /// Opens a file.
    #[staticmethod]
    fn open(py: Python<'_>, path: PathBuf) -> PyResult<Probe> {
        detached(py, || Ok(Probe { fitted: Fitted::open(&path)?, now: Mutex::default() }))
    }

    /// What was fitted, on what, and when it raises an alarm, as JSON.
    fn about(&self) -> PyResult<String> {
        serde_json::to_string(self.fitted.about()).map_err(raised)
    }

    /// A rollout begins: the threshold of its task, if that has one.
    #[pyo3(signature = (task, executed = None, instruction = None))]
    fn begin(
        &mut self,
        task: &str,
        executed: Option<usize>,
        instruction: Option<Vec<f32>>,
    ) -> PyResult<Option<f64>> {
        let now = self.now.get_mut().unwrap_or_else(PoisonError::into_inner);
        let rollout = Rollout { task, number: now.begun, executed, instruction: instruction.as_deref() };
        let watcher = caught(|| self.fitted.begin(&rollout))?;
        let threshold = watcher.threshold();
        *now = Now { watcher: Some(watcher), begun: now.begun + 1 };
        Ok(threshold)
    }

    /// The next step, as JSON with the fields of a step of a recording: its score, and whether that is an alarm.
    fn step(&mut self, fields: &str) -> PyResult<(f64, Option<bool>)> {
        let now = self.now.get_mut().unwrap_or_else(PoisonError::into_inner);
        let Some(watcher) = &mut now.watcher else {
            return Err(wrong("step: expected a rollout that has begun, found none; call begin(task)"));
        };
        let fields = serde_json::from_str(fields).map_err(raised)?;
        let verdict = caught(|| watcher.step(&fields))?;
        Ok((verdict.score, verdict.alarm))
    }
}

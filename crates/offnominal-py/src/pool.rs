//! Many environments of one kind, stepped together on Rust threads.

use crate::arrays::{Floats, row, shaped};
use crate::environment::{Border, bytes, game};
use crate::error::{detached, wrong};
use crate::infos::told;
use crate::lane::{Lane, Outcome};
use anyhow::Result;
use numpy::{PyArrayDyn, PyArrayMethods};
use offnominal_core::prelude::*;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use rayon::prelude::*;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// A step of all environments that takes less than this on one thread is not worth waking others for.
const WORTH_SHARING: Duration = Duration::from_micros(60);

/// What happens to an environment whose episode is over.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Autoreset {
    /// The next step begins the next episode and ignores the command.
    NextStep,
    /// The same step begins the next episode.
    SameStep,
    /// Nothing: whoever steps must reset.
    Disabled,
}

/// Environments of one kind.
#[pyclass(module = "offnominal._engine")]
pub(crate) struct Pool {
    // Behind a lock, which is never contended, as a lane may not be shared between threads.
    lanes: Mutex<Vec<Seat>>,
    border: Border,
    width: usize,
    mode: Autoreset,
    threads: Option<rayon::ThreadPool>,
    /// Whether the threads are used; not known before the first step.
    shared: Option<bool>,
    /// The array that is written again and again, where Python asked for that.
    reused: Option<Py<PyArrayDyn<f32>>>,
}

/// A lane and what its last step brought.
struct Seat {
    lane: Lane,
    outcome: Outcome,
    /// The last observation of an episode after which another one began in the same step.
    last: Option<Vec<f32>>,
}

impl Seat {
    fn step(&mut self, mode: Autoreset, action: &[f32]) -> Result<()> {
        self.last = None;
        if !self.lane.is_running() {
            self.outcome = Outcome::RESET;
            return self.lane.start(None, None);
        }
        self.outcome = self.lane.step(action);
        if self.outcome.is_last() && mode == Autoreset::SameStep {
            self.last = Some(self.lane.obs.clone());
            self.lane.start(None, None)?;
        }
        Ok(())
    }
}

#[pymethods]
impl Pool {
    #[new]
    #[pyo3(signature = (id, n, options, anomaly_spec, max_steps, mode, threads, copy))]
    #[allow(clippy::too_many_arguments)]
    fn new(
        py: Python<'_>,
        id: &str,
        n: usize,
        options: &str,
        anomaly_spec: &str,
        max_steps: Option<u32>,
        mode: &str,
        threads: usize,
        copy: bool,
    ) -> PyResult<Pool> {
        let mode = match mode {
            "NextStep" => Autoreset::NextStep,
            "SameStep" => Autoreset::SameStep,
            "Disabled" => Autoreset::Disabled,
            other => {
                return Err(wrong(format!(
                    "autoreset_mode: expected NextStep, SameStep or Disabled, found {other}"
                )));
            }
        };
        if n == 0 {
            return Err(wrong("num_envs: expected at least 1, found 0"));
        }
        let (lanes, border, width) = detached(py, || {
            let game = Arc::new(game(id, options, anomaly_spec, max_steps)?);
            let seat = |i| {
                let lane = Lane::new(Arc::clone(&game), i as u64)?;
                Ok(Seat { lane, outcome: Outcome::RESET, last: None })
            };
            let seats: Vec<Seat> = (0..n).map(seat).collect::<Result<_>>()?;
            Ok((seats, Border::of(game.env.spec()), game.env.spec().obs_width()))
        })?;
        let threads = if threads == 0 { offnominal_engine::parallel::default_jobs() } else { threads }.min(n);
        let threads = (threads > 1)
            .then(|| rayon::ThreadPoolBuilder::new().num_threads(threads).build())
            .transpose()
            .map_err(|e| wrong(format!("num_threads: {e}")))?;
        let reused = (!copy && border.image.is_none())
            .then(|| shaped(py, vec![0.0_f32; n * width], &[n, width]).map(Bound::unbind))
            .transpose()?;
        Ok(Pool { lanes: Mutex::new(lanes), border, width, mode, threads, shared: None, reused })
    }

    /// Begins episodes: of the given seeds, where there are any, in the lanes that the mask names.
    fn start<'py>(
        &mut self,
        py: Python<'py>,
        seeds: Vec<Option<u64>>,
        mask: Vec<bool>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let lanes = self.lanes.get_mut().unwrap_or_else(PoisonError::into_inner);
        let threads = &self.threads;
        detached(py, || {
            let begin = |(i, seat): (usize, &mut Seat)| {
                if mask[i] {
                    (seat.outcome, seat.last) = (Outcome::RESET, None);
                    seat.lane.start(seeds[i], None)?;
                }
                Ok(())
            };
            match threads {
                Some(pool) => pool.install(|| lanes.par_iter_mut().enumerate().try_for_each(begin)),
                None => lanes.iter_mut().enumerate().try_for_each(begin),
            }
        })?;
        self.observations(py)
    }

    /// Steps all environments: observations, rewards, terminated, truncated, and what else is known.
    #[allow(clippy::type_complexity)]
    fn step<'py>(
        &mut self,
        py: Python<'py>,
        actions: &Bound<'py, PyAny>,
    ) -> PyResult<(
        Bound<'py, PyAny>,
        Bound<'py, numpy::PyArray1<f64>>,
        Bound<'py, numpy::PyArray1<bool>>,
        Bound<'py, numpy::PyArray1<bool>>,
        Bound<'py, PyDict>,
    )> {
        let (n, wide) = (self.seats().len(), self.border.action.len());
        let floats = Floats::read(actions, "actions")?;
        let flat = self.border.choices().is_some() && floats.shape() == [n];
        if !flat {
            floats.expect_shape(&[n, wide], "actions")?;
        }
        floats.expect_finite("actions")?;
        if self.mode == Autoreset::Disabled
            && let Some(i) = self.seats().iter().position(|s| !s.lane.is_running())
        {
            return Err(wrong(format!(
                "expected a reset of environment {i}, whose episode is over, before a step"
            )));
        }
        if self.border.action.iter().any(Channel::is_choice) {
            floats.slice().chunks_exact(wide).try_for_each(|action| self.border.check(action))?;
        }
        self.advance(py, floats.slice(), wide)?;
        let outcomes: Vec<Outcome> = self.seats().iter().map(|s| s.outcome).collect();
        let column = |of: fn(&Outcome) -> bool| row(py, &outcomes.iter().map(of).collect::<Vec<bool>>());
        let rewards: Vec<f64> = outcomes.iter().map(|o| o.reward).collect();
        Ok((
            self.observations(py)?,
            row(py, &rewards),
            column(|o| o.terminated),
            column(|o| o.truncated),
            told(py, &outcomes, self.finals(py)?)?,
        ))
    }
}

impl Pool {
    fn seats(&self) -> MutexGuard<'_, Vec<Seat>> {
        self.lanes.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn advance(&mut self, py: Python<'_>, actions: &[f32], wide: usize) -> PyResult<()> {
        let mode = self.mode;
        let lanes = self.lanes.get_mut().unwrap_or_else(PoisonError::into_inner);
        let threads = self.threads.as_ref().filter(|_| self.shared != Some(false));
        let took = detached(py, || {
            let began = Instant::now();
            match threads.filter(|_| self.shared.is_some()) {
                Some(pool) => pool.install(|| {
                    let steps = lanes.par_iter_mut().zip(actions.par_chunks_exact(wide));
                    steps.try_for_each(|(seat, action)| seat.step(mode, action))
                })?,
                None => {
                    let mut steps = lanes.iter_mut().zip(actions.chunks_exact(wide));
                    steps.try_for_each(|(seat, action)| seat.step(mode, action))?;
                }
            }
            Ok(began.elapsed())
        })?;
        self.shared = self.shared.or(Some(took > WORTH_SHARING));
        Ok(())
    }

    fn observations<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let seats = self.seats();
        let rows = seats.iter().map(|s| s.lane.obs.as_slice());
        if let Some(own) = &self.reused {
            let own = own.bind(py);
            let mut array =
                own.try_readwrite().map_err(|_| wrong("observations: another call is writing them"))?;
            let out = array.as_slice_mut()?;
            out.chunks_exact_mut(self.width).zip(rows).for_each(|(out, row)| out.copy_from_slice(row));
            return Ok(own.clone().into_any());
        }
        let mut all = Vec::with_capacity(seats.len() * self.width);
        rows.for_each(|row| all.extend_from_slice(row));
        let shape = [&[seats.len()], &self.border.shape(self.width)[..]].concat();
        if self.border.image.is_some() {
            return Ok(shaped(py, bytes(&all), &shape)?.into_any());
        }
        Ok(shaped(py, all, &shape)?.into_any())
    }

    /// The last observations of episodes after which others began in the same step.
    fn finals<'py>(&self, py: Python<'py>) -> PyResult<Option<Vec<Option<Bound<'py, PyAny>>>>> {
        if self.mode != Autoreset::SameStep {
            return Ok(None);
        }
        let shape = self.border.shape(self.width);
        let last =
            |seat: &Seat| seat.last.as_ref().map(|obs| self.border.observations(py, obs, &shape)).transpose();
        self.seats().iter().map(last).collect::<PyResult<Vec<_>>>().map(Some)
    }
}

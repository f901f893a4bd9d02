//! The probability that a rollout fails from here on, given that it still runs: hazards of both endings, and what the
//! signals so far change of the odds.
//!
//! At each step a running rollout of a task fails with hazard h₁, succeeds with hazard h₀, or goes on. By both hazards it
//! fails from step k on with probability (Aalen–Johansen)
//!
//! F(k) = Σ_{j ≥ k} h₁(j) Π_{k ≤ i < j} (1 − h₁(i) − h₀(i)).
//!
//! A success is a competing end: one minus Kaplan–Meier, which takes it for censoring, would be too large. The score is
//!
//! p(k) = σ(logit F(k) + β · z(k)),
//!
//! with z(k) the mean so far of each signal, in deviations from the mean of all rollouts that run at the step. The signals
//! are those that are named; else the magnitude and the consistency error of the chunks, as ActProbe reads them; else all.
//! F takes out the clock and the task, so β says only what the signals add. β minimises
//! the mean cross entropy over running steps, which only needs the outcome, plus λ/2 ‖β‖²; the held-out rollouts choose λ.
//! A task that was not learned from has the F of all tasks together.
//!
//! Assumes: a rollout says the same of its outcome at any step but for its scale. Learns from: outcomes.
//! References: Aalen and Johansen, Scandinavian Journal of Statistics 5, 1978; van Houwelingen, the same 34(1), 2007
//! (landmark models); the reading of the signals is ours.

mod baseline;
mod regression;

use super::features::{Features, read_signals};
use super::{Fitted, Lesson, Scorer, Seen, Start};
use crate::rollout::Rollouts;
use anyhow::{Result, ensure};
pub use baseline::Baseline;
use offnominal_core::archive::{ArchiveError, Reader, Writer};
use regression::{Example, cross_entropy};
use std::sync::Arc;

/// Penalties that the held-out rollouts choose from.
const PENALTIES: [f64; 5] = [1e-3, 1e-2, 1e-1, 1.0, 10.0];

/// The baseline, and what the signals change of its odds.
pub(super) struct Hazard {
    parts: Arc<(Baseline, Features)>,
    beta: Vec<f64>,
}

impl Hazard {
    /// Fits baseline and odds, which are of the named signals.
    pub(super) fn fit(names: &[String], lesson: &Lesson<'_>) -> Result<Hazard> {
        let (data, part) = (lesson.data, lesson.part);
        let courses: Vec<(usize, usize, bool)> = part
            .train
            .iter()
            .map(|&i| (data.rollouts[i].task, data.rollouts[i].steps(), data.rollouts[i].fails))
            .collect();
        let baseline = Baseline::of(&courses);
        let features = Features::of(data, &part.train, read_signals(data, names)?);
        let examples = |rollouts: &[usize]| -> Vec<Example> {
            rollouts.iter().flat_map(|&i| running(data, &baseline, &features, i)).collect()
        };
        let (train, val) = (examples(&part.train), examples(&part.val));
        ensure!(!val.is_empty(), "hazard: expected held-out rollouts that choose the penalty, found none");
        let mut best: Option<(f64, Vec<f64>)> = None;
        for penalty in PENALTIES {
            lesson.context.check()?;
            let beta = regression::fit(&train, features.len(), penalty);
            let loss = cross_entropy(&val, &beta);
            if best.as_ref().is_none_or(|(least, _)| loss < *least) {
                best = Some((loss, beta));
            }
        }
        let beta = best.expect("there are penalties").1;
        Ok(Hazard { parts: Arc::new((baseline, features)), beta })
    }

    pub(super) fn load(from: &Reader<'_>, n_tasks: usize, n_signals: usize) -> Result<Hazard, ArchiveError> {
        let baseline = Baseline::load(&from.part("baseline"), n_tasks)?;
        let features = Features::load(&from.part("features"), n_signals)?;
        let beta = from.exactly("beta", features.len())?.to_vec();
        Ok(Hazard { parts: Arc::new((baseline, features)), beta })
    }
}

impl Fitted for Hazard {
    fn begin(&self, start: &Start<'_>) -> Result<Box<dyn Scorer>> {
        let (parts, beta, task) = (Arc::clone(&self.parts), self.beta.clone(), start.task);
        let (mut features, mut step) = (parts.1.begin(), 0);
        Ok(Box::new(move |seen: Seen<'_>| {
            let x = features.next(|signal| seen.signals[signal]);
            step += 1;
            let example = Example { x, offset: parts.0.logit(task, step - 1), fails: false };
            example.probability(&beta)
        }))
    }

    fn save(&self, to: &mut Writer<'_>) {
        self.parts.0.save(&mut to.part("baseline"));
        self.parts.1.save(&mut to.part("features"));
        to.put("beta", &self.beta);
    }
}

/// Each step of a rollout.
fn running(
    data: &Rollouts,
    baseline: &Baseline,
    features: &Features,
    rollout: usize,
) -> impl Iterator<Item = Example> {
    let r = &data.rollouts[rollout];
    let rows = features.rows(data, rollout);
    let logits: Vec<f64> = (0..r.steps()).map(|k| baseline.logit(Some(r.task), k)).collect();
    let fails = r.fails;
    rows.into_iter().zip(logits).map(move |(x, offset)| Example { x, offset, fails })
}

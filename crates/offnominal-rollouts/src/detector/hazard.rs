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
use super::{Fitted, Lesson};
use crate::rollout::Rollouts;
use anyhow::{Context as _, Result, ensure};
pub use baseline::Baseline;
use regression::{Example, cross_entropy};

/// Penalties that the held-out rollouts choose from.
const PENALTIES: [f64; 5] = [1e-3, 1e-2, 1e-1, 1.0, 10.0];

/// The baseline, and what the signals change of its odds.
pub(super) struct Hazard {
    baseline: Baseline,
    features: Features,
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
            let beta = regression::fit(&train, features.len(), penalty)
                .context("hazard: expected signals whose means are finite, found others")?;
            let loss = cross_entropy(&val, &beta);
            if best.as_ref().is_none_or(|(least, _)| loss < *least) {
                best = Some((loss, beta));
            }
        }
        let beta = best.expect("there are penalties").1;
        Ok(Hazard { baseline, features, beta })
    }
}

impl Fitted for Hazard {
    fn scores(&self, data: &Rollouts, rollout: usize) -> Vec<f64> {
        let steps = running(data, &self.baseline, &self.features, rollout);
        steps.map(|example| example.probability(&self.beta)).collect()
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
    let logits: Vec<f64> = (0..r.steps()).map(|k| baseline.logit(r.task, k)).collect();
    let fails = r.fails;
    rows.into_iter().zip(logits).map(move |(x, offset)| Example { x, offset, fails })
}

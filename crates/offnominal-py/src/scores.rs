//! Thresholds and the landmark area for scores that anybody has computed.

use crate::arrays::Floats;
use crate::error::{detached, raised};
use anyhow::{Result, bail, ensure};
use offnominal_core::Seed;
use offnominal_stats::landmark::{Course, Landmark};
use offnominal_stats::{Bootstrap, Level, Promise, Rate, Rule, nominal};
use pyo3::prelude::*;

/// The threshold of the scores of nominal episodes, which follow one another and have these lengths, or of one stream, for a
/// share of episodes or for a rate of alarms an hour; as JSON.
#[pyfunction]
#[pyo3(signature = (scores, lengths, alpha, confidence, per_hour, dt_secs))]
pub(crate) fn nominal_threshold(
    py: Python<'_>,
    scores: &Bound<'_, PyAny>,
    lengths: Option<Vec<usize>>,
    alpha: Option<f64>,
    confidence: Option<f64>,
    per_hour: Option<f64>,
    dt_secs: Option<f64>,
) -> PyResult<String> {
    let read = Floats::<f64>::read(scores, "scores")?;
    let scores = read.slice();
    let found = detached(py, || {
        let rule = rule(alpha, confidence, per_hour, dt_secs)?;
        let Some(lengths) = lengths else {
            let Rule::Rate(rate) = rule else { bail!("scores: expected episodes for alpha, found a stream") };
            return Ok(nominal::of_stream(scores, rule, rate.dt_secs, Seed(0))?);
        };
        Ok(nominal::of_episodes(&episodes(scores, &lengths)?, rule, dt_secs, Seed(0))?)
    })?;
    serde_json::to_string(&found).map_err(raised)
}

/// The landmark area by pairs, cells and tasks, and the number of cells, as JSON; of rollouts whose scores follow one another
/// and have these lengths, by the number of their task and whether they fail.
#[pyfunction]
pub(crate) fn landmark_auc(
    py: Python<'_>,
    scores: &Bound<'_, PyAny>,
    lengths: Vec<usize>,
    rollouts: Vec<(usize, bool)>,
    from_step: usize,
    replicates: usize,
    seed: u64,
) -> PyResult<String> {
    let read = Floats::<f64>::read(scores, "scores")?;
    let scores = read.slice();
    let found = detached(py, || {
        let scores = episodes(scores, &lengths)?;
        ensure!(scores.len() == rollouts.len(), "expected a task of each of {} rollouts", scores.len());
        let courses = scores.iter().zip(&rollouts).enumerate();
        let course = |(rollout, (&scores, &(task, fails)))| Course { rollout, task, fails, scores };
        let landmark = Landmark::new(&courses.map(course).collect::<Vec<_>>(), from_step)?;
        // As `rollouts judge` draws them: within task and outcome.
        let strata: Vec<usize> =
            rollouts.iter().map(|&(task, fails)| 2 * task + usize::from(fails)).collect();
        let plan = Bootstrap::new(replicates, Level::P95, Seed(seed));
        let cells = landmark.n_cells();
        Ok((Landmark::estimates(&[landmark], &strata, &plan)?, cells))
    })?;
    serde_json::to_string(&found).map_err(raised)
}

/// Scores that follow one another, by the lengths of their episodes.
fn episodes<'s>(scores: &'s [f64], lengths: &[usize]) -> Result<Vec<&'s [f64]>> {
    let mut rest = scores;
    let mut episodes = Vec::with_capacity(lengths.len());
    for &length in lengths {
        ensure!(length <= rest.len(), "lengths: expected {} scores in all, found more", scores.len());
        let (episode, others) = rest.split_at(length);
        (rest, _) = (others, episodes.push(episode));
    }
    Ok(episodes)
}

fn rule(
    alpha: Option<f64>,
    confidence: Option<f64>,
    per_hour: Option<f64>,
    dt_secs: Option<f64>,
) -> Result<Rule> {
    match (alpha, per_hour, dt_secs) {
        (Some(alpha), None, _) => Ok(Rule::Conformal(Promise { alpha, confidence })),
        (None, Some(per_hour), Some(dt_secs)) => Ok(Rule::Rate(Rate { per_hour, dt_secs })),
        _ => bail!("expected alpha, or per_hour and dt_secs"),
    }
}

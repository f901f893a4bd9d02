//! Thresholds for scores that anybody has computed.

use crate::arrays::Floats;
use crate::error::{detached, raised};
use anyhow::{Result, ensure};
use offnominal_core::Seed;
use offnominal_stats::{Promise, Rate, Rule, nominal};
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
            let Rule::Rate(rate) = rule else {
                anyhow::bail!("scores: expected episodes for alpha, found a stream")
            };
            return Ok(nominal::of_stream(scores, rule, rate.dt_secs, Seed(0))?);
        };
        let mut rest = scores;
        let mut episodes = Vec::with_capacity(lengths.len());
        for length in lengths {
            ensure!(length <= rest.len(), "lengths: expected {} scores in all, found more", scores.len());
            let (episode, others) = rest.split_at(length);
            (rest, _) = (others, episodes.push(episode));
        }
        Ok(nominal::of_episodes(&episodes, rule, dt_secs, Seed(0))?)
    })?;
    serde_json::to_string(&found).map_err(raised)
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
        _ => anyhow::bail!("expected alpha, or per_hour and dt_secs"),
    }
}

//! From scored episodes to rows: every metric, those with a threshold for each threshold.

use crate::cells::cell::Judgement;
use crate::results::Row;
use anyhow::Result;
use offnominal_core::prelude::*;
use offnominal_stats::{
    Bootstrap, Level, Mode, Promise, Rule, ScoredEpisode, StatsError, Threshold, delays, detection, metric,
};

/// An alarm threshold with its name; absent if the rule cannot be applied to the validation episodes.
pub(super) type Alarm = (&'static str, Result<Threshold, StatsError>);

/// The thresholds from the scores of nominal episodes.
pub(super) fn alarms(false_alarms: f64, validation: &[Vec<f64>]) -> Vec<Alarm> {
    let rules = Rule::all(Promise::on_average(false_alarms));
    rules.iter().map(|rule| (rule.id(), rule.threshold(validation, Level::P95))).collect()
}

/// How the intervals of a judgement are made.
pub(super) fn plan(cell: &Judgement) -> Bootstrap {
    Bootstrap::new(cell.replicates, Level::P95, Seed(cell.setup.seed).child("judge"))
}

/// A row of a judgement, without a metric.
pub(super) fn blank(cell: &Judgement, class: &str, anomaly: &str, strength: &str, magnitude: f64) -> Row {
    let setup = &cell.setup;
    Row {
        campaign: String::new(),
        env: setup.env.clone(),
        modality: if cell.frame_size.is_some() { "image" } else { "vector" }.into(),
        policy: setup.policy.id.clone(),
        anomaly_class: class.into(),
        anomaly: anomaly.into(),
        strength: strength.into(),
        magnitude,
        detector: cell.detector.name.clone(),
        seed: setup.seed,
        episodes: 0,
        metric: String::new(),
        threshold: String::new(),
        value: f64::NAN,
        low: f64::NAN,
        high: f64::NAN,
    }
}

/// The blank row filled with every metric of the episodes.
pub(super) fn rows(
    blank: &Row,
    episodes: &[ScoredEpisode],
    alarms: &[Alarm],
    plan: &Bootstrap,
) -> Result<Vec<Row>> {
    let mut rows = Vec::new();
    for mode in Mode::ALL {
        let found = detection(episodes, mode, plan);
        for (k, id) in mode.metric_ids().into_iter().enumerate() {
            let outcome = found.as_ref().map(|d| d.rows()[k].1.clone()).map_err(Clone::clone);
            rows.push(filled(blank, id, "", outcome)?);
        }
    }
    for added in metric::added().iter().filter(|added| !added.metric.thresholded) {
        rows.push(filled(blank, added.metric.id, "", (added.value)(episodes, None, plan))?);
    }
    for (name, threshold) in alarms {
        rows.extend(alarm_rows(blank, episodes, name, threshold, plan)?);
    }
    Ok(rows)
}

fn alarm_rows(
    blank: &Row,
    episodes: &[ScoredEpisode],
    name: &str,
    threshold: &Result<Threshold, StatsError>,
    plan: &Bootstrap,
) -> Result<Vec<Row>> {
    let found = threshold.clone().and_then(|t| {
        let watched = t.watched(episodes);
        let mut found = delays(&watched, t.value, plan)?.rows().to_vec();
        let added = metric::added().iter().filter(|added| added.metric.thresholded);
        found.extend(added.map(|a| (a.metric.id, (a.value)(&watched, Some(t.value), plan))));
        Ok(found)
    });
    match found {
        Ok(found) => found.into_iter().map(|(id, outcome)| filled(blank, id, name, outcome)).collect(),
        Err(why) => {
            let thresholded = metric::all().filter(|m| m.thresholded);
            thresholded.map(|m| filled(blank, m.id, name, Err(why.clone()))).collect()
        }
    }
}

/// The row with a metric. Where there is no data, there is no number; a median that is not reached is infinite.
fn filled(blank: &Row, metric: &str, threshold: &str, outcome: Result<Estimate, StatsError>) -> Result<Row> {
    let (value, low, high, n) = match outcome {
        Ok(found) => (found.value, found.low, found.high, found.n),
        Err(StatsError::MedianNotReached { n, low, .. }) => (f64::INFINITY, low, f64::INFINITY, n),
        Err(StatsError::TooFew { .. } | StatsError::OneClass { .. }) => (f64::NAN, f64::NAN, f64::NAN, 0),
        Err(other) => return Err(other.into()),
    };
    let episodes = n as u64;
    Ok(Row {
        metric: metric.into(),
        threshold: threshold.into(),
        value,
        low,
        high,
        episodes,
        ..blank.clone()
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::sample;

    #[test]
    fn a_median_that_is_not_reached_lies_in_its_interval() {
        let blank = sample::row("knn", "obs-noise", "tiny", "", "", f64::NAN);
        for low in [0.0, 7.0, f64::INFINITY] {
            let never = StatsError::MedianNotReached { detected: 3, n: 24, low };
            let row = filled(&blank, "delay_median", "max", Err(never)).unwrap();
            assert_eq!((row.low, row.value, row.high), (low, f64::INFINITY, f64::INFINITY));
            assert_eq!(row.episodes, 24);
        }
    }
}

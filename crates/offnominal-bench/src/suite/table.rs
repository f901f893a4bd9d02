//! The table of an environment: one row per policy, anomaly, strength, detector and metric, repetitions averaged.
//!
//! A metric of alarms has a row per rule. A number that does not exist is `NaN`; a median delay that is not reached is
//! `inf`. Numbers have four decimals, which is more than the intervals bear and keeps the files small.

use crate::report::aggregate::{Point, over_seeds};
use crate::results;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeSet, HashMap};

/// What one metric says of a detector under one anomaly.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Row {
    /// Environment id.
    pub env: String,
    /// `vector` or `image`.
    pub modality: String,
    /// Policy id.
    pub policy: String,
    /// `observation`, `action`, `dynamics`, `camera`, or `none` for the control.
    pub anomaly_class: String,
    /// Anomaly id.
    pub anomaly: String,
    /// Strength level.
    pub strength: String,
    /// Its magnitude; not a number if there is none.
    pub magnitude: f64,
    /// Detector.
    pub detector: String,
    /// Repetitions behind the value.
    pub seeds: u64,
    /// Episodes, in all repetitions.
    pub episodes: u64,
    /// Metric.
    pub metric: String,
    /// Alarm rule, for metrics that need one, else empty.
    pub threshold: String,
    /// The mean over the repetitions.
    pub value: f64,
    /// Mean of the lower ends of the intervals.
    pub low: f64,
    /// Mean of the upper ends of the intervals.
    pub high: f64,
}

/// The rows of a campaign, repetitions averaged.
pub(super) fn averaged(rows: &[results::Row]) -> Vec<Row> {
    let lines = grouped(rows.iter(), |r| [&*r.policy, &r.anomaly, &r.strength, &r.detector]);
    lines.iter().flat_map(|line| averages(line)).collect()
}

/// The rows of the same anomaly, strength, policy and detector.
fn averages(line: &[&results::Row]) -> Vec<Row> {
    let seeds: BTreeSet<u64> = line.iter().map(|r| r.seed).collect();
    let most = |seed: &u64| line.iter().filter(|r| r.seed == *seed).map(|r| r.episodes).max();
    let episodes = seeds.iter().filter_map(most).sum();
    let numbers = grouped(line.iter().copied(), |r| [&*r.metric, &r.threshold]);
    numbers.iter().map(|number| average(number, seeds.len() as u64, episodes)).collect()
}

fn average(repetitions: &[&results::Row], seeds: u64, episodes: u64) -> Row {
    let point = |r: &&results::Row| Point { value: r.value, low: r.low, high: r.high, cluster: 0 };
    let points: Vec<Point> = repetitions.iter().map(point).collect();
    let mean = over_seeds(&points).map_or([f64::NAN; 3], |p| [p.value, p.low, p.high]);
    let ([value, low, high], first) = (mean.map(four_decimals), repetitions[0].clone());
    Row {
        env: first.env,
        modality: first.modality,
        policy: first.policy,
        anomaly_class: first.anomaly_class,
        anomaly: first.anomaly,
        strength: first.strength,
        magnitude: first.magnitude,
        detector: first.detector,
        seeds,
        episodes,
        metric: first.metric,
        threshold: first.threshold,
        value,
        low,
        high,
    }
}

/// The items with equal keys, in order of first appearance.
fn grouped<'a, K: std::hash::Hash + Eq>(
    rows: impl Iterator<Item = &'a results::Row>,
    key: impl Fn(&'a results::Row) -> K,
) -> Vec<Vec<&'a results::Row>> {
    let (mut places, mut groups) = (HashMap::new(), Vec::<Vec<_>>::new());
    for row in rows {
        let place = *places.entry(key(row)).or_insert(groups.len());
        if place == groups.len() {
            groups.push(Vec::new());
        }
        groups[place].push(row);
    }
    groups
}

fn four_decimals(value: f64) -> f64 {
    format!("{value:.4}").parse().unwrap_or(value)
}

impl From<Row> for results::Row {
    /// A mean over repetitions in place of one of them.
    fn from(row: Row) -> results::Row {
        results::Row {
            campaign: String::new(),
            env: row.env,
            modality: row.modality,
            policy: row.policy,
            anomaly_class: row.anomaly_class,
            anomaly: row.anomaly,
            strength: row.strength,
            magnitude: row.magnitude,
            detector: row.detector,
            seed: 0,
            episodes: row.episodes,
            metric: row.metric,
            threshold: row.threshold,
            value: row.value,
            low: row.low,
            high: row.high,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::sample::row;

    #[test]
    fn repetitions_are_averaged() {
        let of = |seed: u64, value: f64| results::Row {
            seed,
            ..row("knn", "obs-noise", "tiny", "auroc_matched", "", value)
        };
        let never = row("knn", "obs-noise", "tiny", "delay_median", "conformal", f64::INFINITY);
        let missing = row("knn", "obs-noise", "tiny", "d5", "q95", f64::NAN);
        let rows = averaged(&[of(0, 0.25), of(1, 0.75001), never, missing]);
        let found: Vec<(&str, u64, u64)> = rows.iter().map(|r| (&*r.metric, r.seeds, r.episodes)).collect();
        assert_eq!(found, [("auroc_matched", 2, 100), ("delay_median", 2, 100), ("d5", 2, 100)]);
        assert_eq!([rows[0].low, rows[0].value, rows[0].high], [0.48, 0.5, 0.52]);
        assert!(rows[1].value == f64::INFINITY && rows[2].value.is_nan());
    }
}

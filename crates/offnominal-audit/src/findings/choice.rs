//! Which detector is recommended: of those that are tried, the one that finds most within 20 steps at the promised rate of
//! false alarms. What that is worth, classes of faults say that did not choose it: a class is left out, the others choose,
//! and the class judges the choice against the default detector.

use super::{BASELINES, Number, RULE};
use crate::stages::benchmark::is_level;
use offnominal_bench::cells::ranked;
use offnominal_bench::results::{Results, Row};
use offnominal_core::estimate::Estimate;
use offnominal_stats::Level;
use offnominal_stats::mean::student_t;
use serde::Serialize;
use std::collections::BTreeMap;

/// How the recommended detector was chosen.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Choice {
    /// The detector that finds most of the faults of this audit within 20 steps; the default one, where none finds more.
    pub recommended: String,
    /// The default detector.
    pub default: String,
    /// What detectors that other classes of faults chose find more than the default one, as a share of the episodes, mean
    /// over faults; null where there is only one class, or the default one is always chosen.
    pub gain: Option<Number>,
}

/// Share of the episodes of a fault that a detector finds within 20 steps, mean over strengths, by class and fault.
type Found<'a> = BTreeMap<(&'a str, &'a str), f64>;

impl Choice {
    /// Of the results of a benchmark; a detector with more false alarms than it promises, by its whole interval, is not
    /// chosen.
    pub fn of(results: &Results, names: &[String], default: &str, alpha: f64) -> Choice {
        let rows: Vec<Row> = results.rows.iter().filter(is_level).cloned().collect();
        let keeps = |name: &str| ranked(&rows, name)[3].as_ref().is_none_or(|n: &Estimate| n.low <= alpha);
        let rivals = names.iter().filter(|name| !BASELINES.contains(&name.as_str()) && keeps(name));
        let found: BTreeMap<&str, Found<'_>> =
            rivals.map(|name| (name.as_str(), within_20(&rows, name))).collect();
        let recommended = best(&found, default, |_| true).to_string();
        Choice { recommended, gain: gain(&found, default), default: default.into() }
    }
}

fn within_20<'a>(rows: &'a [Row], name: &str) -> Found<'a> {
    let own = rows.iter().filter(|r| r.detector == name && r.metric == "d20" && r.threshold == RULE);
    let mut shares: BTreeMap<(&str, &str), Vec<f64>> = BTreeMap::new();
    for row in own.filter(|r| r.anomaly_class != "none" && r.value.is_finite()) {
        shares.entry((&row.anomaly_class, &row.anomaly)).or_default().push(row.value);
    }
    shares.into_iter().map(|(fault, shares)| (fault, mean(&shares))).collect()
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len().max(1) as f64
}

/// The detector that finds most of the faults of some classes; the default one, where none finds more.
fn best<'a>(found: &BTreeMap<&'a str, Found<'_>>, default: &'a str, of: impl Fn(&str) -> bool) -> &'a str {
    let score = |name: &str| {
        let shares = found.get(name)?.iter().filter(|((class, _), _)| of(class)).map(|(_, share)| *share);
        Some(mean(&shares.collect::<Vec<_>>()))
    };
    let more = |name: &&str| score(name) > score(default);
    let names = found.keys().copied().filter(more);
    names.max_by(|a, b| score(a).partial_cmp(&score(b)).expect("shares are numbers")).unwrap_or(default)
}

/// What those find more that were chosen by other classes.
fn gain(found: &BTreeMap<&str, Found<'_>>, default: &str) -> Option<Number> {
    let own = found.get(default)?;
    let mut classes: Vec<&str> = own.keys().map(|(class, _)| *class).collect();
    classes.dedup();
    let mut gaps = vec![];
    for class in classes.iter().filter(|_| classes.len() > 1) {
        let chosen = &found[best(found, default, |other| other != *class)];
        let judged = own.iter().filter(|((of, _), _)| of == class);
        gaps.extend(judged.filter_map(|(fault, share)| Some(chosen.get(fault)? - share)));
    }
    if gaps.iter().all(|gap| *gap == 0.0) {
        return None;
    }
    student_t(&gaps, Level::P95).ok().map(Number::from)
}

#[cfg(test)]
mod tests {
    use super::super::tests::row;
    use super::*;

    /// What two detectors find of two faults in each of three classes; the default one is `knn`.
    fn choice(rival: [f64; 3]) -> Choice {
        let mut rows = vec![];
        for (class, share) in ["observation", "action", "dynamics"].into_iter().zip(rival) {
            for (fault, more) in [("a", 0.01), ("b", -0.01)] {
                for (name, value) in [("knn", 0.5), ("mewma", share + more), ("clock", 0.99)] {
                    let row = row(name, &format!("{class}-{fault}"), "tiny", "d20", "conformal", value);
                    rows.push(Row { anomaly_class: class.into(), ..row });
                }
            }
        }
        let names = ["clock", "knn", "mewma"].map(String::from);
        Choice::of(&Results { rows, ..Results::default() }, &names, "knn", 0.05)
    }

    #[test]
    fn a_detector_that_finds_most_is_recommended_and_other_classes_say_what_it_gains() {
        let found = choice([0.7, 0.7, 0.7]);
        assert_eq!(found.recommended, "mewma");
        assert!(found.gain.is_some_and(|gain| (gain.value - 0.2).abs() < 1e-9 && gain.low > 0.0));
    }

    #[test]
    fn one_that_is_best_by_a_single_class_loses_where_that_does_not_choose() {
        // It finds most on the mean of all; where the class that speaks for it is left out the default is chosen, and where
        // another one is, it loses there.
        let found = choice([1.0, 0.4, 0.4]);
        assert_eq!(found.recommended, "mewma");
        assert!(found.gain.is_some_and(|gain| gain.value < 0.0), "{found:?}");
    }

    #[test]
    fn the_default_stays_where_it_finds_as_much() {
        let found = choice([0.5, 0.5, 0.4]);
        assert_eq!((found.recommended.as_str(), found.gain), ("knn", None));
    }
}

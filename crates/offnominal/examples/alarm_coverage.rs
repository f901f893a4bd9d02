//! Do alarm rules keep their promise on real scores? Realised false alarms over random splits, as a Markdown table.
//!
//! `offnominal collect --env W --policy P --episodes 400 --out DIR` makes the nominal episodes of a world, and
//! `cargo run --release -p offnominal --example alarm_coverage -- knn,mlp-dm DIR/*.arrow` the rows of its table. A
//! detector is fitted on the first 40 % of the episodes, with the next 10 % for validation; the others are split at
//! random, 2000 times, into those that set the threshold and those that are watched.

use anyhow::{Context, Result};
use offnominal::catalogues;
use offnominal::dataset::{self, Dataset};
use offnominal_core::prelude::*;
use offnominal_stats::{Rule, Splits, coverage};
use std::path::Path;

/// Accepted share of nominal episodes with an alarm.
const ALPHA: f64 = 0.05;

/// Random splits.
const N_SPLITS: usize = 2_000;

fn main() -> Result<()> {
    let mut args = std::env::args().skip(1);
    let detectors = args.next().context("expected detectors with commas between, and then datasets")?;
    println!("| world | detector | rule | promise | realised | middle 95 % of splits |");
    println!("| --- | --- | --- | --- | --- | --- |");
    for file in args {
        let dataset = dataset::load(Path::new(&file))?;
        for detector in detectors.split(',') {
            rows(&dataset, detector).with_context(|| format!("{detector} on {file}"))?;
        }
    }
    Ok(())
}

/// One row per rule.
fn rows(dataset: &Dataset, detector: &str) -> Result<()> {
    let scores = scores(dataset, detector)?;
    let splits = Splits { calibration: scores.len() / 2, n: N_SPLITS, seed: Seed(1) };
    for rule in Rule::all(ALPHA) {
        let found = coverage(&scores, rule, &splits)?;
        let percent = |share: f64| format!("{:.1} %", 100.0 * share);
        let promise = promise(rule, splits.calibration).map_or("–".into(), |p| format!("≤ {}", percent(p)));
        let (mean, low, high) = (percent(found.value), percent(found.low), percent(found.high));
        println!(
            "| {} | {detector} | {} | {promise} | {mean} | {low} – {high} |",
            dataset.recipe.env,
            rule.id()
        );
    }
    Ok(())
}

fn promise(rule: Rule, calibration: usize) -> Option<f64> {
    match rule {
        Rule::ThreeSigma | Rule::Q95 => None,
        Rule::Max => Some(1.0 / (calibration + 1) as f64),
        _ => Some(ALPHA),
    }
}

/// The scores of the second half of the episodes, by a detector that was fitted on the first.
fn scores(dataset: &Dataset, detector: &str) -> Result<Vec<Vec<f64>>> {
    let signals: Vec<Signals<'_>> = dataset.episodes.iter().map(Episode::signals).collect();
    let (fitted, judged) = signals.split_at(signals.len() / 2);
    let (train, validation) = fitted.split_at(4 * fitted.len() / 5);
    let detector = catalogues::detectors().build(detector, &serde_json::json!({}))?;
    let mut monitor = detector.fit(train, validation, &mut Seed(1).child("fit").rng())?;
    let score = |episode: &Signals<'_>| {
        let mut scores = Vec::new();
        monitor.score_episode(episode, &mut scores);
        scores
    };
    Ok(judged.iter().map(score).collect())
}

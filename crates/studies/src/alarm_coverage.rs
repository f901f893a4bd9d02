//! Do alarm rules keep their promise on real scores? Realised false alarms over random splits, as a Markdown table.
//!
//! `offnominal collect --env W --policy P --episodes 400 --out DIR` makes the nominal episodes of an environment, and
//! `cargo run --release -p studies -- alarm-coverage knn,mlp-dm DIR/*.arrow` the rows of its table. A
//! detector is fitted on the first 40 % of the episodes, with the next 10 % for validation; the others are split at
//! random, 2000 times, into those that set the threshold and those that are watched.

use anyhow::{Context, Result};
use offnominal_core::prelude::*;
use offnominal_engine::catalogues;
use offnominal_files::dataset::{self, Dataset};
use offnominal_stats::{Promise, Rule, Splits, coverage};
use std::path::Path;

/// Accepted share of nominal episodes with an alarm.
const ALPHA: f64 = 0.05;

/// Random splits.
const N_SPLITS: usize = 2_000;

/// Runs the study.
///
/// # Errors
/// If an argument, or a file that is read or written, is wrong.
pub fn run(args: &[String]) -> Result<()> {
    let mut args = args.iter();
    let detectors = args.next().context("expected detectors with commas between, and then datasets")?;
    let rules = Rule::all(Promise::on_average(ALPHA));
    println!("| environment | detector | `{}` |", rules.map(|rule| rule.id()).join("` | `"));
    println!("| --- | --- {}|", "| --- ".repeat(rules.len()));
    for file in args {
        let dataset = dataset::load(Path::new(&file))?;
        for detector in detectors.split(',') {
            let row = row(&dataset, detector).with_context(|| format!("{detector} on {file}"))?;
            println!("| {} | {detector} | {row} |", dataset.recipe.env);
        }
    }
    Ok(())
}

/// For each rule the mean realised share, and in brackets the middle 95 % of the splits.
fn row(dataset: &Dataset, detector: &str) -> Result<String> {
    let scores = scores(dataset, detector)?;
    let splits = Splits { calibration: scores.len() / 2, n: N_SPLITS, seed: Seed(1) };
    let cell = |rule: Rule| -> Result<String> {
        let found = coverage(&scores, rule, &splits)?;
        let [mean, low, high] = [found.value, found.low, found.high].map(|share| 100.0 * share);
        Ok(format!("{mean:.1} % ({low:.0}–{high:.0})"))
    };
    let cells: Result<Vec<String>> = Rule::all(Promise::on_average(ALPHA)).into_iter().map(cell).collect();
    Ok(cells?.join(" | "))
}

/// The scores of the second half of the episodes, by a detector that was fitted on the first.
fn scores(dataset: &Dataset, detector: &str) -> Result<Vec<Vec<f64>>> {
    let signals: Vec<Signals<'_>> = dataset.episodes.iter().map(Episode::signals).collect();
    let (fitted, judged) = signals.split_at(signals.len() / 2);
    let (train, validation) = fitted.split_at(4 * fitted.len() / 5);
    let detector = catalogues::detectors().build(detector, &serde_json::json!({}))?;
    let mut monitor = detector.fit(Nominal::new(train, validation), &mut Seed(1).child("fit").rng())?;
    let score = |episode: &Signals<'_>| {
        let mut scores = Vec::new();
        monitor.score_episode(episode, &mut scores);
        scores
    };
    Ok(judged.iter().map(score).collect())
}

//! How long do detectors take to fit on the episodes of a dataset, and to score them step by step? One JSON object,
//! detector to the seconds of both.
//!
//! `cargo run --release -p studies -- fit-times pe-dm,knn FILE.arrow [EPOCHS]`; with EPOCHS the detectors
//! that are trained by passes over the data make so many, so that a short run can be compared with another program's.
//! One thread fits, and its processor time counts where the system tells it (Linux), else the time of the wall;
//! `bench/python/fit_times.py` measures the usual Python stack on the same file.

use anyhow::{Context, Result};
use offnominal_core::prelude::*;
use offnominal_engine::catalogues;
use offnominal_files::dataset::{self, Dataset};
use serde_json::{Map, Value, json};
use std::hint::black_box;
use std::path::Path;
use std::time::Instant;

/// The detectors that are trained by passes over the data.
const TRAINED: [&str; 4] = ["mlp-dm", "lstm-dm", "pe-dm", "riqn"];

/// Runs the study.
///
/// # Errors
/// If an argument, or a file that is read or written, is wrong.
pub fn run(args: &[String]) -> Result<()> {
    let [detectors, file, rest @ ..] = args else {
        anyhow::bail!("expected detectors with commas between, and then a dataset");
    };
    let epochs: Option<u64> =
        rest.first().map(|n| n.parse()).transpose().context("epochs: expected a whole number")?;
    let dataset = dataset::load(Path::new(file))?;
    let mut times = Map::new();
    for detector in detectors.split(',') {
        let [fit, score] = seconds(&dataset, detector, epochs).context(detector.to_string())?;
        times.insert(detector.into(), json!({ "fit": fit, "score": score }));
    }
    println!("{}", Value::Object(times));
    Ok(())
}

/// The time of one fit, and of scoring every step it read.
fn seconds(dataset: &Dataset, id: &str, epochs: Option<u64>) -> Result<[f64; 2]> {
    let params = match epochs {
        Some(epochs) if TRAINED.contains(&id) => json!({ "training": { "epochs": epochs } }),
        _ => json!({}),
    };
    let detector = catalogues::detectors().build(id, &params)?;
    let train: Vec<Signals<'_>> = dataset.episodes.iter().map(Episode::signals).collect();
    let (fitted, fit) = timed(|| detector.fit(Nominal::new(&train, &[]), &mut Seed(1).rng()));
    let mut monitor = fitted?;
    let (_, score) = timed(|| {
        for episode in &train {
            monitor.reset();
            episode.transitions().for_each(|seen| _ = black_box(monitor.score(&seen)));
        }
    });
    Ok([fit, score])
}

/// What a task gives, and the time it took.
fn timed<T>(task: impl FnOnce() -> T) -> (T, f64) {
    let (began, before) = (Instant::now(), processor_secs());
    let done = task();
    let used = before.zip(processor_secs()).map(|(before, after)| after - before);
    (done, used.unwrap_or(began.elapsed().as_secs_f64()))
}

/// What this thread has used of a processor so far, if the system tells: on a busy machine the wall tells another time.
fn processor_secs() -> Option<f64> {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    Some(text.split(' ').next()?.parse::<f64>().ok()? * 1e-9)
}

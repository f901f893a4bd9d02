//! Detectors judged on rollouts, at the same task and step and by the usual protocols, and what they leave behind.
//!
//! Detectors learn from the `train` rollouts of each part of a split and are judged on its `test` rollouts; without a split
//! all rollouts are judged and nothing is learned. A number of a split is the mean over its parts. Intervals draw the judged
//! rollouts anew within task and outcome; a rollout that is judged in several parts is drawn once, for all of them.

mod alarms;
mod document;
mod output;
mod page;
mod section;

pub use document::{
    Alarms, Data, DetectorResult, Difference, Judged, LandmarkAreas, ProtocolArea, Row, SectionResult, Task,
};

use crate::detector::{BASELINES, Detector};
use crate::read::{self, Settings};
use crate::rollout::Rollouts;
use crate::split::{Part, Split};
use anyhow::{Result, ensure};
use clap::Args;
use offnominal_core::limits::REPLICATES;
use offnominal_files::provenance::Provenance;
use offnominal_stats::Promise;
use offnominal_work::cli::share;
use offnominal_work::context::Context;
use serde::Serialize;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Detectors of one table; each is judged with a thousand replicates.
const MOST_DETECTORS: usize = 100;

/// What to judge, and how.
#[derive(Debug, Clone, PartialEq, Args)]
pub struct Request {
    /// Rollouts: JSON lines, Parquet, pickles of ActProbe, or folders
    #[arg(required = true, value_name = "FILE")]
    pub files: Vec<PathBuf>,
    /// Detector (docs/howto/rollouts.md); repeatable [default: each signal and its running mean]
    #[arg(long = "detector", value_name = "D", value_parser = detector, allow_hyphen_values = true)]
    pub detectors: Vec<Detector>,
    /// Reference detector for paired differences
    #[arg(long, value_name = "D", value_parser = detector, allow_hyphen_values = true)]
    pub versus: Option<Detector>,
    /// folds:N, tasks:N, seen:SEEDS or unseen:SEEDS; repeatable [default: nothing is learned]
    #[arg(long = "split", value_name = "S", value_parser = split)]
    pub splits: Vec<Split>,
    /// Executed actions per chunk, if the files do not say it
    #[arg(long, value_name = "N")]
    pub executed: Option<usize>,
    /// Embeddings of task instructions (.npy with a dictionary by task)
    #[arg(long = "task-embeddings", value_name = "FILE")]
    pub instructions: Option<PathBuf>,
    /// First step that is compared
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub from_step: usize,
    /// Accepted share of successful rollouts with an alarm
    #[arg(long, value_name = "P", default_value_t = 0.15, value_parser = share)]
    pub alpha: f64,
    /// Bootstrap replicates per interval
    #[arg(long, value_name = "N", default_value_t = 1000)]
    pub replicates: usize,
    /// Folder for rollouts.json, rollouts.csv and rollouts.html
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
}

/// A detector by its name.
fn detector(text: &str) -> Result<Detector, String> {
    text.parse().map_err(|e: anyhow::Error| format!("{e:#}"))
}

fn split(text: &str) -> Result<Split, String> {
    text.parse().map_err(|e: anyhow::Error| format!("{e:#}"))
}

impl Request {
    fn check(&self) -> Result<()> {
        Promise::on_average(self.alpha).check()?;
        let (most, found) = (MOST_DETECTORS, self.detectors.len());
        ensure!(found <= most, "expected at most {most} detectors, found {found}");
        let replicates = self.replicates;
        ensure!(
            (100..=REPLICATES).contains(&replicates),
            "expected 100 to {REPLICATES} replicates, found {replicates}"
        );
        if let (true, Some(detector)) = (self.splits.is_empty(), self.detectors.iter().find(|d| d.learns())) {
            anyhow::bail!("{detector} learns from rollouts: expected a split, such as folds:5, found none");
        }
        Ok(())
    }

    /// The baselines, and what was asked for or each signal; each once.
    fn rows(&self, data: &Rollouts) -> Vec<Detector> {
        let signals = || {
            use crate::detector::Accumulator::{Last, Mean};
            let of = |signal: &String| [Last, Mean].map(|a| Detector::Signal(a, signal.clone()));
            data.signals.iter().flat_map(of).take(MOST_DETECTORS).collect()
        };
        let wanted = if self.detectors.is_empty() { signals() } else { self.detectors.clone() };
        let mut rows: Vec<Detector> = Vec::new();
        for detector in BASELINES.into_iter().chain(wanted).chain(self.versus.clone()) {
            if !rows.contains(&detector) {
                rows.push(detector);
            }
        }
        rows
    }
}

/// Reads, fits, judges, and writes tables and page.
///
/// # Errors
/// If the request makes no sense, a file cannot be read, there is too little to learn from or to judge, or nothing can be
/// written.
pub fn run(request: &Request, context: &Context) -> Result<Judged> {
    request.check()?;
    let data = read::read(&request.files, Settings { executed: request.executed, ..Settings::default() })?;
    let found = judge(request, &data, context)?;
    if let Some(folder) = &request.out {
        output::write(folder, &found)?;
    }
    Ok(found)
}

/// Fits and judges.
///
/// # Errors
/// As [`run`].
pub fn judge(request: &Request, data: &Rollouts, context: &Context) -> Result<Judged> {
    request.check()?;
    let instructions = match &request.instructions {
        Some(path) => instructions(path)?,
        None => BTreeMap::new(),
    };
    let rows = request.rows(data);
    let sections = sections(request, data, context.seed)?;
    let judged = sections.iter().map(|(name, parts, knows_tasks)| {
        let section = section::Section { request, data, parts, instructions: &instructions, context };
        section.judge(name, *knows_tasks, &rows)
    });
    let sections = judged.collect::<Result<_>>()?;
    Ok(Judged {
        made: made(request, &rows, context),
        data: Data::of(data),
        alpha: request.alpha,
        from_step: request.from_step,
        sections,
        page: request.out.as_ref().map(|folder| folder.join(output::PAGE)),
    })
}

/// Name, parts, and whether judged tasks may be learned from.
type Planned = (String, Vec<Part>, bool);

fn sections(request: &Request, data: &Rollouts, seed: u64) -> Result<Vec<Planned>> {
    if request.splits.is_empty() {
        let all = Part { test: (0..data.rollouts.len()).collect(), ..Part::default() };
        return Ok(vec![("all".into(), vec![all], false)]);
    }
    let planned = |split: &Split| Ok((split.to_string(), split.parts(data, seed)?, split.knows_tasks()));
    request.splits.iter().map(planned).collect()
}

/// What a task's instruction is to a language model, by the name of the task.
fn instructions(path: &Path) -> Result<BTreeMap<String, Vec<f32>>> {
    let bytes = offnominal_files::read::bytes(path)?;
    let found = offnominal_agents::pytorch::dictionary::read(&bytes, &path.display().to_string())?;
    let width = found.values().next().map_or(0, Vec::len);
    let is_even =
        found.values().all(|numbers| numbers.len() == width && numbers.iter().all(|x| x.is_finite()));
    ensure!(is_even && width > 0, "{}: expected finite arrays of one length", path.display());
    Ok(found)
}

fn made(request: &Request, rows: &[Detector], context: &Context) -> Provenance {
    #[derive(Serialize)]
    struct Settings {
        detectors: Vec<String>,
        splits: Vec<String>,
        from_step: usize,
        alpha: f64,
        replicates: usize,
    }
    let settings = Settings {
        detectors: rows.iter().map(Detector::to_string).collect(),
        splits: request.splits.iter().map(Split::to_string).collect(),
        from_step: request.from_step,
        alpha: request.alpha,
        replicates: request.replicates,
    };
    let config = serde_json::to_vec(&settings).expect("settings are plain data");
    Provenance::new(&context.command, context.seed, &config)
}

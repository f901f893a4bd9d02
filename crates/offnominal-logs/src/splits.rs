//! A folder of splits, as the benchmark Anomaly-Gym publishes the episodes of an environment: detectors that are fitted on the
//! nominal splits are judged on the anomalous ones, anomaly by anomaly and strength by strength.
//!
//! | folder | what | read |
//! |---|---|---|
//! | `train` | nominal episodes, to learn from | as a data set of Minari: `data/main_data.hdf5` |
//! | `val` | nominal episodes, to set the threshold | likewise |
//! | `test` | nominal episodes, for false alarms and as controls | likewise |
//! | `ANOMALY_STRENGTH` | episodes with an anomaly from its onset on | likewise |
//! | `videos` in any of them | one lossy video per episode | no |
//!
//! Labels come from the data (`infos/is_anomaly`, one for the reset and one per step); a step has the label of the observation
//! that it leads to. If the rule needs more episodes than `val` has, the last ones of `train` set the threshold too and are
//! not learned from.
//!
//! Reference: Anomaly-Gym (TMLR submission 7913), section 6, for splits and protocols. Its data have no nominal twins, so the
//! time-matched comparison is that of [`offnominal_stats::same_step`]: labelled steps against steps at the same time that are
//! not, of the split itself and of `test`.

mod columns;
mod folder;
mod judge;
mod table;

pub use columns::Columns;
pub use folder::{Folder, STRENGTHS, Split};
pub use judge::Number;

use crate::chosen::Truth;
use crate::episodes::{self, Recorded};
use crate::fit;
use crate::mapping::Mapping;
use crate::score::ScoredRecording;
use crate::source::Strict;
use anyhow::{Context as _, Result, bail, ensure};
use judge::Scored;
use offnominal_core::Seed;
use offnominal_files::{table as tables, write::atomically};
use offnominal_monitor::{Monitor, decode};
use offnominal_stats::{Bootstrap, Level};
use offnominal_work::context::Context;
use offnominal_work::detector_choice::DetectorChoice;
use offnominal_work::fitting::Fitting;
use offnominal_work::rule_choice::Threshold;
use serde::Serialize;
use std::path::{Path, PathBuf};

/// Bootstrap replicates of an interval.
const REPLICATES: usize = 1000;

/// What to judge; the seed is that of the context.
#[derive(Debug, Clone, PartialEq)]
pub struct Request {
    /// The folder of the environment.
    pub folder: PathBuf,
    /// The detectors; `clock`, which counts steps, stands before them in any case.
    pub detectors: Vec<DetectorChoice>,
    /// How thresholds are set, and what they promise.
    pub threshold: Threshold,
    /// A table of all numbers to write, as CSV or, by its ending, Parquet; if absent, none is written.
    pub table: Option<PathBuf>,
}

/// How well detectors tell the anomalies of an environment.
#[derive(Debug, Clone, Serialize)]
pub struct ScoredSplits {
    /// The environment: the name of the folder.
    pub env: String,
    /// The names of the detectors.
    pub detectors: Vec<String>,
    /// How thresholds were set.
    pub rule: String,
    /// Episodes that were learned from, that set the threshold, and of `test`.
    pub episodes: [usize; 3],
    /// One number per row.
    pub numbers: Vec<Number>,
    /// What makes the promise of a threshold doubtful.
    pub warnings: Vec<String>,
}

/// Fits the detectors on the nominal splits, judges them on the others and writes the table that was asked for.
///
/// # Errors
/// If a split is missing or is not what it should be, a detector cannot be fitted, or the table cannot be written.
pub fn run(request: &Request, context: &Context) -> Result<ScoredSplits> {
    // What can be wrong without the data is said before they are read.
    let least = request.threshold.rule(Some(1.0))?.min_episodes();
    request.with_clock()?;
    let folder = Folder::open(&request.folder)?;
    let mapping = folder.columns()?.mapping();
    let [train, val, test] = [0, 1, 2].map(|i| nominal(&folder.nominal[i], &mapping, context.strict));
    let (mut learned, val, test) = (train?, val?, test?);
    let n_calibration = val.len().max(least);
    learned.extend(val);
    let (mut judges, warnings) = request.judges(&learned, n_calibration, &mapping, context)?;
    judges.iter_mut().try_for_each(|judge| judge.listen(&test, &mapping))?;
    let numbers = request.numbers(&folder, &mut judges, &mapping, context)?;
    let found = ScoredSplits {
        env: folder.env,
        detectors: judges.into_iter().map(|judge| judge.name).collect(),
        rule: request.threshold.rule.clone(),
        episodes: [learned.len() - n_calibration, n_calibration, test.len()],
        numbers,
        warnings,
    };
    if let Some(path) = &request.table {
        found.save(path)?;
    }
    Ok(found)
}

/// A fitted detector, and what it says of `test`.
struct Judge {
    name: String,
    monitor: Monitor,
    test: Vec<Scored>,
}

impl Judge {
    fn listen(&mut self, test: &[Recorded], mapping: &Mapping) -> Result<()> {
        self.test = self.scores(test, mapping)?;
        Ok(())
    }

    fn scores(&mut self, episodes: &[Recorded], mapping: &Mapping) -> Result<Vec<Scored>> {
        let score = |episode: &Recorded| {
            let scored = ScoredRecording::of(&mut self.monitor, episode.clone(), mapping)?;
            Ok(Scored::of(&scored))
        };
        episodes.iter().map(score).collect()
    }
}

fn opened(file: &[u8]) -> Result<Monitor> {
    let (about, archive) = decode(file)?;
    Ok(Monitor::new(about, &archive, &offnominal_detectors::catalogue(), None)?)
}

/// The episodes of a split whose labels say that nothing was wrong.
fn nominal(split: &Path, mapping: &Mapping, strict: bool) -> Result<Vec<Recorded>> {
    let episodes = read(split, mapping, strict)?;
    for (i, episode) in episodes.iter().enumerate() {
        if let Some(step) = episode.labels.iter().flatten().position(|&label| label) {
            bail!(
                "{}: expected nominal episodes, found a label at step {step} of episode {i}",
                split.display()
            );
        }
    }
    Ok(episodes)
}

/// The episodes of a split of which one is labelled at least.
fn anomalous(split: &Path, mapping: &Mapping, strict: bool) -> Result<Vec<Recorded>> {
    let episodes = read(split, mapping, strict)?;
    let is_labelled = |episode: &Recorded| episode.labels.iter().flatten().any(|&label| label);
    ensure!(
        episodes.iter().any(is_labelled),
        "{}: expected labelled steps, found none in {} episodes",
        split.display(),
        episodes.len()
    );
    Ok(episodes)
}

fn read(split: &Path, mapping: &Mapping, strict: bool) -> Result<Vec<Recorded>> {
    let (episodes, _) = episodes::read(&Strict(split, strict), mapping, Truth::Needed)?;
    ensure!(
        !episodes.is_empty(),
        "{}: expected episodes with at least one step, found none",
        split.display()
    );
    Ok(episodes)
}

impl Folder {
    /// The columns of all splits, which are the same.
    fn columns(&self) -> Result<Columns> {
        let first = Columns::of(&self.nominal[0])?;
        for split in self.nominal[1..].iter().chain(self.anomalous.iter().map(|split| &split.path)) {
            first.insist_on(&Columns::of(split)?, &split.display().to_string())?;
        }
        Ok(first)
    }
}

impl Request {
    /// The detectors, `clock` first.
    fn with_clock(&self) -> Result<Vec<DetectorChoice>> {
        let asked = self.detectors.iter().filter(|detector| detector.name != "clock").cloned();
        let all: Vec<DetectorChoice> = std::iter::once(DetectorChoice::named("clock")).chain(asked).collect();
        for (i, detector) in all.iter().enumerate() {
            let name = &detector.name;
            let is_new = all[..i].iter().all(|other| other.name != *name);
            ensure!(is_new, "detectors: expected different names, found {name:?} twice: give one a `name`");
            let built = offnominal_detectors::catalogue().build(&detector.id, &detector.params);
            built.with_context(|| format!("detector {name}"))?;
        }
        Ok(all)
    }

    /// The detectors, fitted; and what makes the promise of a threshold doubtful.
    fn judges(
        &self,
        learned: &[Recorded],
        n_calibration: usize,
        mapping: &Mapping,
        context: &Context,
    ) -> Result<(Vec<Judge>, Vec<String>)> {
        let (mut judges, mut warnings) = (Vec::new(), Vec::new());
        for DetectorChoice { name, id, params } in self.with_clock()? {
            let detector = DetectorChoice { name: name.clone(), id, params };
            let (found, file) = fit::on(learned, mapping, &self.fit(detector, n_calibration)?, context)
                .with_context(|| format!("detector {name}"))?;
            // A clock has no alarm whatever happens, and is there to show that.
            let said = found.fitted.warnings.into_iter().filter(|_| name != "clock");
            said.for_each(|warning| {
                if !warnings.contains(&warning) {
                    warnings.push(warning);
                }
            });
            judges.push(Judge { name, monitor: opened(&file)?, test: Vec::new() });
        }
        Ok((judges, warnings))
    }

    /// What the detectors are worth on each anomalous split.
    fn numbers(
        &self,
        folder: &Folder,
        judges: &mut [Judge],
        mapping: &Mapping,
        context: &Context,
    ) -> Result<Vec<Number>> {
        let task = context.task(folder.anomalous.len(), "splits");
        let plan = Bootstrap::new(REPLICATES, Level::P95, Seed(context.seed));
        let mut numbers = Vec::new();
        for split in &folder.anomalous {
            task.check()?;
            let episodes = anomalous(&split.path, mapping, context.strict)?;
            for judge in &mut *judges {
                let scored = judge.scores(&episodes, mapping)?;
                let found = judge::judge(&scored, &judge.test, judge.monitor.threshold(), &plan)
                    .with_context(|| split.path.display().to_string())?;
                let number = |found: judge::SplitMetric| {
                    found.number(&folder.env, split, &judge.name, &self.threshold.rule)
                };
                numbers.extend(found.into_iter().map(number));
            }
            task.inc(1);
        }
        Ok(numbers)
    }

    fn fit(&self, detector: DetectorChoice, n_calibration: usize) -> Result<fit::Request> {
        let (threshold, calibration) = (self.threshold.clone(), Some(n_calibration as u32));
        let fitting = Fitting { detector, calibration, threshold, diagnosis: false, ..Fitting::default() };
        Ok(fit::Request {
            logs: vec![],
            map: None,
            events: None,
            until: None,
            by_task: false,
            fitting,
            file: PathBuf::new(),
        })
    }
}

impl ScoredSplits {
    fn save(&self, path: &Path) -> Result<()> {
        let is_parquet = path.extension().is_some_and(|ending| ending == "parquet");
        let bytes =
            if is_parquet { tables::to_parquet(&self.numbers)? } else { tables::to_csv(&self.numbers)? };
        atomically(path, &bytes)
    }
}

//! `rollouts fit`: a detector, fitted and calibrated on recorded rollouts, as one file.
//!
//! Of each task and outcome a share of the rollouts is held out for thresholds, and a fifth of the others is for choices that
//! a fit makes, such as when training stops. So what sets thresholds was neither learned from nor chosen by.

use super::Probe;
use super::about::{About, Origin, TaskAbout};
use super::file::FORMAT;
use crate::detector::{Detector, Fitted, Lesson};
use crate::judge::instructions;
use crate::read::{self, Settings};
use crate::rollout::Rollouts;
use crate::split::Part;
use anyhow::{Context as _, Result, ensure};
use offnominal_core::estimate::Estimate;
use offnominal_core::{Rng, Seed};
use offnominal_files::provenance::Provenance;
use offnominal_files::write;
use offnominal_stats::proportion::clopper_pearson;
use offnominal_stats::{GroupThresholds, Level, Promise, Rule};
use offnominal_work::context::Context;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fmt::{self, Display, Formatter};
use std::path::PathBuf;

/// The file in the folder.
const FILE: &str = "probe.safetensors";
/// Of the rollouts that are not held out, one in so many is for choices.
const CHOICES: usize = 5;

/// What to fit, and on what.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Request {
    /// Files with rollouts, and folders of them.
    pub files: Vec<PathBuf>,
    /// Actions of each chunk that are executed, where a file does not say it.
    pub executed: Option<usize>,
    /// The detector.
    pub detector: Detector,
    /// Embeddings of the tasks' instructions: a file of NumPy that holds a dictionary.
    pub instructions: Option<PathBuf>,
    /// Share of a task's successes that may have an alarm, on average.
    pub alpha: f64,
    /// Share of the rollouts of each task and outcome that is held out for thresholds.
    pub held_out: f64,
    /// Folder for the file; nothing is written if there is none.
    pub out: Option<PathBuf>,
}

impl Default for Request {
    fn default() -> Self {
        Request {
            files: vec![],
            executed: None,
            detector: Detector::Hazard(vec![]),
            instructions: None,
            alpha: 0.1,
            held_out: 0.4,
            out: None,
        }
    }
}

/// What was fitted.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Report {
    /// The file, if one was written.
    pub file: Option<PathBuf>,
    /// What is in it.
    pub about: About,
}

/// Reads, fits, calibrates, and writes the file.
///
/// # Errors
/// If the request makes no sense, a file cannot be read, there is too little to learn from or to set a threshold, or the file
/// cannot be written.
pub fn run(request: &Request, context: &Context) -> Result<Report> {
    Promise::on_average(request.alpha).check()?;
    let share = request.held_out;
    ensure!(0.0 < share && share < 1.0, "held_out: expected a share above 0 and below 1, found {share}");
    let settings = Settings { executed: request.executed, ..Settings::default() };
    let probe = fit(request, &read::read(&request.files, settings)?, context)?;
    let file = request.out.as_ref().map(|folder| folder.join(FILE));
    if let Some(file) = &file {
        write::atomically(file, &probe.encode())?;
    }
    Ok(Report { file, about: probe.about })
}

/// Fits and calibrates.
///
/// # Errors
/// As [`run`].
pub fn fit(request: &Request, data: &Rollouts, context: &Context) -> Result<Probe> {
    let detector = &request.detector;
    let instructions = request.instructions.as_deref().map_or(Ok(BTreeMap::new()), instructions)?;
    let reads = detector.reads(data)?;
    // A detector that reads no signal still has to know how many steps there are.
    let signals = if reads.is_empty() { &[0][..] } else { &reads };
    let data = data.only(signals, detector.reads_embeddings());
    let part = parts(&data, request.held_out, &mut Seed(context.seed).child("rollouts").child("parts").rng());
    let seed = Seed(context.seed).child("rollouts").child("fit");
    let lesson = Lesson { data: &data, part: &part, instructions: &instructions, seed, context };
    let fitted = detector.fit(&lesson).with_context(|| detector.to_string())?;
    let thresholds = thresholds(request.alpha, &data, &part, fitted.as_ref())?;
    let about = About {
        format: offnominal_monitor::FORMAT,
        engine: env!("CARGO_PKG_VERSION").into(),
        probe: FORMAT,
        made: made(request, context.seed),
        detector: detector.to_string(),
        signals: reads.iter().map(|&place| data_name(&data, signals, place)).collect(),
        embedding: data.embedding,
        executed: request.executed,
        alpha: request.alpha,
        tasks: tasks(&data, &part, &thresholds),
        detected: None,
    };
    let detected = detected(&data, &part, fitted.as_ref(), &about.tasks)?;
    Ok(Probe { about: About { detected, ..about }, fitted })
}

/// The name of a signal by its place before the others were left out.
fn data_name(data: &Rollouts, kept: &[usize], place: usize) -> String {
    let at = kept.iter().position(|&other| other == place).expect("what is read is kept");
    data.signals[at].clone()
}

/// Of each task and outcome what is learned from, what is for choices, and what is held out for thresholds.
fn parts(data: &Rollouts, held_out: f64, rng: &mut Rng) -> Part {
    let mut part = Part::default();
    for (task, fails) in (0..data.tasks.len()).flat_map(|task| [(task, false), (task, true)]) {
        let mut of = data.of(task, fails);
        rng.shuffle(&mut of);
        let (held, rest) = of.split_at((held_out * of.len() as f64).round() as usize);
        let (choices, train) = rest.split_at(rest.len() / CHOICES);
        part.test.extend(held);
        part.val.extend(choices);
        part.train.extend(train);
    }
    part
}

/// The thresholds of the tasks, from held-out successes.
fn thresholds(alpha: f64, data: &Rollouts, part: &Part, fitted: &dyn Fitted) -> Result<GroupThresholds> {
    let rule = Rule::Conformal(Promise::on_average(alpha));
    let held: Vec<usize> = part.test.iter().copied().filter(|&i| !data.rollouts[i].fails).collect();
    let scores: Vec<Vec<f64>> = held.iter().map(|&i| fitted.scores(data, i)).collect();
    let names: Vec<&str> = held.iter().map(|&i| data.tasks[data.rollouts[i].task].as_str()).collect();
    let found = rule.group_thresholds(&scores, &names, Level::P95)?;
    ensure!(
        !found.own.is_empty() || found.pool.is_some(),
        "alpha {alpha}: expected {} held-out successes of a task, or of all tasks together, for a threshold, found {}; \
         record more, or hold out more",
        rule.min_episodes(),
        held.len()
    );
    Ok(found)
}

/// What is said of each task.
fn tasks(data: &Rollouts, part: &Part, thresholds: &GroupThresholds) -> Vec<TaskAbout> {
    let one = |(task, name): (usize, &String)| {
        let of = |rollouts: &[usize], fails: bool| {
            let is_of = |i: &&usize| data.rollouts[**i].task == task && data.rollouts[**i].fails == fails;
            rollouts.iter().filter(is_of).count()
        };
        let own = thresholds.own.iter().find(|(group, ..)| group == name);
        let pool = thresholds.pool.as_ref().filter(|_| own.is_none() && of(&part.test, false) > 0);
        let (from, threshold) = match (own, pool) {
            (Some((.., own)), _) => (Origin::Own, Some(own.value)),
            (None, Some(pool)) => (Origin::Pooled, Some(pool.value)),
            (None, None) => (Origin::None, None),
        };
        let failed = of(&part.train, true);
        let learned = of(&part.train, false) + failed;
        TaskAbout { name: name.clone(), learned, failed, successes: of(&part.test, false), from, threshold }
    };
    data.tasks.iter().enumerate().map(one).collect()
}

/// The share of held-out failures with an alarm, of tasks with a threshold.
fn detected(
    data: &Rollouts,
    part: &Part,
    fitted: &dyn Fitted,
    tasks: &[TaskAbout],
) -> Result<Option<Estimate>> {
    let has_alarm = |&i: &usize| -> Option<bool> {
        let threshold = tasks[data.rollouts[i].task].threshold.filter(|_| data.rollouts[i].fails)?;
        Some(fitted.scores(data, i).into_iter().any(|score| score > threshold))
    };
    let alarms: Vec<bool> = part.test.iter().filter_map(has_alarm).collect();
    let n = alarms.iter().filter(|is| **is).count();
    Ok((!alarms.is_empty()).then(|| clopper_pearson(n, alarms.len(), Level::P95)).transpose()?)
}

fn made(request: &Request, seed: u64) -> Provenance {
    let Request { detector, alpha, held_out, executed, .. } = request;
    let mut command = format!("offnominal rollouts fit FILES --detector '{detector}'");
    request.instructions.iter().for_each(|_| command += " --task-embeddings FILE");
    executed.iter().for_each(|n| command += &format!(" --executed {n}"));
    command += &format!(" --alpha {alpha} --held-out {held_out} --seed {seed}");
    Provenance::new(&command, seed, command.as_bytes())
}

impl Display for Report {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.about)?;
        self.file.as_ref().map_or(Ok(()), |file| write!(f, "\n\n{}", file.display()))
    }
}

//! Rollouts out of files.
//!
//! | ending | what | module |
//! |---|---|---|
//! | `.jsonl` | one rollout per line | [`json_lines`] |
//! | `.parquet` | one step per row | [`table`] |
//! | `.pkl` | a list of rollouts, as ActProbe pickles them | [`pickle`] |
//!
//! A folder stands for all such files in it, in the order of their names. Fields have the same names in all:
//!
//! | field | what |
//! |---|---|
//! | `rollout`, `episode_id`, `episode_index` | name of the rollout, a text or a number |
//! | `task`, `task_id`, `task_index` | name of its task, likewise; the name of the file without its ending if there is none |
//! | `success` | whether it succeeds |
//! | `failure_step` | the step at which a failure begins, where somebody saw it |
//! | `step`, `t`, `frame_index` | number of the step; 0, 1, 2, … |
//! | `executed` | how many actions of the step's chunk are executed, of a step or of the rollout |
//! | `chunk` | the actions that the policy predicts at the step, `[H, A]`, or samples of them, `[S, H, A]` |
//! | `embedding` | what its encoder makes of the observation, `[D]` |
//! | any other number | a signal; in an object `a` it is called `a.b`, in a list `a[0]` |
//!
//! A signal that looks back may begin after the first step, at the same one of the first ten in all rollouts, and is 0 before.
//! In JSON lines the steps are objects in the list `steps`; `length`, if it is there, is their number; texts and numbers
//! beside the list that are not named above are left out. `chunks` and `embeddings` of all steps may stand in an array file
//! beside it (`.npy`, `.npz`, `.safetensors`), whose name the rollout gives. Texts are left out. Chunks become signals
//! ([`crate::chunk`]) while they are read, and are not kept.

pub mod json_lines;
pub mod pickle;
pub(crate) mod step;
pub mod table;

use crate::rollout::{Rollout, Rollouts};
use anyhow::{Context, Result, bail, ensure};
use offnominal_core::limits::{ARRAY_NUMBERS, COLUMNS, EPISODES};
use serde_json::{Map, Value};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use step::{Signal, Steps};

/// The endings of files with rollouts.
const ENDINGS: [&str; 3] = ["jsonl", "parquet", "pkl"];

/// The last step at which a signal may begin: what looks back looks a few steps back, and what begins at the end of a rollout
/// would tell its outcome.
const LATEST: usize = 10;

/// What is not in the files.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Settings {
    /// Actions of each chunk that are executed, where a file does not say it.
    pub executed: Option<usize>,
    /// Whether a rollout may lack its outcome, and all may have the same one: they are not judged.
    pub may_lack_outcomes: bool,
}

/// Reads files, and folders of them.
///
/// # Errors
/// If a file cannot be read or says something else, rollouts have different signals, or all have the same outcome and may not.
pub fn read(paths: &[PathBuf], settings: Settings) -> Result<Rollouts> {
    let mut into = Collected::new(settings);
    for path in files(paths)? {
        let bytes = offnominal_files::read::bytes(&path)?;
        match path.extension().and_then(|e| e.to_str()) {
            Some("parquet") => table::read(&bytes, &path, &mut into)?,
            Some("pkl") => pickle::read(&bytes, &path, &mut into)?,
            _ => json_lines::read(&bytes, &path, &mut into)?,
        }
    }
    into.end()
}

/// The files that are meant.
fn files(paths: &[PathBuf]) -> Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    for path in paths {
        let is_rollouts =
            |path: &Path| path.extension().is_some_and(|e| ENDINGS.iter().any(|ending| e == *ending));
        if !path.is_dir() {
            ensure!(
                is_rollouts(path),
                "{}: expected a file that ends in .jsonl, .parquet or .pkl",
                path.display()
            );
            found.push(path.clone());
            continue;
        }
        let list = std::fs::read_dir(path).with_context(|| path.display().to_string())?;
        let mut inside: Vec<PathBuf> =
            list.map(|item| Ok(item?.path())).collect::<Result<_>>().context("cannot list the folder")?;
        inside.retain(|path| is_rollouts(path));
        ensure!(
            !inside.is_empty(),
            "{}: expected .jsonl, .parquet or .pkl files, found none",
            path.display()
        );
        inside.sort();
        found.extend(inside);
    }
    ensure!(!found.is_empty(), "expected files with rollouts, found none");
    Ok(found)
}

/// The rollouts that were read so far.
#[derive(Debug, Default)]
pub struct Collected {
    settings: Settings,
    found: Rollouts,
    /// The step at which each signal begins.
    begins: Vec<usize>,
    /// Steps of the longest rollout.
    longest: usize,
    /// Rollouts whose task is the name of their file.
    named_by_file: usize,
    /// Fields of rollouts that are not read.
    left_out: BTreeSet<String>,
    /// Numbers of all signals and embeddings.
    numbers: usize,
}

impl Collected {
    /// None.
    pub fn new(settings: Settings) -> Collected {
        Collected { settings, ..Collected::default() }
    }

    /// All of them.
    ///
    /// # Errors
    /// If there is none, or all have the same outcome and may not.
    pub fn end(mut self) -> Result<Rollouts> {
        self.found.remarks = self.remarks();
        if self.settings.may_lack_outcomes { self.found.ordered() } else { self.found.checked() }
    }

    /// What was assumed or left out, in sentences.
    fn remarks(&self) -> Vec<String> {
        let mut said = Vec::new();
        if self.named_by_file > 0 {
            let (n, names) = (self.named_by_file, TASK.join(", "));
            said.push(format!("{n} rollouts have no field {names}: their task is the name of their file"));
        }
        let late = self.found.signals.iter().zip(&self.begins).filter(|(_, begins)| **begins > 0);
        said.extend(late.map(|(name, n)| format!("{name} begins at step {n}; before, it is taken as 0")));
        if !self.left_out.is_empty() {
            let names: Vec<&str> = self.left_out.iter().map(String::as_str).collect();
            said.push(format!("fields that are not read: {}", names.join(", ")));
        }
        said
    }

    /// Adds a rollout whose steps were read.
    fn add(&mut self, about: About, steps: Steps) -> Result<()> {
        ensure!(self.found.rollouts.len() < EPISODES, "expected at most {EPISODES} rollouts, found more");
        let n = steps.len();
        let (signals, (embeddings, width)) = steps.end()?;
        if self.found.rollouts.is_empty() {
            ensure!(!signals.is_empty(), "expected a signal or chunks at each step, found none");
            self.found.embedding = width;
        }
        let expected = self.found.embedding;
        ensure!(expected == width, "expected embeddings of width {expected}, found {width}");
        let signals = self.aligned(signals, n)?;
        self.count(signals.len() * n + embeddings.len())?;
        self.named_by_file += usize::from(!about.says_task);
        let task = self.task(about.task);
        let About { name, success, has_outcome, failure_step, .. } = about;
        if let Some(step) = failure_step {
            ensure!(step < n, "failure_step: expected a step of the rollout, below {n}, found {step}");
            ensure!(!success, "failure_step: expected a failed rollout, found a successful one");
        }
        let rollout = Rollout { name, task, fails: !success, has_outcome, failure_step, signals, embeddings };
        self.found.rollouts.push(rollout);
        Ok(())
    }

    /// The signals of a rollout of `n` steps in the order of those before it. One that it is too short for is 0.
    fn aligned(&mut self, mut found: Vec<(String, Signal)>, n: usize) -> Result<Vec<Vec<f64>>> {
        let names: Vec<String> = found.iter().map(|(name, _)| name.clone()).collect();
        let before = self.found.signals.clone();
        let unlike = || format!("expected the signals {before:?} of the rollouts before, found {names:?}");
        let mut signals = Vec::new();
        for (name, &begins) in before.iter().zip(&self.begins) {
            let Some(place) = found.iter().position(|(other, _)| other == name) else {
                ensure!(n <= begins, unlike());
                signals.push(vec![0.0; n]);
                continue;
            };
            let Signal { begins: late, values } = found.remove(place).1;
            ensure!(
                late == begins,
                "{name}: expected it from step {begins} on as before, found it from {late} on"
            );
            signals.push(values);
        }
        for (name, signal) in found {
            ensure!(self.longest <= signal.begins && signals.len() < COLUMNS, unlike());
            signals.push(self.begun(name, signal)?);
        }
        self.longest = self.longest.max(n);
        Ok(signals)
    }

    /// Adds a signal that all rollouts before were too short for.
    fn begun(&mut self, name: String, signal: Signal) -> Result<Vec<f64>> {
        let late = signal.begins;
        ensure!(
            late <= LATEST,
            "{name}: expected it from step {LATEST} on or before, found it from {late} on"
        );
        self.count(self.found.rollouts.iter().map(Rollout::steps).sum())?;
        self.found.rollouts.iter_mut().for_each(|r| r.signals.push(vec![0.0; r.steps()]));
        self.found.signals.push(name);
        self.begins.push(late);
        Ok(signal.values)
    }

    /// Counts numbers before they are kept.
    fn count(&mut self, numbers: usize) -> Result<()> {
        self.numbers += numbers;
        let is_within = self.numbers <= ARRAY_NUMBERS;
        ensure!(is_within, "expected at most {ARRAY_NUMBERS} numbers of all rollouts, found more");
        Ok(())
    }

    fn task(&mut self, name: String) -> usize {
        let tasks = &mut self.found.tasks;
        // Rollouts of one task mostly come one after another.
        let place = tasks.iter().rposition(|task| *task == name);
        place.unwrap_or_else(|| {
            tasks.push(name);
            tasks.len() - 1
        })
    }
}

/// Names by which a rollout, its task and a step are known.
const ROLLOUT: [&str; 3] = ["rollout", "episode_id", "episode_index"];
const TASK: [&str; 3] = ["task", "task_id", "task_index"];
const STEP: [&str; 3] = ["step", "t", "frame_index"];

/// What is said of a whole rollout.
#[derive(Debug, Clone, PartialEq)]
struct About {
    name: String,
    task: String,
    /// Whether it is the rollout that says its task, and not the name of its file.
    says_task: bool,
    success: bool,
    has_outcome: bool,
    executed: Option<usize>,
    failure_step: Option<usize>,
}

impl About {
    /// From the fields of a rollout of a file; `number` is its name if it has none.
    fn of(fields: &Map<String, Value>, number: usize, file: &Path, settings: Settings) -> Result<About> {
        let named =
            |names: &[&'static str; 3]| names.iter().find_map(|name| Some((*name, fields.get(*name)?)));
        let of_file = Value::from(file.file_stem().map_or_else(String::new, |s| s.to_string_lossy().into()));
        let task = named(&TASK);
        let unknown = settings.may_lack_outcomes.then_some(&Value::Bool(true));
        let said = fields.get("success");
        let success = said.or(unknown).context("expected success, found no such field")?;
        Ok(About {
            name: named(&ROLLOUT).map_or(Ok(number.to_string()), |(name, value)| text(name, value))?,
            task: task.map_or_else(|| text("task", &of_file), |(name, value)| text(name, value))?,
            says_task: task.is_some(),
            success: match success {
                Value::Bool(is) => *is,
                Value::Number(n) if n.as_u64() == Some(0) => false,
                Value::Number(n) if n.as_u64() == Some(1) => true,
                other => bail!("success: expected true or false, found {}", shown(other)),
            },
            has_outcome: said.is_some(),
            executed: fields.get("executed").map(step::executed).transpose()?,
            failure_step: fields
                .get("failure_step")
                .filter(|value| !value.is_null())
                .map(whole)
                .transpose()?,
        })
    }
}

/// The number of a step.
fn whole(value: &Value) -> Result<usize> {
    let step = value.as_u64().and_then(|n| usize::try_from(n).ok());
    step.with_context(|| format!("failure_step: expected a whole number, found {}", shown(value)))
}

/// A name, which may be a number.
fn text(field: &str, value: &Value) -> Result<String> {
    match value {
        Value::String(text) if !text.is_empty() && text.len() <= 1000 => Ok(text.clone()),
        Value::Number(number) if number.is_u64() || number.is_i64() => Ok(number.to_string()),
        other => bail!("{field}: expected a text or a whole number, found {}", shown(other)),
    }
}

/// A value as it stands in errors.
fn shown(value: &Value) -> String {
    match value {
        Value::Array(items) => format!("a list of {}", items.len()),
        Value::Object(_) => "an object".into(),
        other => {
            let text = other.to_string();
            if text.chars().count() > 60 {
                format!("{}…", text.chars().take(60).collect::<String>())
            } else {
                text
            }
        }
    }
}

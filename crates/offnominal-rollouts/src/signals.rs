//! The signals of rollouts as a log, without the chunks that they were computed from: `fit`, `score` and `monitor` read it as
//! any other log, and `rollouts judge` as rollouts.

use crate::read::{self, Settings};
use crate::rollout::{Rollout, Rollouts};
use anyhow::{Result, ensure};
use clap::Args;
use offnominal_files::write;
use offnominal_topics::mapping::{Channel, Clock, Episodes, FORMAT, Labels, Mapping, Outcome};
use serde::Serialize;
use serde_json::{Map, Value, json};
use std::fmt::{self, Display, Formatter};
use std::path::PathBuf;

/// Which rollouts.
#[derive(Debug, Clone, PartialEq, Eq, Args)]
pub struct Request {
    /// Rollouts: JSON lines, Parquet, pickles of ActProbe, or folders
    #[arg(required = true, value_name = "FILE")]
    pub files: Vec<PathBuf>,
    /// Executed actions per chunk, if the files do not say it
    #[arg(long, value_name = "N")]
    pub executed: Option<usize>,
    /// Folder for signals.jsonl and signals.toml
    #[arg(long, value_name = "DIR", default_value = "runs/rollouts")]
    pub out: PathBuf,
}

/// What was written.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Written {
    /// The file.
    pub file: PathBuf,
    /// Which of its columns is what, for `fit` and `score`.
    pub mapping: PathBuf,
    /// Rollouts in it.
    pub rollouts: usize,
    /// Signals of each step.
    pub signals: Vec<String>,
    /// What was assumed or left out when they were read, in sentences.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub remarks: Vec<String>,
}

/// Reads rollouts, of which the outcome need not be known, and writes their signals and which of them is what.
///
/// # Errors
/// If a file cannot be read or written, or the outcome is known of some rollouts only.
pub fn run(request: &Request) -> Result<Written> {
    let settings = Settings { executed: request.executed, may_lack_outcomes: true };
    let data = read::read(&request.files, settings)?;
    let (n, known) = (data.rollouts.len(), data.rollouts.iter().filter(|r| r.has_outcome).count());
    // `fit` would take the others for nominal.
    ensure!(
        known == 0 || known == n,
        "success: expected the outcome of every rollout or of none, found that of {known} of {n}"
    );
    let [file, mapping] = ["signals.jsonl", "signals.toml"].map(|name| request.out.join(name));
    let lines: String =
        data.rollouts.iter().enumerate().map(|(i, rollout)| line(&data, i, rollout)).collect();
    write::atomically(&file, lines.as_bytes())?;
    write::atomically(&mapping, self::mapping(&data).to_toml().as_bytes())?;
    Ok(Written { file, mapping, rollouts: data.rollouts.len(), signals: data.signals, remarks: data.remarks })
}

/// A line of a rollout. `episode` is the number of the line, because names are unique within a task only.
fn line(data: &Rollouts, number: usize, rollout: &Rollout) -> String {
    let step = |t: usize| -> Value {
        let signals =
            data.signals.iter().zip(&rollout.signals).map(|(name, values)| (name.clone(), values[t].into()));
        let embedding = &rollout.embeddings[t * data.embedding..][..data.embedding];
        let embedding = (data.embedding > 0).then(|| ("embedding".to_string(), json!(embedding)));
        signals.chain(embedding).collect::<Map<String, Value>>().into()
    };
    let steps: Vec<Value> = (0..rollout.steps()).map(step).collect();
    let task = &data.tasks[rollout.task];
    let mut line = json!({"rollout": rollout.name, "episode": number, "task": task, "steps": steps});
    if rollout.has_outcome {
        line["success"] = (!rollout.fails).into();
    }
    if let Some(step) = rollout.failure_step {
        line["failure_step"] = step.into();
    }
    format!("{line}\n")
}

/// Each signal and each number of the embedding is a channel.
fn mapping(data: &Rollouts) -> Mapping {
    let embedding = (0..data.embedding).map(|i| format!("embedding[{i}]"));
    let channel = |name: String| Channel {
        column: format!("steps.{name}"),
        name: Some(name),
        unit: None,
        reference: None,
    };
    Mapping {
        version: FORMAT,
        clock: Clock::default(),
        episodes: Episodes::Column { column: "episode".into() },
        observation: data.signals.iter().cloned().chain(embedding).map(channel).collect(),
        command: vec![],
        outcome: Some(Outcome { column: "success".into(), success: true.into() }),
        label: Labels::default(),
        task: Some("task".into()),
        missing: vec![],
        ignored: None,
    }
}

impl Display for Written {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let [file, mapping] = [&self.file, &self.mapping].map(|path| path.display());
        let signals = self.signals.join(", ");
        writeln!(f, "{file}: {} rollouts with the signals {signals}", self.rollouts)?;
        self.remarks.iter().try_for_each(|remark| writeln!(f, "{remark}"))?;
        write!(f, "{mapping}: which column is what, for `offnominal fit` and `score`")
    }
}

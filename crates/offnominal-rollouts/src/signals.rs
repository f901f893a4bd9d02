//! The signals of rollouts as JSON lines, without the chunks that they were computed from.

use crate::read::{self, Settings};
use crate::rollout::{Rollout, Rollouts};
use anyhow::Result;
use offnominal_files::write;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use std::fmt::{self, Display, Formatter};
use std::path::PathBuf;

/// Which rollouts.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Request {
    /// Files with rollouts, and folders of them.
    pub files: Vec<PathBuf>,
    /// Actions of each chunk that are executed, where a file does not say it.
    #[serde(default)]
    pub executed: Option<usize>,
    /// Folder for signals.jsonl.
    pub out: PathBuf,
}

/// What was written.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Written {
    /// The file.
    pub file: PathBuf,
    /// Rollouts in it.
    pub rollouts: usize,
    /// Signals of each step.
    pub signals: Vec<String>,
}

/// Reads rollouts and writes their signals.
///
/// # Errors
/// If a file cannot be read or written.
pub fn run(request: &Request) -> Result<Written> {
    let data = read::read(&request.files, Settings { executed: request.executed, ..Settings::default() })?;
    let file = request.out.join("signals.jsonl");
    let lines: String = data.rollouts.iter().map(|rollout| line(&data, rollout)).collect();
    write::atomically(&file, lines.as_bytes())?;
    Ok(Written { file, rollouts: data.rollouts.len(), signals: data.signals })
}

fn line(data: &Rollouts, rollout: &Rollout) -> String {
    let step = |t: usize| -> Value {
        let signals =
            data.signals.iter().zip(&rollout.signals).map(|(name, values)| (name.clone(), values[t].into()));
        [("step".to_string(), t.into())].into_iter().chain(signals).collect::<Map<String, Value>>().into()
    };
    let steps: Vec<Value> = (0..rollout.steps()).map(step).collect();
    let about = json!({
        "rollout": rollout.name, "task": data.tasks[rollout.task], "success": !rollout.fails,
        "failure_step": rollout.failure_step, "steps": steps,
    });
    format!("{about}\n")
}

impl Display for Written {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let (file, signals) = (self.file.display(), self.signals.join(", "));
        write!(f, "{file}: {} rollouts with the signals {signals}", self.rollouts)
    }
}

//! `eval_info.json`, which LeRobot's `lerobot-eval` writes.
//!
//! Of one task: `per_episode` is a list of `{episode_ix, sum_reward, max_reward, success, seed}`, where the seed may be null.
//! Of several: `per_task` is a list of `{task_group, task_id, metrics}`, and `metrics.successes` a list in the order in which
//! the episodes were played; seeds are not in the file.
//! Reference: `lerobot_eval.py` of LeRobot 0.4.4, functions `eval_policy` and `eval_policy_all`.

use super::trials::{Trial, name, outcome};
use anyhow::{Context as _, Result};
use serde_json::{Map, Value};

/// The trials in the file.
///
/// # Errors
/// If a field is missing, or is something else.
pub fn trials(document: &Map<String, Value>) -> Result<Vec<Trial>> {
    match document.get("per_episode") {
        Some(episodes) => of_one_task(list("per_episode", Some(episodes))?),
        None => of_tasks(list("per_task", document.get("per_task"))?),
    }
}

fn of_one_task(episodes: &[Value]) -> Result<Vec<Trial>> {
    let of = |episode: &Value| -> Result<Trial> {
        let fields = object(episode)?;
        let success = fields.get("success").context("success: expected it, found no such field")?;
        Ok(Trial {
            task: String::new(),
            seed: name(fields, "seed")?,
            condition: None,
            outcome: outcome("success", success)?,
        })
    };
    let placed = |(i, episode)| of(episode).with_context(|| format!("per_episode[{i}]"));
    episodes.iter().enumerate().map(placed).collect()
}

fn of_tasks(tasks: &[Value]) -> Result<Vec<Trial>> {
    let mut found = Vec::new();
    for (i, task) in tasks.iter().enumerate() {
        found.extend(of_task(object(task)?).with_context(|| format!("per_task[{i}]"))?);
    }
    Ok(found)
}

fn of_task(fields: &Map<String, Value>) -> Result<Vec<Trial>> {
    let said = |field: &str| -> Result<String> {
        name(fields, field)?.with_context(|| format!("{field}: expected a name, found none"))
    };
    let task = format!("{}/{}", said("task_group")?, said("task_id")?);
    let metrics = object(fields.get("metrics").context("metrics: expected an object, found none")?)?;
    let successes = list("metrics.successes", metrics.get("successes"))?;
    let trial = |(i, success): (usize, &Value)| {
        let outcome = outcome(&format!("metrics.successes[{i}]"), success)?;
        Ok(Trial { task: task.clone(), seed: None, condition: None, outcome })
    };
    successes.iter().enumerate().map(trial).collect()
}

pub(super) fn object(value: &Value) -> Result<&Map<String, Value>> {
    value.as_object().context("expected an object, found something else")
}

pub(super) fn list<'v>(name: &str, value: Option<&'v Value>) -> Result<&'v [Value]> {
    let list = value.and_then(Value::as_array);
    list.map(Vec::as_slice).with_context(|| format!("{name}: expected a list, found none"))
}

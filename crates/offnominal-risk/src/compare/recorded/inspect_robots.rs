//! The log that inspect-robots writes at the end of an evaluation.
//!
//! `eval.task` is the task. Each of `samples` is a scene with its `scene_id` and `epochs`, a list of the scores of its trials;
//! a trial that broke off has no scores. The scores of a trial have names; one of them is read: the first of [`SUCCESS`] that
//! is there, or the only one.
//! Scenes and their trials have the same numbers in two logs of one task, so they stand for seeds.
//! Reference: `log.py` of inspect-robots 0.60.0, schema version 1.

use super::lerobot::{list, object};
use super::trials::{Trial, name, outcome};
use anyhow::{Context as _, Result, bail, ensure};
use serde_json::{Map, Value};

/// The version of the log that is read.
const VERSION: u64 = 1;
/// Scores that say whether a trial succeeded.
pub const SUCCESS: [&str; 4] = ["success_at_end", "operator", "reached_goal_state", "success"];

/// The trials in the log, and what was left out.
///
/// # Errors
/// If the log is of another version, a field is missing, or scores are not between 0 and 1.
pub fn trials(document: &Map<String, Value>) -> Result<(Vec<Trial>, Vec<String>)> {
    let version = document.get("version").and_then(Value::as_u64);
    ensure!(version == Some(VERSION), "version: expected {VERSION}, found {version:?}");
    let eval = object(&document["eval"]).context("eval")?;
    let task = name(eval, "task").context("eval")?.context("eval.task: expected a name, found none")?;
    let (mut found, mut broken) = (Vec::new(), 0);
    for (i, sample) in list("samples", document.get("samples"))?.iter().enumerate() {
        let scene = of_scene(object(sample)?, &task).with_context(|| format!("samples[{i}]"))?;
        broken += scene.1;
        found.extend(scene.0);
    }
    let remark = format!("{broken} trials of {task} broke off and have no score: they are left out");
    Ok((found, if broken > 0 { vec![remark] } else { vec![] }))
}

/// The trials of a scene, and how many have no score.
fn of_scene(fields: &Map<String, Value>, task: &str) -> Result<(Vec<Trial>, usize)> {
    let scene = name(fields, "scene_id")?.context("scene_id: expected a name, found none")?;
    let (mut found, mut broken) = (Vec::new(), 0);
    for (i, epoch) in list("epochs", fields.get("epochs"))?.iter().enumerate() {
        let scores = object(epoch)?;
        if scores.is_empty() {
            broken += 1;
            continue;
        }
        let (name, score) = the_score(scores)?;
        found.push(Trial {
            task: task.into(),
            seed: Some(format!("{scene}, trial {}", i + 1)),
            condition: None,
            outcome: outcome(name, score).with_context(|| format!("epochs[{i}]"))?,
        });
    }
    Ok((found, broken))
}

fn the_score(scores: &Map<String, Value>) -> Result<(&str, &Value)> {
    let known = SUCCESS.into_iter().find_map(|name| Some((name, scores.get(name)?)));
    let mut all = scores.iter();
    match (known, all.next(), all.next()) {
        (Some(score), ..) => Ok(score),
        (None, Some((name, score)), None) => Ok((name, score)),
        _ => {
            let names: Vec<&str> = scores.keys().map(String::as_str).collect();
            bail!(
                "expected one of the scores {}, or one score only, found {}",
                SUCCESS.join(", "),
                names.join(", ")
            )
        }
    }
}

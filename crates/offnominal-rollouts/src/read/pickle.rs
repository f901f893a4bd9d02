//! Pickles of ActProbe: a list with a dictionary for each rollout, of which nothing is executed.
//!
//! | field | what |
//! |---|---|
//! | `success`, `episode_id`, `length` | as in JSON lines |
//! | `probe_features_10` | ten signals at each step, `[steps, 10]`, whose names only its code has |
//! | `hidden_states` | embeddings, `[steps, D]` |
//!
//! Other fields are left out, and said to be. Reference: ActProbe, arXiv 2606.08508, `benchmarks/pi05_robocasa/code/lib/data.py`.

use super::step::Steps;
use super::{About, Collected, ROLLOUT, TASK, shown};
use anyhow::{Context, Result, bail, ensure};
use offnominal_agents::pytorch::records::{self, Field};
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use std::path::Path;

/// The columns of `probe_features_10`.
const SIGNALS: [&str; 10] = [
    "action_norm",
    "gripper_oscillation",
    "denoising_curvature",
    "eef_z",
    "chunk_mse",
    "action_jerk",
    "gripper_qpos_mean",
    "eef_z_vel",
    "eef_speed_3d",
    "gripper_qpos_vel",
];

/// Reads all rollouts; `path` names the file in errors.
///
/// # Errors
/// If the file is no such pickle, or an item is no rollout, with its number in the message.
pub fn read(bytes: &[u8], path: &Path, into: &mut Collected) -> Result<()> {
    for (number, fields) in records::read(bytes, &path.display().to_string())?.into_iter().enumerate() {
        let place = || format!("{}, rollout {number}", path.display());
        rollout(&fields, number, path, into).with_context(place)?;
    }
    Ok(())
}

fn rollout(fields: &BTreeMap<String, Field>, number: usize, path: &Path, into: &mut Collected) -> Result<()> {
    let plain: Map<String, Value> = fields.iter().filter_map(plain).collect();
    into.left_out.extend(fields.keys().filter(|name| !is_read(name)).cloned());
    let about = About::of(&plain, number, path, into.settings)?;
    let mut steps = Steps::new(about.executed, into.settings);
    let (shape, values) = array(fields, "probe_features_10")?;
    let width = SIGNALS.len();
    ensure!(
        matches!(shape, [_, w] if *w == width),
        "probe_features_10: expected the shape [steps, {width}], found {shape:?}"
    );
    for (t, row) in values.chunks_exact(width).enumerate() {
        let named = SIGNALS.iter().zip(row).map(|(name, &x)| ((*name).into(), Value::from(x)));
        steps.add(&named.collect(), |_| false).with_context(|| format!("step {t}"))?;
    }
    let n = steps.len();
    if let Some(length) = plain.get("length") {
        ensure!(length.as_u64() == Some(n as u64), "length: expected {n}, found {}", shown(length));
    }
    let (shape, values) = array(fields, "hidden_states")?;
    let values: Vec<f32> = values.iter().map(|&x| x as f32).collect();
    steps.add_embeddings(shape, &values)?;
    into.add(about, steps)
}

/// Whether a field of that name says anything here.
fn is_read(name: &str) -> bool {
    let others = ["success", "length", "executed", "failure_step", "probe_features_10", "hidden_states"];
    ROLLOUT.iter().chain(&TASK).chain(&others).any(|known| *known == name)
}

fn plain((name, field): (&String, &Field)) -> Option<(String, Value)> {
    let value = match field {
        Field::Bool(is) => Value::from(*is),
        Field::Int(n) => Value::from(*n),
        Field::Text(text) => Value::from(text.as_str()),
        Field::Array(..) | Field::Other => return None,
    };
    Some((name.clone(), value))
}

fn array<'a>(fields: &'a BTreeMap<String, Field>, name: &str) -> Result<(&'a [usize], &'a [f64])> {
    match fields.get(name) {
        Some(Field::Array(shape, values)) => Ok((shape, values)),
        Some(_) => bail!("{name}: expected an array, found another value"),
        None => bail!("expected {name}, found no such field"),
    }
}

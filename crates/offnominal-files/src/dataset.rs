//! Recorded episodes and their recipe, kept as one Arrow IPC file with one record batch per episode.
//!
//! The columns are Minari's (`observations actions rewards terminations truncations`), with T + 1 rows for T steps:
//! observations have one row more than the rest, whose last row is padding. The column `label` is ours: whether the
//! anomaly was active in that step. Detectors never see it: they read [`Episode::signals`].
//!
//! What is true of the whole file (environment, policy, fault, seed) and of each episode (seed, onset, twin, ending) is
//! JSON in the schema's metadata. A checksum in the footer makes a damaged or edited file an error, not a surprise.

mod columns;
mod extend;
mod footer;
mod header;
mod read;
mod write;

pub(crate) use columns::{batch, fields, is_terminal};
pub use extend::existing;
pub use read::{decode, load};
pub use write::{encode, save};

use anyhow::{Result, ensure};
use offnominal_core::prelude::*;
use serde::{Deserialize, Serialize};
use std::path::Path;

/// The version of the file format that this engine writes and reads.
pub const FORMAT: u32 = 1;

/// Episodes with the recipe that recreates them.
#[derive(Debug, Clone, PartialEq)]
pub struct Dataset {
    /// What was played.
    pub recipe: DatasetRecipe,
    /// The episodes in order.
    pub episodes: Vec<Episode>,
    /// For each episode, the index of its nominal twin in this file; `None` for an episode without one.
    pub twins: Vec<Option<usize>>,
}

/// What is true of all episodes of a file.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DatasetRecipe {
    /// Version of the file format.
    pub format: u32,
    /// Version of the engine that played the episodes.
    pub engine: String,
    /// Environment id.
    pub env: String,
    /// Address of the robot on which it was played; `None` for simulations. Files from before there were robots have
    /// no such field.
    #[serde(default)]
    pub robot: Option<String>,
    /// What simulated, with its version, if it was not this program alone. Files from before it was kept have none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub simulator: Option<String>,
    /// Policy that acted.
    pub policy: PolicyName,
    /// The fault that was asked for; `None` for nominal episodes.
    pub anomaly_spec: Option<AnomalySpec>,
    /// The seed given by the user.
    pub seed: u64,
    /// Seconds per step.
    pub dt_secs: f64,
    /// Steps after which the runner ends an episode.
    pub horizon: u32,
    /// Observation channels.
    pub observation: Vec<Column>,
    /// Action channels.
    pub action: Vec<Column>,
}

/// Which policy acted, by name and by content.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PolicyName {
    /// The name by which it was asked for.
    pub id: String,
    /// Digest of its file.
    pub digest: String,
}

impl PolicyName {
    /// The name for results: of a policy that was asked for by its path, the file's name and the beginning of the digest,
    /// so that no result holds a path of a machine, and files of the same name are told apart; the same of a command, and
    /// of a policy of Python whose name has options.
    pub fn label(&self) -> String {
        let digest = &self.digest[..self.digest.len().min(8)];
        // What follows is of one machine.
        if self.id.starts_with("command") && self.id.contains(':') {
            return format!("command-{digest}");
        }
        let python =
            self.id.split_once('?').filter(|(name, _)| name.contains(':') && !name.contains(['/', '\\']));
        if let Some((name, _)) = python {
            return format!("{name}-{digest}");
        }
        // What follows a question mark is said of the file.
        let file = self.id.split('?').next().unwrap_or(&self.id);
        let path = Path::new(file);
        let is_file = file.contains(['/', '\\'])
            || path.extension().is_some_and(|e| {
                ["safetensors", "onnx", "zip", "cleanrl_model", "pt"].iter().any(|known| e == *known)
            });
        if !is_file {
            return self.id.clone();
        }
        let stem = path.file_stem().map_or("policy".into(), |stem| stem.to_string_lossy());
        let stem = stem.replace(|c: char| c.is_control() || c.is_whitespace(), "-");
        format!("{stem}-{digest}")
    }

    /// The same policy under the name for results.
    pub fn portable(&self) -> PolicyName {
        PolicyName { id: self.label(), digest: self.digest.clone() }
    }
}

/// A channel as it is stored: JSON has no infinity, so an absent bound means unbounded.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Column {
    /// Name of the channel.
    pub name: String,
    /// Its unit.
    pub unit: String,
    /// Smallest possible value, if there is one.
    pub low: Option<f64>,
    /// Largest possible value, if there is one.
    pub high: Option<f64>,
    /// Number of choices; 0 for a real number.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub choices: u32,
    /// The image that the channel stands for, if it is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub image: Option<Image>,
}

// Serde hands the field over by reference.
#[allow(clippy::trivially_copy_pass_by_ref)]
fn is_zero(n: &u32) -> bool {
    *n == 0
}

impl Column {
    /// How many numbers the channel is.
    pub fn width(&self) -> usize {
        self.image.map_or(1, |i| i.width())
    }
}

/// How many numbers the channels are together.
fn width(columns: &[Column]) -> usize {
    columns.iter().map(Column::width).fold(0, usize::saturating_add)
}

impl From<&Channel> for Column {
    fn from(channel: &Channel) -> Column {
        let finite = |x: f64| x.is_finite().then_some(x);
        Column {
            name: channel.name.clone(),
            unit: channel.unit.clone(),
            low: finite(channel.low),
            high: finite(channel.high),
            choices: channel.choices,
            image: channel.image,
        }
    }
}

impl DatasetRecipe {
    /// Numbers in an observation.
    pub fn obs_width(&self) -> usize {
        width(&self.observation)
    }

    /// Numbers in a command.
    pub fn act_width(&self) -> usize {
        width(&self.action)
    }

    /// The recipe of episodes of a policy in an environment, played by this engine.
    pub fn new(
        spec: &EnvSpec,
        policy: PolicyName,
        anomaly_spec: Option<AnomalySpec>,
        seed: u64,
    ) -> DatasetRecipe {
        DatasetRecipe {
            format: FORMAT,
            engine: env!("CARGO_PKG_VERSION").into(),
            env: spec.id.clone(),
            robot: None,
            simulator: None,
            policy,
            anomaly_spec,
            seed,
            dt_secs: spec.dt_secs,
            horizon: spec.horizon,
            observation: spec.observation.iter().map(Column::from).collect(),
            action: spec.action.iter().map(Column::from).collect(),
        }
    }
}

/// Checks what every stored episode must fulfil: not empty, as wide as the channels, finite.
///
/// # Errors
/// Names the episode, the column and the row, with what was expected and found.
pub fn check(episode: &Episode, i: usize, recipe: &DatasetRecipe) -> Result<()> {
    let (obs, act) = (recipe.obs_width(), recipe.act_width());
    let why = || episode.divergence.map_or("none".into(), |d| format!("none, as it diverged ({d:?})"));
    ensure!(!episode.is_empty(), "episode {i}: expected at least one step, found {}", why());
    ensure!(
        (episode.obs_width, episode.act_width) == (obs, act),
        "episode {i}: expected {obs} observation and {act} action channels, found {} and {}",
        episode.obs_width,
        episode.act_width
    );
    finite(&episode.observations, obs, "observations", i)?;
    finite(&episode.actions, act, "actions", i)?;
    let rewards = episode.rewards.iter().position(|r| !r.is_finite());
    ensure!(
        rewards.is_none(),
        "episode {i}, rewards, row {}: expected a finite number",
        rewards.unwrap_or(0)
    );
    Ok(())
}

fn finite(values: &[f32], width: usize, column: &str, i: usize) -> Result<()> {
    match values.iter().position(|v| !v.is_finite()) {
        None => Ok(()),
        Some(at) => anyhow::bail!(
            "episode {i}, {column}, row {}, channel {}: expected a finite number, found {}",
            at / width,
            at % width,
            values[at]
        ),
    }
}

#[cfg(test)]
pub(crate) mod tests;

//! The files of a training run.

use crate::policies;
use crate::scenario::Scenario;
use anyhow::{Context, Result};
use offnominal_agents::{Card, Contents, Trainer};
use offnominal_files::write::atomically;
use offnominal_files::{read, sealed};
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};

/// What is to be kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Keepsakes {
    /// Whether the history is written.
    pub history: bool,
    /// Number of policies, at evenly spaced steps; the last one is that of the last step.
    pub checkpoints: u64,
}

/// The folder of a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Folder(PathBuf);

/// What belongs to a checkpoint and the trainer does not know.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Notes {
    /// The command that began the run.
    pub(super) command: String,
    /// Time spent up to the checkpoint.
    pub(super) seconds: f64,
    /// What is kept besides.
    #[serde(default)]
    pub(super) keepsakes: Keepsakes,
    /// What simulates the environment, if Python hosts it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) simulator: Option<String>,
    /// What is drawn of the environment for each episode, if anything is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) scenario: Option<Scenario>,
    /// The policy that plays demonstrations, if it is not the environment's scripted one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) demonstrator: Option<String>,
}

impl Folder {
    /// The folder at a path, which need not exist.
    pub fn new(path: PathBuf) -> Folder {
        Folder(path)
    }

    /// Its path.
    pub fn path(&self) -> &Path {
        &self.0
    }

    /// The trained policy.
    pub fn policy(&self) -> PathBuf {
        self.0.join("policy.safetensors")
    }

    pub(super) fn checkpoint(&self) -> PathBuf {
        self.0.join("checkpoint.safetensors")
    }

    /// What became of the training episodes.
    pub fn history(&self) -> PathBuf {
        self.0.join("history.safetensors")
    }

    /// The policy as it was after so many steps.
    pub fn policy_at(&self, step: u64) -> PathBuf {
        self.0.join("policies").join(format!("{step:09}.safetensors"))
    }

    fn notes(&self) -> PathBuf {
        self.0.join("training.json")
    }

    pub(super) fn has_checkpoint(&self) -> bool {
        self.checkpoint().exists()
    }

    /// The checkpoint and its notes.
    pub(super) fn read(&self) -> Result<(Vec<u8>, Notes)> {
        let bytes = read::bytes(&self.checkpoint()).context("no run to resume")?;
        Ok((bytes, self.read_notes()?))
    }

    fn read_notes(&self) -> Result<Notes> {
        sealed::read(&self.notes())
    }

    /// What is drawn of the environment of the run, if there is one and anything is.
    ///
    /// # Errors
    /// If its notes are damaged.
    pub fn scenario(&self) -> Result<Option<Scenario>> {
        if self.has_checkpoint() { Ok(self.read_notes()?.scenario) } else { Ok(None) }
    }

    /// Replaces the checkpoint; the notes first, as they alone make no run.
    pub(super) fn write(&self, trainer: &Trainer, notes: &Notes) -> Result<()> {
        sealed::write(&self.notes(), notes)?;
        atomically(&self.checkpoint(), &trainer.checkpoint(Contents::Full))
    }

    /// Writes the policy and its card.
    pub(super) fn write_policy(&self, bytes: &[u8], card: &Card) -> Result<()> {
        atomically(&self.policy(), bytes)?;
        policies::write_card(card, &self.policy())
    }
}

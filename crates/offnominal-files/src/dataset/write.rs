//! Writing a dataset: checked first, then encoded whole, then put in place whole.

use crate::dataset::{Dataset, columns, footer};
use anyhow::{Context, Result, ensure};
use arrow_ipc::writer::FileWriter;
use arrow_schema::Schema;
use offnominal_core::prelude::*;
use serde::{Deserialize, Serialize};
use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;

/// What is true of one episode, as JSON in the schema's metadata.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct About {
    pub seed: Seed,
    pub initial: Vec<f64>,
    pub end: End,
    /// Files from before it was kept have none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub divergence: Option<Divergence>,
    pub goal_met: Option<bool>,
    pub onset: Option<u32>,
    pub twin: Option<usize>,
}

/// Writes the file so that it appears whole or not at all.
///
/// # Errors
/// If an episode is empty, not as wide as the channels, or not finite; if the file cannot be written.
pub fn save(dataset: &Dataset, path: &Path) -> Result<()> {
    let bytes = encode(dataset).with_context(|| format!("cannot store the dataset {}", path.display()))?;
    crate::write::atomically(path, &bytes)
}

/// The bytes of the file.
///
/// # Errors
/// If an episode is empty, not as wide as the channels, or not finite.
pub fn encode(dataset: &Dataset) -> Result<Vec<u8>> {
    ensure!(!dataset.episodes.is_empty(), "expected at least one episode, found none");
    ensure!(dataset.twins.len() == dataset.episodes.len(), "expected one twin entry per episode");
    for (i, episode) in dataset.episodes.iter().enumerate() {
        crate::dataset::check(episode, i, &dataset.recipe)?;
    }
    let schema = Arc::new(schema(dataset)?);
    let mut writer = FileWriter::try_new(Vec::new(), &schema)?;
    for episode in &dataset.episodes {
        writer.write(&columns::batch(episode, &schema)?)?;
    }
    let sum = footer::checksum(writer.get_ref(), &schema);
    writer.write_metadata(footer::CHECKSUM, sum);
    writer.finish()?;
    Ok(writer.into_inner()?)
}

fn schema(dataset: &Dataset) -> Result<Schema> {
    let about: Vec<About> = dataset.episodes.iter().zip(&dataset.twins).map(about).collect();
    let metadata = HashMap::from([
        (footer::RECIPE.to_string(), serde_json::to_string(&dataset.recipe)?),
        (footer::EPISODES.to_string(), serde_json::to_string(&about)?),
    ]);
    Ok(Schema::new_with_metadata(columns::fields(&dataset.recipe), metadata))
}

fn about((episode, &twin): (&Episode, &Option<usize>)) -> About {
    About {
        seed: episode.seed,
        initial: episode.initial.clone(),
        end: episode.end,
        divergence: episode.divergence,
        goal_met: episode.goal_met,
        onset: episode.onset,
        twin,
    }
}

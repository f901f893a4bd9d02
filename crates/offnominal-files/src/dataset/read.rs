//! Reading a dataset: nothing is believed that is not checked, and every error names the file and the place.

use crate::dataset::write::About;
use crate::dataset::{Dataset, DatasetRecipe, FORMAT, check, columns, footer};
use anyhow::{Context, Result, ensure};
use arrow_schema::Schema;
use offnominal_core::prelude::*;
use serde::Deserialize;
use std::path::Path;

/// Reads and checks a dataset.
///
/// # Errors
/// If the file cannot be read, is damaged or was edited, has another version, or holds what no run produces.
pub fn load(path: &Path) -> Result<Dataset> {
    let bytes = crate::read::bytes(path)?;
    decode(&bytes).with_context(|| format!("dataset {}", path.display()))
}

/// Reads and checks the bytes of a dataset.
///
/// # Errors
/// As [`load`].
pub fn decode(bytes: &[u8]) -> Result<Dataset> {
    let footer = footer::read(bytes)?;
    footer.verify()?;
    contents(bytes, &footer)
}

/// The episodes of a file whose footer was read.
pub(super) fn contents(bytes: &[u8], footer: &footer::Footer) -> Result<Dataset> {
    let recipe = recipe(&footer.schema)?;
    same_columns(&footer.schema, &recipe)?;
    let about: Vec<About> = parse(&footer.schema, footer::EPISODES)?;
    ensure!(!about.is_empty(), "expected at least one episode, found none");
    ensure!(
        about.len() == footer.len(),
        "expected {} episodes (one batch each), found {} batches",
        about.len(),
        footer.len()
    );
    let twins: Vec<_> = about.iter().map(|a| a.twin).collect();
    let mut episodes = Vec::with_capacity(about.len());
    for (i, (batch, about)) in footer.batches(bytes, &recipe)?.zip(about).enumerate() {
        let content = batch.and_then(|b| columns::content(&b)).with_context(|| format!("episode {i}"))?;
        content.agrees(about.end).with_context(|| format!("episode {i}"))?;
        let episode = assemble(content, about, &recipe);
        check(&episode, i, &recipe)?;
        onset_agrees(&episode, i)?;
        episodes.push(episode);
    }
    ensure!(episodes.len() == twins.len(), "expected {} episodes, found {}", twins.len(), episodes.len());
    twins_agree(&episodes, &twins)?;
    Ok(Dataset { recipe, episodes, twins })
}

/// The version is looked at before anything else, so that a newer file is called newer and not broken.
fn recipe(schema: &Schema) -> Result<DatasetRecipe> {
    #[derive(Deserialize)]
    struct Version {
        format: u32,
    }
    let found = parse::<Version>(schema, footer::RECIPE)?.format;
    ensure!(found == FORMAT, "expected version {FORMAT} of the file format, found {found}");
    let recipe: DatasetRecipe = parse(schema, footer::RECIPE)?;
    let width = 1..=MAX_WIDTH;
    ensure!(
        width.contains(&recipe.obs_width()) && width.contains(&recipe.act_width()),
        "expected between 1 and {MAX_WIDTH} observation and action channels, found {} and {}",
        recipe.obs_width(),
        recipe.act_width()
    );
    Ok(recipe)
}

/// More channels than any vector environment has.
const MAX_WIDTH: usize = 1 << 20;

fn parse<T: serde::de::DeserializeOwned>(schema: &Schema, key: &str) -> Result<T> {
    let text = schema.metadata().get(key);
    let text =
        text.with_context(|| format!("expected {key} in the metadata of the schema, found nothing"))?;
    serde_json::from_str(text).with_context(|| format!("{key} in the metadata of the schema"))
}

fn same_columns(schema: &Schema, recipe: &DatasetRecipe) -> Result<()> {
    let (expected, found) = (columns::fields(recipe), schema.fields());
    let show = |fields: &arrow_schema::Fields| {
        fields.iter().map(|f| format!("{}: {}", f.name(), f.data_type())).collect::<Vec<_>>().join(", ")
    };
    ensure!(*found == expected, "expected the columns {}; found {}", show(&expected), show(found));
    Ok(())
}

fn assemble(content: columns::Content, about: About, recipe: &DatasetRecipe) -> Episode {
    Episode {
        env: recipe.env.clone(),
        seed: about.seed,
        initial: about.initial,
        anomaly_spec: about.onset.and(recipe.anomaly_spec.clone()),
        onset: about.onset,
        observations: content.observations,
        actions: content.actions,
        rewards: content.rewards,
        labels: content.labels,
        end: about.end,
        divergence: about.divergence,
        goal_met: about.goal_met,
        obs_width: recipe.obs_width(),
        act_width: recipe.act_width(),
    }
}

/// A label before the onset, or without one, is a contradiction.
fn onset_agrees(episode: &Episode, i: usize) -> Result<()> {
    ensure!(
        episode.onset.is_none() || episode.anomaly_spec.is_some(),
        "episode {i}: expected no onset in a file without a fault, found one"
    );
    let first = episode.labels.iter().position(|&l| l);
    let onset = episode.onset.map(|o| o as usize);
    ensure!(
        first.is_none_or(|t| onset.is_some_and(|onset| onset <= t)),
        "episode {i}, label, row {}: expected no anomalous step before the onset ({}), found one",
        first.unwrap_or(0),
        onset.map_or("none".into(), |o| o.to_string())
    );
    Ok(())
}

/// A twin lies in the file, is nominal, and began alike.
fn twins_agree(episodes: &[Episode], twins: &[Option<usize>]) -> Result<()> {
    for (i, twin) in twins.iter().enumerate() {
        let Some(twin) = *twin else { continue };
        let there = episodes.get(twin);
        let there = there.with_context(|| {
            format!("episode {i}: expected a twin below {}, found {twin}", episodes.len())
        })?;
        ensure!(
            there.onset.is_none(),
            "episode {i}: expected a nominal twin, but episode {twin} is anomalous"
        );
        ensure!(
            there.seed == episodes[i].seed,
            "episode {i}: expected a twin with the same seed {}, found {}",
            episodes[i].seed.0,
            there.seed.0
        );
    }
    Ok(())
}

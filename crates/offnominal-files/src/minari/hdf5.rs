//! Minari's HDF5 layout: one group per episode with its datasets and attributes.

use crate::dataset::{Column, Dataset, DatasetRecipe, is_terminal};
use crate::minari::metadata;
use anyhow::{Context, Result};
use hdf5_pure::{AttrValue, EnumTypeBuilder, FileBuilder, GroupBuilder};
use offnominal_core::prelude::*;
use serde_json::Value;

/// The bytes of `main_data.hdf5`.
pub(super) fn encode(dataset: &Dataset) -> Result<Vec<u8>> {
    let mut file = FileBuilder::new();
    for (i, episode) in dataset.episodes.iter().enumerate() {
        let mut group = file.create_group(&format!("episode_{i}"));
        attributes(&mut group, metadata::episode(dataset, i));
        numbers(&mut group, episode, &dataset.recipe);
        flags(&mut group, episode)?;
        file.add_group(group.finish());
    }
    file.finish().context("cannot lay out the HDF5 file")
}

fn attributes(group: &mut GroupBuilder, about: Value) {
    let Value::Object(about) = about else { return };
    for (key, value) in about {
        if let Some(value) = attribute(value) {
            group.set_attr(&key, value);
        }
    }
}

/// HDF5 attributes are numbers, texts and lists of numbers.
fn attribute(value: Value) -> Option<AttrValue> {
    match value {
        Value::Number(n) => n.as_i64().map(AttrValue::I64).or(n.as_u64().map(AttrValue::U64)),
        Value::Bool(flag) => Some(AttrValue::I64(flag.into())),
        Value::String(text) => Some(AttrValue::String(text)),
        Value::Array(items) => Some(AttrValue::F64Array(items.iter().filter_map(Value::as_f64).collect())),
        Value::Null | Value::Object(_) => None,
    }
}

fn numbers(group: &mut GroupBuilder, episode: &Episode, recipe: &DatasetRecipe) {
    let shape = |rows: usize, columns: &[Column]| -> Vec<u64> {
        std::iter::once(rows).chain(metadata::shape(columns)).map(|n| n as u64).collect()
    };
    let steps = episode.len();
    group
        .create_dataset("observations")
        .with_f32_data(&episode.observations)
        .with_shape(&shape(steps + 1, &recipe.observation));
    let commands = group.create_dataset("actions");
    if metadata::only_choice(&recipe.action).is_some() {
        commands.with_i64_data(&metadata::choices(episode));
    } else {
        commands.with_f32_data(&episode.actions).with_shape(&shape(steps, &recipe.action));
    }
    group.create_dataset("rewards").with_f64_data(&episode.rewards);
}

fn flags(group: &mut GroupBuilder, episode: &Episode) -> Result<()> {
    let last = |flag: bool| (1..=episode.len()).map(|t| flag && t == episode.len()).collect::<Vec<_>>();
    let terminal = is_terminal(episode.end);
    booleans(group, "terminations", &last(terminal))?;
    booleans(group, "truncations", &last(!terminal))?;
    let mut infos = group.create_group("infos");
    booleans(&mut infos, "label", &metadata::labels(episode))?;
    group.add_group(infos.finish());
    Ok(())
}

/// h5py's convention: an enumeration of FALSE and TRUE over eight bits.
fn booleans(group: &mut GroupBuilder, name: &str, values: &[bool]) -> Result<()> {
    let kind = EnumTypeBuilder::u8_based().u8_value("FALSE", 0).u8_value("TRUE", 1).build()?;
    let values: Vec<u8> = values.iter().map(|&v| v.into()).collect();
    group.create_dataset(name).with_enum_u8_data(kind, &values);
    Ok(())
}

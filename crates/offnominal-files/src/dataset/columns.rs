//! The columns of the file: an episode as a record batch, and back.

use crate::dataset::DatasetRecipe;
use anyhow::{Context, Result, ensure};
use arrow_array::cast::AsArray;
use arrow_array::types::{Float32Type, Float64Type};
use arrow_array::{
    Array, ArrayRef, BooleanArray, FixedSizeListArray, Float32Array, Float64Array, RecordBatch,
};
use arrow_schema::{DataType, Field, Fields, Schema};
use offnominal_core::prelude::*;
use std::sync::Arc;

/// The five columns of Minari and our label.
pub(crate) fn fields(recipe: &DatasetRecipe) -> Fields {
    let list = |width: usize| DataType::FixedSizeList(Arc::new(item()), width as i32);
    Fields::from(vec![
        Field::new("observations", list(recipe.obs_width()), false),
        Field::new("actions", list(recipe.act_width()), false),
        Field::new("rewards", DataType::Float64, false),
        Field::new("terminations", DataType::Boolean, false),
        Field::new("truncations", DataType::Boolean, false),
        Field::new("label", DataType::Boolean, false),
    ])
}

fn item() -> Field {
    Field::new("item", DataType::Float32, false)
}

/// An episode as a batch of T + 1 rows.
pub(crate) fn batch(episode: &Episode, schema: &Arc<Schema>) -> Result<RecordBatch> {
    let columns: Vec<ArrayRef> = vec![
        rows(episode.observations.clone(), episode.obs_width)?,
        rows(padded(&episode.actions, episode.act_width, 0.0), episode.act_width)?,
        Arc::new(Float64Array::from(padded(&episode.rewards, 1, 0.0))),
        Arc::new(BooleanArray::from(last_step(episode, is_terminal(episode.end)))),
        Arc::new(BooleanArray::from(last_step(episode, !is_terminal(episode.end)))),
        Arc::new(BooleanArray::from(padded(&episode.labels, 1, false))),
    ];
    Ok(RecordBatch::try_new(schema.clone(), columns)?)
}

/// Whether the environment itself ended the episode (a termination) or the runner did (a truncation).
pub(crate) fn is_terminal(end: End) -> bool {
    matches!(end, End::Succeeded | End::Failed | End::Ended)
}

fn rows(values: Vec<f32>, width: usize) -> Result<ArrayRef> {
    let values = Arc::new(Float32Array::from(values));
    Ok(Arc::new(FixedSizeListArray::try_new(Arc::new(item()), width as i32, values, None)?))
}

fn padded<T: Copy>(values: &[T], width: usize, padding: T) -> Vec<T> {
    values.iter().copied().chain(std::iter::repeat_n(padding, width)).collect()
}

fn last_step(episode: &Episode, flag: bool) -> Vec<bool> {
    (0..=episode.len()).map(|t| flag && t + 1 == episode.len()).collect()
}

/// What the columns of one episode hold.
pub(super) struct Content {
    pub observations: Vec<f32>,
    pub actions: Vec<f32>,
    pub rewards: Vec<f64>,
    pub labels: Vec<bool>,
    terminal: Option<bool>,
}

/// Reads the columns of one batch, whose schema is known to be right.
pub(super) fn content(batch: &RecordBatch) -> Result<Content> {
    for (field, column) in batch.schema_ref().fields().iter().zip(batch.columns()) {
        ensure!(
            column.null_count() == 0,
            "{}: expected no missing value, found {}",
            field.name(),
            column.null_count()
        );
    }
    let steps = batch
        .num_rows()
        .checked_sub(1)
        .filter(|&t| t > 0)
        .context("expected at least one step, found none")?;
    Ok(Content {
        observations: numbers(batch.column(0))?,
        actions: shortened(numbers(batch.column(1))?, steps, batch.num_rows()),
        rewards: shortened(
            batch.column(2).as_primitive::<Float64Type>().values().to_vec(),
            steps,
            batch.num_rows(),
        ),
        labels: shortened(flags(batch.column(5)), steps, batch.num_rows()),
        terminal: ending(&flags(batch.column(3)), &flags(batch.column(4)), steps),
    })
}

/// The flat numbers of a column of rows.
fn numbers(column: &ArrayRef) -> Result<Vec<f32>> {
    let values = column.as_fixed_size_list().values();
    ensure!(values.null_count() == 0, "expected no missing value, found {}", values.null_count());
    Ok(values.as_primitive::<Float32Type>().values().to_vec())
}

fn flags(column: &ArrayRef) -> Vec<bool> {
    column.as_boolean().values().iter().collect()
}

/// Drops the padding.
fn shortened<T>(mut values: Vec<T>, steps: usize, rows: usize) -> Vec<T> {
    values.truncate(values.len() / rows * steps);
    values
}

/// Whether the last step, and no other, is marked as a termination or as a truncation.
fn ending(terminations: &[bool], truncations: &[bool], steps: usize) -> Option<bool> {
    let marked = |flags: &[bool]| flags.iter().position(|&f| f);
    let last = Some(steps - 1);
    match (marked(terminations), marked(truncations)) {
        (at, None) if at == last => Some(true),
        (None, at) if at == last => Some(false),
        _ => None,
    }
}

impl Content {
    /// Checks that the flags of the last step say what the metadata says.
    pub(super) fn agrees(&self, end: End) -> Result<()> {
        ensure!(
            self.terminal == Some(is_terminal(end)),
            "terminations and truncations: expected the last step alone to be marked as {end:?}, found another marking"
        );
        Ok(())
    }
}

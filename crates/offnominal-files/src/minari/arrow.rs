//! Minari's Arrow layout: one folder per episode with one file of one batch.
//!
//! Minari 0.5.4 takes the k-th record batch of its scan for the k-th episode, and the scan splits batches of more than
//! 131,072 rows: longer episodes would come back cut, so they are refused here.

use crate::dataset::{Dataset, batch, fields};
use crate::minari::metadata;
use anyhow::{Result, ensure};
use arrow_array::{ArrayRef, BooleanArray, Int64Array, RecordBatch, StructArray};
use arrow_ipc::writer::FileWriter;
use arrow_schema::{DataType, Field, Fields, Schema};
use std::path::Path;
use std::sync::Arc;

/// The longest episode that Minari reads back whole.
const LONGEST: usize = 131_071;

/// The column of commands.
const ACTIONS: usize = 1;

/// Writes the episodes and returns the number of bytes.
pub(super) fn write(dataset: &Dataset, data: &Path) -> Result<usize> {
    let mut total = 0;
    for (i, episode) in dataset.episodes.iter().enumerate() {
        let steps = episode.len();
        ensure!(
            steps <= LONGEST,
            "episode {i}: expected at most {LONGEST} steps, found {steps}: Minari would cut it; export as hdf5 instead"
        );
        let bytes = encode(dataset, i)?;
        total += bytes.len();
        crate::write::atomically(&data.join(format!("{i}/part-0.arrow")), &bytes)?;
        let about = serde_json::to_vec(&metadata::episode(dataset, i))?;
        total += about.len();
        crate::write::atomically(&data.join(format!("{i}/metadata.json")), &about)?;
    }
    Ok(total)
}

/// The columns with the commands of a discrete space as whole numbers; the row after the last command is padding.
fn with_choices(
    dataset: &Dataset,
    i: usize,
    fields: Fields,
    mut columns: Vec<ArrayRef>,
) -> (Fields, Vec<ArrayRef>) {
    if metadata::only_choice(&dataset.recipe.action).is_none() {
        return (fields, columns);
    }
    let mut chosen = metadata::choices(&dataset.episodes[i]);
    chosen.push(0);
    columns[ACTIONS] = Arc::new(Int64Array::from(chosen));
    let field = |(k, f): (usize, &Arc<Field>)| match k {
        ACTIONS => Arc::new(Field::new("actions", DataType::Int64, false)),
        _ => f.clone(),
    };
    (fields.iter().enumerate().map(field).collect(), columns)
}

/// Our own columns, but with the label inside `infos`.
fn encode(dataset: &Dataset, i: usize) -> Result<Vec<u8>> {
    let ours = fields(&dataset.recipe);
    let plain = batch(&dataset.episodes[i], &Arc::new(Schema::new(ours.clone())))?;
    let (ours, columns) = with_choices(dataset, i, ours, plain.columns().to_vec());
    let label = Fields::from(vec![Field::new("label", DataType::Boolean, false)]);
    let labels: ArrayRef = Arc::new(BooleanArray::from(metadata::labels(&dataset.episodes[i])));
    let n = ours.len() - 1;
    let infos = Arc::new(Field::new("infos", DataType::Struct(label.clone()), false));
    let schema = Arc::new(Schema::new(ours.iter().take(n).cloned().chain([infos]).collect::<Fields>()));
    let mut columns = columns[..n].to_vec();
    columns.push(Arc::new(StructArray::try_new(label, vec![labels], None)?));
    let mut writer = FileWriter::try_new(Vec::new(), &schema)?;
    writer.write(&RecordBatch::try_new(schema, columns)?)?;
    writer.finish()?;
    Ok(writer.into_inner()?)
}

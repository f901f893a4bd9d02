//! The header of a record batch, checked before the batch is decoded.
//!
//! The decoder trusts the places and lengths that a header gives and stops the program when they are wrong. Here they
//! are compared with the bytes that are there and with the columns that the recipe promises.

use crate::dataset::DatasetRecipe;
use anyhow::{Context, Result, ensure};
use arrow_ipc::{FieldNode, Message, RecordBatch};

/// Buffers of one batch: validity and values of four flat columns, and of two columns of rows with their items.
const N_BUFFERS: usize = 4 * 2 + 2 * 3;

/// Checks one batch, `message` being its header and `body` the number of bytes of its body.
pub(super) fn check(message: &[u8], body: i64, recipe: &DatasetRecipe) -> Result<()> {
    let message = parse(message)?;
    let batch =
        message.header_as_record_batch().context("expected a batch of rows, found another message")?;
    ensure!(message.bodyLength() == body, "expected a body of {body} bytes, found {}", message.bodyLength());
    ensure!(batch.compression().is_none(), "expected no compression, found some");
    lengths(&batch, recipe)?;
    buffers(&batch, body)
}

fn parse(message: &[u8]) -> Result<Message<'_>> {
    let marked = message.get(..4).context("the header is cut off")? == [0xff; 4];
    let start = if marked { 8 } else { 4 };
    let message = message.get(start..).context("the header is cut off")?;
    arrow_ipc::root_as_message(message).map_err(|e| anyhow::anyhow!("the header is damaged: {e}"))
}

/// Every column has as many rows as the batch, and the items of a row as many as the channels.
fn lengths(batch: &RecordBatch<'_>, recipe: &DatasetRecipe) -> Result<()> {
    let rows = batch.length();
    let items = |width: usize| rows.checked_mul(width as i64);
    let wanted = [Some(rows), items(recipe.obs_width()), Some(rows), items(recipe.act_width())];
    let wanted = wanted.into_iter().chain([Some(rows); 4]);
    let nodes: Vec<&FieldNode> = batch.nodes().iter().flatten().collect();
    ensure!(
        rows >= 0 && nodes.iter().map(|n| Some(n.length())).eq(wanted),
        "expected columns of {rows} rows, found columns of other lengths"
    );
    ensure!(nodes.iter().all(|n| n.null_count() == 0), "expected no missing value, found some");
    Ok(())
}

fn buffers(batch: &RecordBatch<'_>, body: i64) -> Result<()> {
    let found = batch.buffers().map_or(0, |b| b.len());
    ensure!(found == N_BUFFERS, "expected {N_BUFFERS} buffers, found {found}");
    for buffer in batch.buffers().iter().flatten() {
        let end = buffer.offset().checked_add(buffer.length());
        ensure!(
            buffer.offset() >= 0 && buffer.length() >= 0 && end.is_some_and(|end| end <= body),
            "expected buffers inside the body of {body} bytes, found one outside"
        );
    }
    Ok(())
}

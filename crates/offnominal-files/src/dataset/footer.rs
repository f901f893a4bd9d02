//! The footer of an Arrow file, read with suspicion: where the batches lie, what the schema says, and the checksum.
//!
//! Every offset is checked against the length of the file before anything is allocated or sliced.

use crate::dataset::{DatasetRecipe, header};
use anyhow::{Context, Result, ensure};
use arrow_array::RecordBatch;
use arrow_ipc::Block;
use arrow_ipc::reader::{FileReader, read_footer_length};
use arrow_schema::Schema;
use std::io::Cursor;
use std::ops::Range;

const MAGIC: &[u8] = b"ARROW1";
/// Key of the checksum in the footer's own metadata.
pub(super) const CHECKSUM: &str = "offnominal.crc32c";
/// Keys of the recipe and of the episodes in the schema's metadata.
pub(super) const RECIPE: &str = "offnominal.recipe";
pub(super) const EPISODES: &str = "offnominal.episodes";

/// What the footer says, checked.
pub(super) struct Footer {
    pub schema: Schema,
    blocks: Vec<Block>,
    stored: Option<String>,
    found: String,
}

/// Reads and checks the footer of a whole file.
pub(super) fn read(bytes: &[u8]) -> Result<Footer> {
    let range = range(bytes)?;
    let start = range.start;
    let footer = arrow_ipc::root_as_footer(&bytes[range])
        .map_err(|e| anyhow::anyhow!("the footer is damaged: {e}"))?;
    ensure!(footer.dictionaries().is_none_or(|d| d.is_empty()), "expected no dictionaries, found some");
    let blocks: Vec<Block> = footer.recordBatches().iter().flatten().copied().collect();
    let schema = footer.schema().context("the footer is damaged: expected a schema, found none")?;
    let schema = arrow_ipc::convert::try_fb_to_schema(schema).context("the schema is damaged")?;
    let end =
        blocks.iter().try_fold(0, |end, block| Ok::<_, anyhow::Error>(end.max(span(block, start)?.end)))?;
    let pairs = footer.custom_metadata();
    let stored =
        pairs.and_then(|pairs| pairs.iter().find(|p| p.key() == Some(CHECKSUM))).and_then(|p| p.value());
    let found = checksum(&bytes[..end], &schema);
    Ok(Footer { blocks, stored: stored.map(str::to_string), found, schema })
}

/// Where the footer lies: before its length and the closing magic.
fn range(bytes: &[u8]) -> Result<Range<usize>> {
    ensure!(
        bytes.len() > 2 * MAGIC.len() + 6 && bytes.starts_with(MAGIC),
        "expected an Arrow IPC file (it begins with ARROW1), found {}",
        if bytes.is_empty() { "an empty file" } else { "something else" }
    );
    let tail = bytes.len() - 10;
    let trailer: [u8; 10] = bytes[tail..].try_into().expect("ten bytes");
    let length = read_footer_length(trailer)
        .context("expected the closing ARROW1 at the end, found none: the file is truncated")?;
    let start = tail.checked_sub(length).context("the footer is damaged: it is longer than the file")?;
    Ok(start..tail)
}

/// Where a block lies; it must end before the footer.
fn span(block: &Block, footer: usize) -> Result<Range<usize>> {
    let parts = (
        usize::try_from(block.offset()),
        usize::try_from(block.metaDataLength()),
        usize::try_from(block.bodyLength()),
    );
    let (Ok(start), Ok(meta), Ok(body)) = parts else {
        anyhow::bail!("the footer is damaged: a batch has a negative place or length");
    };
    ensure!(meta >= 8, "the footer is damaged: a batch without a header");
    let end = start.checked_add(meta).and_then(|e| e.checked_add(body)).filter(|&e| e <= footer);
    Ok(start..end.context("the footer is damaged: a batch lies outside the file")?)
}

/// Checksum of everything before the footer and of the metadata that the footer repeats.
pub(super) fn checksum(body: &[u8], schema: &Schema) -> String {
    let mut sum = crc32c::crc32c(body);
    for key in [RECIPE, EPISODES] {
        sum = crc32c::crc32c_append(sum, schema.metadata().get(key).map_or(&[][..], |v| v.as_bytes()));
    }
    format!("{sum:08x}")
}

impl Footer {
    /// Compares the stored checksum with that of the content.
    pub(super) fn verify(&self) -> Result<()> {
        let stored = self.stored.as_ref().context(
            "expected the checksum that Offnominal writes, found none: the file was made or edited by another program",
        )?;
        let found = &self.found;
        ensure!(
            stored == found,
            "expected the checksum {stored}, found {found}: the file was damaged or edited"
        );
        Ok(())
    }

    /// Number of batches.
    pub(super) fn len(&self) -> usize {
        self.blocks.len()
    }

    /// The batches in order, each with its header checked before it is decoded.
    pub(super) fn batches(
        &self,
        bytes: &[u8],
        recipe: &DatasetRecipe,
    ) -> Result<impl Iterator<Item = Result<RecordBatch>>> {
        let mut reader = FileReader::try_new(Cursor::new(bytes), None)?;
        Ok(self.blocks.iter().map(move |block| {
            let message = block.offset() as usize..block.offset() as usize + block.metaDataLength() as usize;
            header::check(&bytes[message], block.bodyLength(), recipe)?;
            Ok(reader.next().context("expected another batch, found none")??)
        }))
    }
}

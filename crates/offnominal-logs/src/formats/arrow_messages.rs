//! The messages of an Arrow stream. Each is checked against the bytes that are there before it is decoded: the decoder
//! believes what a message declares, and panics or asks for gigabytes where that is wrong.
//!
//! An Arrow file is a stream between two marks, so it is read as one.

use anyhow::{Context, Result, bail, ensure};
use arrow_array::{ArrayRef, RecordBatch};
use arrow_buffer::Buffer;
use arrow_ipc::convert::try_fb_to_schema;
use arrow_ipc::reader::{read_dictionary, read_record_batch};
use arrow_ipc::{Message, MetadataVersion, root_as_message};
use arrow_schema::{Schema, SchemaRef};
use std::collections::HashMap;
use std::io::{BufRead, Read};

const FILE: &[u8] = b"ARROW1\0\0";
const CONTINUATION: [u8; 4] = [0xff; 4];

/// Bytes of the description of a message, at most.
const MOST_METADATA: usize = 64 << 20;
/// A compressed buffer may become so large, or so many times its size.
const MOST_DECOMPRESSED: u64 = 256 << 20;
const MOST_TIMES: u64 = 256;
/// Rows of a batch whose columns take no bytes.
const MOST_EMPTY_ROWS: u64 = 1 << 20;

/// Some writers, ours among them, begin the first message at a multiple of 64 bytes.
fn pass_padding(from: &mut impl BufRead) -> Result<()> {
    let mut eight = [0; 8];
    for _ in 1..8 {
        if from.fill_buf()?.first() != Some(&0) {
            break;
        }
        from.read_exact(&mut eight).context("expected a message")?;
        ensure!(eight == [0; 8], "expected zeros before the first message, found {eight:02x?}");
    }
    Ok(())
}

/// The batches of a stream.
pub struct Batches<R> {
    from: R,
    /// Whether the stream lies in a file, and so has a mark at its end.
    is_file: bool,
    schema: SchemaRef,
    /// The columns that are decoded.
    columns: Vec<usize>,
    dictionaries: HashMap<i64, ArrayRef>,
    n: usize,
}

impl<R: BufRead> Batches<R> {
    /// Reads the schema; of its columns those are decoded that `columns` names.
    ///
    /// # Errors
    /// If there is none, or it is damaged.
    pub fn open(mut from: R, columns: impl Fn(&Schema) -> Vec<usize>) -> Result<Batches<R>> {
        let is_file = from.fill_buf()?.starts_with(&FILE[..6]);
        if is_file {
            from.read_exact(&mut [0; FILE.len()]).context("expected an Arrow file")?;
            pass_padding(&mut from)?;
        }
        let empty = SchemaRef::new(Schema::empty());
        let (none, dictionaries) = (Vec::new(), HashMap::new());
        let mut batches = Batches { from, is_file, schema: empty, columns: none, dictionaries, n: 0 };
        let (metadata, _) = batches.message()?.context("expected a schema, found the end")?;
        let message = described(&metadata)?;
        let schema = message.header_as_schema().context("expected a schema first, found another message")?;
        batches.schema = SchemaRef::new(try_fb_to_schema(schema)?);
        batches.columns = columns(&batches.schema);
        Ok(batches)
    }

    /// All columns of the stream.
    pub fn schema(&self) -> &Schema {
        &self.schema
    }

    /// The next batch, with those columns whose type can be read.
    ///
    /// # Errors
    /// If a message is damaged, or the stream ends within one.
    pub fn next(&mut self) -> Result<Option<RecordBatch>> {
        loop {
            self.n += 1;
            let n = self.n;
            let place = || format!("message {n}");
            let Some((metadata, body)) = self.message().with_context(place)? else { return Ok(None) };
            let decoded = described(&metadata).and_then(|message| self.decode(message, &body));
            if let Some(batch) = decoded.with_context(place)? {
                return Ok(Some(batch));
            }
        }
    }

    /// The batch of a message; a dictionary is kept for those that follow.
    fn decode(&mut self, message: Message<'_>, body: &Buffer) -> Result<Option<RecordBatch>> {
        let version: MetadataVersion = message.version();
        if let Some(batch) = message.header_as_record_batch() {
            check(batch, body)?;
            let (schema, columns) = (self.schema.clone(), Some(&self.columns[..]));
            return Ok(Some(read_record_batch(body, batch, schema, &self.dictionaries, columns, &version)?));
        }
        if let Some(dictionary) = message.header_as_dictionary_batch() {
            check(dictionary.data().context("expected the data of a dictionary, found none")?, body)?;
            read_dictionary(body, dictionary, &self.schema, &mut self.dictionaries, &version)?;
            return Ok(None);
        }
        bail!("expected a batch or a dictionary, found {:?}", message.header_type())
    }

    /// The description of the next message, and its body; `None` at the end of the stream.
    fn message(&mut self) -> Result<Option<(Vec<u8>, Buffer)>> {
        let mut mark = [0; 4];
        if self.from.fill_buf()?.is_empty() {
            ensure!(!self.is_file, "expected a mark at the end, found the end of the file: it was cut off");
            return Ok(None);
        }
        self.from.read_exact(&mut mark).context("expected a message")?;
        ensure!(mark == CONTINUATION, "expected the mark of a message, found {mark:02x?}");
        self.from.read_exact(&mut mark).context("expected the length of a message")?;
        let length = u32::from_le_bytes(mark) as usize;
        if length == 0 {
            return Ok(None);
        }
        ensure!(
            length <= MOST_METADATA,
            "expected a description of at most {MOST_METADATA} bytes, found {length}"
        );
        let metadata = self.bytes(length as u64)?;
        let body = u64::try_from(described(&metadata)?.bodyLength()).context("length of the body")?;
        let body = self.bytes(body)?;
        Ok(Some((metadata, Buffer::from_vec(body))))
    }

    /// So many bytes. The memory grows with what there is, not with what was declared.
    fn bytes(&mut self, length: u64) -> Result<Vec<u8>> {
        let mut bytes = Vec::new();
        (&mut self.from).take(length).read_to_end(&mut bytes)?;
        ensure!(
            bytes.len() as u64 == length,
            "expected {length} bytes, found {}: it was cut off",
            bytes.len()
        );
        Ok(bytes)
    }
}

fn described(metadata: &[u8]) -> Result<Message<'_>> {
    root_as_message(metadata).map_err(|why| anyhow::anyhow!("expected the description of a message: {why}"))
}

/// Checks what a batch declares.
fn check(batch: arrow_ipc::RecordBatch<'_>, body: &Buffer) -> Result<()> {
    let mut total = 0;
    for buffer in batch.buffers().into_iter().flatten() {
        total += length(*buffer, body, batch.compression().is_some())?;
        let most = MOST_DECOMPRESSED.saturating_mul(4).max(MOST_TIMES * body.len() as u64);
        ensure!(total <= most, "expected at most {most} bytes in a batch, found more");
    }
    let most = MOST_EMPTY_ROWS.max(8 * total);
    let is_possible = |n: i64| u64::try_from(n).is_ok_and(|n| n <= most);
    ensure!(is_possible(batch.length()), "expected at most {most} rows, found {}", batch.length());
    for node in batch.nodes().into_iter().flatten() {
        let (length, nulls) = (node.length(), node.null_count());
        ensure!(is_possible(length), "expected at most {most} values in {total} bytes, found {length}");
        ensure!((0..=length).contains(&nulls), "expected at most {length} missing values, found {nulls}");
    }
    Ok(())
}

/// The bytes of a buffer once it is decompressed.
fn length(buffer: arrow_ipc::Buffer, body: &Buffer, is_compressed: bool) -> Result<u64> {
    let place = || {
        let from = usize::try_from(buffer.offset()).ok()?;
        let to = from.checked_add(usize::try_from(buffer.length()).ok()?)?;
        body.as_slice().get(from..to)
    };
    let found = || format!("found {} from {} on", buffer.length(), buffer.offset());
    let bytes =
        place().with_context(|| format!("expected a buffer within {} bytes, {}", body.len(), found()))?;
    if !is_compressed || bytes.is_empty() {
        return Ok(bytes.len() as u64);
    }
    let head = bytes.first_chunk::<8>().context("expected the size of a compressed buffer, found less")?;
    match i64::from_le_bytes(*head) {
        -1 => Ok(bytes.len() as u64),
        declared => {
            let most = MOST_DECOMPRESSED.max(MOST_TIMES * bytes.len() as u64);
            let size = u64::try_from(declared).ok().filter(|&size| size <= most);
            size.with_context(|| format!("expected at most {most} bytes in a buffer, found {declared}"))
        }
    }
}

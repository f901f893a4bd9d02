//! The messages of an Arrow stream. Each is checked against the bytes that are there before it is decoded: the decoder
//! believes what a message declares, and panics or asks for gigabytes where that is wrong.
//!
//! An Arrow file is read by its footer, which has the schema and says where each batch lies; one that was cut off has none, and
//! is read as the stream that it is with most writers.

use crate::record::Sink;
use anyhow::{Context, Result, anyhow, bail, ensure};
use arrow_array::{ArrayRef, RecordBatch};
use arrow_buffer::Buffer;
use arrow_ipc::convert::try_fb_to_schema;
use arrow_ipc::reader::{read_dictionary, read_record_batch};
use arrow_ipc::{Block, Message, MetadataVersion, root_as_footer, root_as_message};
use arrow_schema::{Schema, SchemaRef};
use offnominal_files::parquet_pages::Bounded;
use parquet::file::reader::{ChunkReader, Length};
use std::collections::HashMap;
use std::io::{BufRead, Read};
use std::panic::{AssertUnwindSafe, catch_unwind};

const FILE: &[u8] = b"ARROW1\0\0";
const CONTINUATION: [u8; 4] = [0xff; 4];
/// Bytes after the footer: its length and the mark.
const TAIL: u64 = 10;

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

/// Reads the message at a place: its description and its body.
type ReadAt<'f> = Box<dyn Fn(Place) -> Result<(Vec<u8>, Buffer)> + 'f>;

/// Where messages come from.
enum From<'f> {
    /// One after the other; whether the stream lies in a file, and so has a mark at its end.
    Stream(Box<dyn BufRead + 'f>, bool),
    /// As the footer says.
    Footer(ReadAt<'f>, std::vec::IntoIter<Place>),
}

/// Where a message lies, the length of its description and that of its body.
#[derive(Clone, Copy)]
struct Place {
    from: u64,
    metadata: usize,
    body: usize,
}

/// The batches of a stream or file.
pub struct Batches<'f> {
    from: From<'f>,
    schema: SchemaRef,
    /// The columns that are decoded.
    columns: Vec<usize>,
    dictionaries: HashMap<i64, ArrayRef>,
    n: usize,
}

impl<'f> Batches<'f> {
    /// Reads the schema; of its columns those are decoded that `columns` names.
    ///
    /// # Errors
    /// If there is none, or it is damaged.
    pub fn open(mut from: impl BufRead + 'f, columns: impl Fn(&Schema) -> Vec<usize>) -> Result<Batches<'f>> {
        let is_file = from.fill_buf()?.starts_with(&FILE[..6]);
        if is_file {
            from.read_exact(&mut [0; FILE.len()]).context("expected an Arrow file")?;
            pass_padding(&mut from)?;
        }
        let (schema, from) = (SchemaRef::new(Schema::empty()), From::Stream(Box::new(from), is_file));
        let mut batches = Batches { from, schema, columns: Vec::new(), dictionaries: HashMap::new(), n: 0 };
        let (metadata, _) = batches.message()?.context("expected a schema, found the end")?;
        let message = described(&metadata)?;
        let schema = message.header_as_schema().context("expected a schema first, found another message")?;
        batches.schema = SchemaRef::new(try_fb_to_schema(schema)?);
        batches.columns = columns(&batches.schema);
        Ok(batches)
    }

    /// Reads the footer of a file.
    ///
    /// # Errors
    /// If there is none, or it is damaged.
    pub fn of_file(
        file: Bounded<impl ChunkReader + 'f>,
        columns: impl Fn(&Schema) -> Vec<usize>,
    ) -> Result<Batches<'f>> {
        let length = Length::len(&file);
        let tail = file.get_bytes(length.saturating_sub(TAIL), TAIL as usize)?;
        ensure!(tail[4..] == FILE[..6], "expected the mark of a file at its end, found {:02x?}", &tail[4..]);
        let size = u64::from(u32::from_le_bytes([tail[0], tail[1], tail[2], tail[3]]));
        ensure!(
            size <= MOST_METADATA as u64,
            "expected a footer of at most {MOST_METADATA} bytes, found {size}"
        );
        let from = length.checked_sub(TAIL + size).context("expected a footer within the file")?;
        let bytes = file.get_bytes(from, size as usize)?;
        let footer = root_as_footer(&bytes).map_err(|why| anyhow!("expected a footer: {why}"))?;
        let schema =
            try_fb_to_schema(footer.schema().context("expected a schema in the footer, found none")?)?;
        let blocks = footer.dictionaries().into_iter().chain(footer.recordBatches()).flatten();
        let places = blocks.map(Place::of).collect::<Result<Vec<_>>>()?;
        let read = move |place: Place| {
            let bytes = file.get_bytes(place.from, place.metadata)?;
            // Older writers have no mark before the length.
            let head = if bytes.starts_with(&CONTINUATION) { 8 } else { 4 };
            let metadata =
                bytes.get(head..).context("expected the description of a message, found less")?.to_vec();
            let body = file.get_bytes(place.from + place.metadata as u64, place.body)?;
            Ok((metadata, Buffer::from(body.as_ref())))
        };
        Ok(Batches {
            from: From::Footer(Box::new(read), places.into_iter()),
            columns: columns(&schema),
            schema: SchemaRef::new(schema),
            dictionaries: HashMap::new(),
            n: 0,
        })
    }

    /// All columns of the stream.
    pub fn schema(&self) -> &Schema {
        &self.schema
    }

    /// The next batch, with those columns whose type can be read. A message that is damaged is lost, and so is the rest of a
    /// stream that ends within one.
    ///
    /// # Errors
    /// If the sink accepts no loss.
    pub fn next(&mut self, sink: &mut dyn Sink) -> Result<Option<RecordBatch>> {
        loop {
            self.n += 1;
            let n = self.n;
            let (metadata, body) = match self.message() {
                Ok(Some(found)) => found,
                Ok(None) => return Ok(None),
                Err(why) => {
                    sink.lost(None, "the rest of the file", &format!("from message {n} on: {why:#}"))?;
                    return Ok(None);
                }
            };
            match decoded(|| described(&metadata).and_then(|message| self.decode(message, &body))) {
                Ok(None) => {}
                Ok(Some(batch)) => return Ok(Some(batch)),
                Err(why) => sink.lost(None, "batches", &format!("message {n}: {why:#}"))?,
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

    /// The description of the next message, and its body; `None` at the end.
    fn message(&mut self) -> Result<Option<(Vec<u8>, Buffer)>> {
        match &mut self.from {
            From::Stream(from, is_file) => message(from, *is_file),
            From::Footer(read, places) => places.next().map(read).transpose(),
        }
    }
}

impl Place {
    fn of(block: &Block) -> Result<Place> {
        let place = || {
            let (from, body) =
                (u64::try_from(block.offset()).ok()?, usize::try_from(block.bodyLength()).ok()?);
            let metadata = usize::try_from(block.metaDataLength()).ok().filter(|&n| n <= MOST_METADATA)?;
            from.checked_add(metadata as u64)?.checked_add(body as u64)?;
            Some(Place { from, metadata, body })
        };
        place().with_context(|| format!("expected the place of a message, found {block:?}"))
    }
}

/// The description of the next message of a stream, and its body; `None` at the end.
fn message(from: &mut dyn BufRead, is_file: bool) -> Result<Option<(Vec<u8>, Buffer)>> {
    let mut mark = [0; 4];
    if from.fill_buf()?.is_empty() {
        ensure!(!is_file, "expected a mark at the end, found the end of the file: it was cut off");
        return Ok(None);
    }
    from.read_exact(&mut mark).context("expected a message")?;
    ensure!(mark == CONTINUATION, "expected the mark of a message, found {mark:02x?}");
    from.read_exact(&mut mark).context("expected the length of a message")?;
    let length = u32::from_le_bytes(mark) as usize;
    if length == 0 {
        return Ok(None);
    }
    ensure!(
        length <= MOST_METADATA,
        "expected a description of at most {MOST_METADATA} bytes, found {length}"
    );
    let metadata = bytes(from, length as u64)?;
    let body = u64::try_from(described(&metadata)?.bodyLength()).context("length of the body")?;
    let body = bytes(from, body)?;
    Ok(Some((metadata, Buffer::from_vec(body))))
}

/// So many bytes. The memory grows with what there is, not with what was declared.
fn bytes(from: &mut dyn BufRead, length: u64) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    from.take(length).read_to_end(&mut bytes)?;
    ensure!(bytes.len() as u64 == length, "expected {length} bytes, found {}: it was cut off", bytes.len());
    Ok(bytes)
}

/// What a decoder returns. Some damage, such as that of run lengths, shows only within the libraries that decode, and there
/// as a panic.
pub fn decoded<T>(decode: impl FnOnce() -> Result<T>) -> Result<T> {
    catch_unwind(AssertUnwindSafe(decode)).unwrap_or_else(|panic| {
        let text =
            panic.downcast_ref::<String>().map(String::as_str).or(panic.downcast_ref::<&str>().copied());
        Err(anyhow!(
            "expected columns as the file describes them, found damaged ones: {}",
            text.unwrap_or_default()
        ))
    })
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

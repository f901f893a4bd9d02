//! MCAP files as Foxglove, Rerun and other programs of robotics read them: messages of named channels, with an index.
//!
//! Messages lie in chunks that are not compressed, each with its index; the summary at the end has the indexes of all
//! chunks, and the footer its checksum. While a chunk grows, its header says that it is empty and its messages stand behind
//! it, which is sound too; when it is full, the header is written again. So after every [`Writer::flush`] the file has all
//! messages, even if the process is killed: only the summary is missing then, and readers go through the file from its
//! beginning.
//!
//! Reference: the MCAP specification, version 0.
//!
//! ```
//! use offnominal_files::mcap::Writer;
//! let mut file = Writer::new(std::io::Cursor::new(Vec::new()))?;
//! let level = file.channel("/level", "Level", &serde_json::json!({"type": "object"}))?;
//! file.message(level, 1_000_000_000, br#"{"metres": 0.5}"#)?;
//! let bytes = file.finish()?.into_inner();
//! assert!(bytes.starts_with(b"\x89MCAP0\r\n") && bytes.ends_with(b"\x89MCAP0\r\n"));
//! # Ok::<(), std::io::Error>(())
//! ```

mod record;

use flate2::Crc;
use record::{Body, frame};
use serde_json::Value;
use std::fs::File;
use std::io::{Result, Seek, SeekFrom, Write};
use std::path::Path;

const MAGIC: &[u8] = b"\x89MCAP0\r\n";

/// A chunk that has so many bytes is ended.
const CHUNK_BYTES: u64 = 1 << 20;

/// Bytes of a chunk before its records: the frame and seven fields, of which the name of the compression is empty.
const CHUNK_HEADER: u64 = 9 + 8 + 8 + 8 + 4 + 4 + 8;

/// A file that grows.
pub struct Writer<W> {
    to: W,
    /// Bytes so far.
    at: u64,
    /// Frames that wait for the next flush.
    waiting: Vec<u8>,
    chunk: Option<Chunk>,
    /// Records of the schemas and of the channels, which the summary repeats.
    schemas: Vec<u8>,
    channels: Vec<u8>,
    /// Messages of each channel, whose number is the place and one.
    counts: Vec<u64>,
    /// Records of the chunk indexes.
    chunk_indexes: Vec<u8>,
    n_chunks: u32,
    times: Option<(u64, u64)>,
}

/// The chunk that grows.
struct Chunk {
    /// Where its record begins.
    start: u64,
    times: (u64, u64),
    crc: Crc,
    /// For each channel the times of its messages and where they lie in the chunk.
    index: Vec<Vec<(u64, u64)>>,
}

impl Writer<File> {
    /// Begins a file that must not exist yet, as what is there is a recording of something.
    ///
    /// # Errors
    /// If there is one, or it cannot be written.
    pub fn create(path: &Path) -> Result<Writer<File>> {
        Writer::new(File::create_new(path)?)
    }
}

impl<W: Write + Seek> Writer<W> {
    /// Begins a file.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn new(to: W) -> Result<Writer<W>> {
        let mut writer = Writer {
            to,
            at: 0,
            waiting: MAGIC.to_vec(),
            chunk: None,
            schemas: Vec::new(),
            channels: Vec::new(),
            counts: Vec::new(),
            chunk_indexes: Vec::new(),
            n_chunks: 0,
            times: None,
        };
        let library = concat!("offnominal ", env!("CARGO_PKG_VERSION"));
        frame(&mut writer.waiting, record::HEADER, &Body::default().text("").text(library));
        writer.flush()?;
        Ok(writer)
    }

    /// Adds a channel whose messages are JSON objects with a JSON Schema, and returns its number.
    ///
    /// # Errors
    /// If it cannot be written.
    ///
    /// # Panics
    /// If there are more than 65,534 channels.
    pub fn channel(&mut self, topic: &str, schema_name: &str, schema: &Value) -> Result<u16> {
        self.end_chunk()?;
        self.counts.push(0);
        let id = u16::try_from(self.counts.len()).expect("few channels");
        let mut both = [Vec::new(), Vec::new()];
        let body = Body::default().u16(id).text(schema_name).text("jsonschema");
        frame(&mut both[0], record::SCHEMA, &body.bytes(schema.to_string().as_bytes()));
        let body = Body::default().u16(id).u16(id).text(topic).text("json").bytes(&[]);
        frame(&mut both[1], record::CHANNEL, &body);
        both.iter().for_each(|record| self.waiting.extend_from_slice(record));
        self.schemas.extend_from_slice(&both[0]);
        self.channels.extend_from_slice(&both[1]);
        self.flush()?;
        Ok(id)
    }

    /// Adds a message; it is in the file after the next [`Writer::flush`].
    ///
    /// # Errors
    /// If a full chunk cannot be written.
    ///
    /// # Panics
    /// If the channel is none of this file.
    pub fn message(&mut self, channel: u16, time_nanos: u64, data: &[u8]) -> Result<()> {
        if self.chunk.as_ref().is_some_and(|chunk| self.end() - chunk.start >= CHUNK_BYTES) {
            self.end_chunk()?;
        }
        if self.chunk.is_none() {
            self.begin_chunk(time_nanos);
        }
        let place = usize::from(channel) - 1;
        let sequence = self.counts[place] as u32;
        let body = Body::default().u16(channel).u32(sequence).u64(time_nanos).u64(time_nanos).rest(data);
        let (end, from) = (self.end(), self.waiting.len());
        frame(&mut self.waiting, record::MESSAGE, &body);
        let chunk = self.chunk.as_mut().expect("one was begun");
        chunk.crc.update(&self.waiting[from..]);
        chunk.index.resize(self.counts.len(), Vec::new());
        chunk.index[place].push((time_nanos, end - chunk.start - CHUNK_HEADER));
        chunk.times = wider(Some(chunk.times), time_nanos);
        self.times = Some(wider(self.times, time_nanos));
        self.counts[place] += 1;
        Ok(())
    }

    /// Writes what waits, so that it is in the file even if the process is killed.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn flush(&mut self) -> Result<()> {
        self.to.write_all(&self.waiting)?;
        self.at += self.waiting.len() as u64;
        self.waiting.clear();
        self.to.flush()
    }

    /// Writes the summary, and gives back what was written to.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn finish(mut self) -> Result<W> {
        self.end_chunk()?;
        // There is no checksum of the data, as headers of chunks were written again; each chunk has its own.
        frame(&mut self.waiting, record::DATA_END, &Body::default().u32(0));
        self.flush()?;
        let summary_start = self.at;
        let mut summary = Vec::new();
        let mut offsets = Vec::new();
        let statistics = self.statistics();
        let groups = [
            (record::SCHEMA, &self.schemas),
            (record::CHANNEL, &self.channels),
            (record::STATISTICS, &statistics),
            (record::CHUNK_INDEX, &self.chunk_indexes),
        ];
        for (opcode, records) in groups.into_iter().filter(|(_, records)| !records.is_empty()) {
            let start = summary_start + summary.len() as u64;
            let body = Body::default().u8(opcode).u64(start).u64(records.len() as u64);
            frame(&mut offsets, record::SUMMARY_OFFSET, &body);
            summary.extend_from_slice(records);
        }
        let offsets_start = summary_start + summary.len() as u64;
        summary.extend_from_slice(&offsets);
        let body = Body::default().u64(summary_start).u64(offsets_start);
        // The checksum includes the footer up to itself, which is four bytes longer than what stands here.
        summary.push(record::FOOTER);
        summary.extend_from_slice(&(body.as_ref().len() as u64 + 4).to_le_bytes());
        summary.extend_from_slice(body.as_ref());
        let mut crc = Crc::new();
        crc.update(&summary);
        summary.extend_from_slice(&crc.sum().to_le_bytes());
        summary.extend_from_slice(MAGIC);
        self.waiting = summary;
        self.flush()?;
        Ok(self.to)
    }

    /// Where the next record begins.
    fn end(&self) -> u64 {
        self.at + self.waiting.len() as u64
    }

    fn begin_chunk(&mut self, time_nanos: u64) {
        let (start, times) = (self.end(), (time_nanos, time_nanos));
        let chunk = Chunk { start, times, crc: Crc::new(), index: Vec::new() };
        self.waiting.extend_from_slice(&chunk.header(0, 0));
        self.chunk = Some(chunk);
    }

    /// Says how long the chunk is, and writes its index.
    fn end_chunk(&mut self) -> Result<()> {
        let Some(chunk) = self.chunk.take() else { return Ok(()) };
        self.flush()?;
        let len = self.at - chunk.start - CHUNK_HEADER;
        self.to.seek(SeekFrom::Start(chunk.start))?;
        self.to.write_all(&chunk.header(len, chunk.crc.sum()))?;
        self.to.seek(SeekFrom::Start(self.at))?;
        let index_start = self.at;
        let mut offsets = Body::default();
        for (place, entries) in chunk.index.iter().enumerate().filter(|(_, entries)| !entries.is_empty()) {
            let id = place as u16 + 1;
            offsets = offsets.u16(id).u64(self.end());
            let entries = entries.iter().fold(Body::default(), |all, (time, at)| all.u64(*time).u64(*at));
            let body = Body::default().u16(id).bytes(entries.as_ref());
            frame(&mut self.waiting, record::MESSAGE_INDEX, &body);
        }
        let times = Body::default().u64(chunk.times.0).u64(chunk.times.1);
        let place = times.u64(chunk.start).u64(CHUNK_HEADER + len).bytes(offsets.as_ref());
        let body = place.u64(self.end() - index_start).text("").u64(len).u64(len);
        frame(&mut self.chunk_indexes, record::CHUNK_INDEX, &body);
        self.n_chunks += 1;
        self.flush()
    }

    fn statistics(&self) -> Vec<u8> {
        let n = self.counts.len() as u16;
        let (first, last) = self.times.unwrap_or_default();
        let counts = (1..).zip(&self.counts).fold(Body::default(), |all, (id, n)| all.u16(id).u64(*n));
        let body = Body::default().u64(self.counts.iter().sum()).u16(n).u32(n.into()).u32(0).u32(0);
        let mut record = Vec::new();
        let body = body.u32(self.n_chunks).u64(first).u64(last).bytes(counts.as_ref());
        frame(&mut record, record::STATISTICS, &body);
        record
    }
}

impl Chunk {
    /// Everything before its records, if they have so many bytes.
    fn header(&self, len: u64, crc: u32) -> Vec<u8> {
        let mut header = vec![record::CHUNK];
        header.extend_from_slice(&(CHUNK_HEADER - 9 + len).to_le_bytes());
        let body = Body::default().u64(self.times.0).u64(self.times.1).u64(len).u32(crc).text("").u64(len);
        header.extend_from_slice(body.as_ref());
        header
    }
}

fn wider(times: Option<(u64, u64)>, time: u64) -> (u64, u64) {
    times.map_or((time, time), |(first, last)| (first.min(time), last.max(time)))
}

#[cfg(test)]
mod tests;

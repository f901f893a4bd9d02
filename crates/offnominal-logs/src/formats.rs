//! The formats of logs, one file each. Which one a file has is told by its first bytes, else by the ending of its name.
//!
//! | module | reads |
//! |---|---|
//! | [`csv`] | tables as text |
//! | [`json_lines`] | one JSON object per line |
//! | `columnar` | Arrow and Parquet |
//! | `hdf5` | HDF5, Minari |
//! | `lerobot` | LeRobot v3 folders |
//! | `mcap` | MCAP with messages in JSON or CDR |
//! | `rosbag` | rosbag2 folders and SQLite files |
//! | `on_disk` | whatever is a file or a folder |
//! | `ulog` | PX4's flight logs |

pub(crate) mod columnar;
pub mod csv;
pub mod json_lines;
pub mod ulog;

mod arrow_messages;
mod compression;
mod json;
mod mcap;
mod mcap_records;
mod text;

// What needs files: a browser has none.
#[cfg(not(target_family = "wasm"))]
mod hdf5;
#[cfg(not(target_family = "wasm"))]
pub(crate) mod hdf5_episodes;
#[cfg(not(target_family = "wasm"))]
pub(crate) mod hdf5_parts;
#[cfg(not(target_family = "wasm"))]
mod inside;
#[cfg(not(target_family = "wasm"))]
mod joined;
#[cfg(not(target_family = "wasm"))]
mod lerobot;
#[cfg(not(target_family = "wasm"))]
mod on_disk;
#[cfg(not(target_family = "wasm"))]
mod rosbag;
#[cfg(not(target_family = "wasm"))]
mod sqlite_files;

#[cfg(not(target_family = "wasm"))]
pub(crate) use on_disk::in_folder;
#[cfg(not(target_family = "wasm"))]
pub use on_disk::read;

#[cfg(target_family = "wasm")]
mod zstd_frames;

use crate::record::Sink;
use anyhow::{Context, Result, bail, ensure};
use bytes::Bytes;
use offnominal_topics::budget::{Budget, Size};
use std::io::{BufRead, Cursor, ErrorKind, Read};
use std::path::Path;

/// The format of a log.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Format {
    /// A table as text.
    Csv,
    /// One JSON object per line.
    JsonLines,
    /// Parquet.
    Parquet,
    /// An Arrow file.
    Arrow,
    /// An Arrow stream.
    ArrowStream,
    /// HDF5, with or without Minari's metadata.
    Hdf5,
    /// A LeRobot data set.
    LeRobot,
    /// MCAP.
    Mcap,
    /// A rosbag2 folder.
    Rosbag,
    /// A SQLite file of rosbag2.
    RosbagFile,
    /// ULog.
    Ulog,
    /// A data frame of a program.
    Frame,
}

/// Reads a log of which all bytes are at hand; `name` is that of its file.
///
/// # Errors
/// If the format is not known or needs a file, the log is damaged, or the sink refuses what it is told. The error names the
/// log.
pub fn read_bytes(name: &Path, bytes: &Bytes, sink: &mut dyn Sink) -> Result<Format> {
    let mut read = || -> Result<Format> {
        let size = Size::default();
        let mut budget = Budget::new(sink, size.clone());
        let mut from = compression::open(Cursor::new(bytes.clone()), &size)?;
        let format = format_of(name, from.fill_buf().context("cannot read")?)?;
        match format {
            Format::Parquet | Format::Arrow if !compression::is_compressed(bytes) => {
                size.add(bytes.len() as u64);
                match format {
                    Format::Parquet => columnar::parquet(bytes.clone(), &mut budget)?,
                    _ => columnar::arrow_file(bytes.clone(), &mut budget)?,
                }
            }
            streamed => self::streamed(streamed, from, csv::Patience::Rows, &mut budget)?,
        }
        budget.end()?;
        Ok(format)
    };
    read().with_context(|| format!("log {}", name.display()))
}

/// There are no files in a browser, so a log is handed over as bytes.
///
/// # Errors
/// Always.
#[cfg(target_family = "wasm")]
pub fn read(path: &Path, _: &mut dyn Sink) -> Result<Format> {
    bail!("log {}: expected its bytes, found a path, and there are no files here", path.display())
}

/// Reads a log that comes as a stream, row by row as it comes.
///
/// # Errors
/// If the format is not known or needs a file, the log is damaged, or the sink refuses what it is told.
pub fn read_stream(from: impl BufRead + 'static, sink: &mut dyn Sink) -> Result<Format> {
    let size = Size::default();
    let mut budget = Budget::new(sink, size.clone());
    let mut from = compression::open(from, &size)?;
    let format = format_of(Path::new(""), from.fill_buf().context("cannot read")?)?;
    streamed(format, from, csv::Patience::Row, &mut budget)?;
    budget.end()?;
    Ok(format)
}

/// Reads a format that needs no more than one byte after the other.
fn streamed(format: Format, from: impl BufRead, patience: csv::Patience, sink: &mut dyn Sink) -> Result<()> {
    match format {
        Format::Csv => csv::read(text::open(from)?, patience, sink),
        Format::JsonLines => json_lines::read(text::open(from)?, sink),
        Format::Mcap => mcap::read(from, sink),
        Format::Ulog => ulog::read(from, sink),
        Format::Arrow | Format::ArrowStream => columnar::arrow(from, sink),
        _ => bail!(
            "expected a stream of CSV, JSON lines, MCAP, ULog or Arrow, found {format:?}, which needs a file"
        ),
    }
}

const HDF5: &[u8] = b"\x89HDF\r\n\x1a\n";

fn format_of(path: &Path, head: &[u8]) -> Result<Format> {
    const MAGIC: [(&[u8], Format); 6] = [
        (mcap_records::MAGIC, Format::Mcap),
        (b"PAR1", Format::Parquet),
        (b"ARROW1", Format::Arrow),
        (HDF5, Format::Hdf5),
        (b"SQLite format 3\0", Format::RosbagFile),
        (b"\xff\xff\xff\xff", Format::ArrowStream),
    ];
    if let Some((_, format)) = MAGIC.iter().find(|(magic, _)| head.starts_with(magic)) {
        return Ok(*format);
    }
    // A block of another program may come first, as MATLAB writes it.
    let is_hdf5 = |at: usize| head.get(at..).is_some_and(|rest| rest.starts_with(HDF5));
    if (9..16).any(|power| is_hdf5(1 << power)) {
        return Ok(Format::Hdf5);
    }
    if ulog::is_ulog(head) {
        return Ok(Format::Ulog);
    }
    ensure!(!head.is_empty(), "expected a log, found an empty file");
    let name = path.file_name().map(|n| n.to_string_lossy().to_lowercase()).unwrap_or_default();
    let stem = name.trim_end_matches(".gz").trim_end_matches(".zst").trim_end_matches(".lz4");
    let is_utf16 = text::utf16(head).is_some();
    let is_text = is_utf16
        || std::str::from_utf8(&head[..head.len().min(512)]).map_or_else(|e| e.valid_up_to() > 500, |_| true);
    match stem.rsplit('.').next() {
        Some("jsonl" | "ndjson") => Ok(Format::JsonLines),
        Some("csv" | "tsv" | "txt" | "dat") => Ok(Format::Csv),
        _ if is_text && head.trim_ascii_start().starts_with(b"{") => Ok(Format::JsonLines),
        _ if is_utf16 || (is_text && !head.contains(&0)) => Ok(Format::Csv),
        _ => bail!(
            "expected CSV, JSON lines, Parquet, Arrow, HDF5, MCAP, SQLite of rosbag2 or ULog, found a file that begins with \
             {:02x?}",
            &head[..head.len().min(8)]
        ),
    }
}

/// Fills a buffer as far as there are bytes.
fn filled(from: &mut impl Read, buffer: &mut [u8]) -> Result<usize> {
    let mut n = 0;
    while n < buffer.len() {
        match from.read(&mut buffer[n..]) {
            Ok(0) => break,
            Ok(more) => n += more,
            Err(why) if why.kind() == ErrorKind::Interrupted => {}
            Err(why) => return Err(why).context("cannot read"),
        }
    }
    Ok(n)
}

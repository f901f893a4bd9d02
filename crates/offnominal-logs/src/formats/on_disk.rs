//! Logs that are files or folders, and the formats that need more than one byte after the other.

use super::inside::inside;
use super::{Format, columnar, compression, format_of, hdf5, joined, lerobot, rosbag, streamed};
use crate::record::Sink;
use anyhow::{Context, Result, ensure};
use offnominal_files::read::open;
use offnominal_topics::budget::{Budget, Size};
use std::io::{self, BufRead, BufReader, Read};
use std::path::{Path, PathBuf};

/// Reads one log, which is a file or a folder.
///
/// # Errors
/// If the format is not known, nothing of the log can be read, or the sink refuses what it is told. The error names the
/// file.
pub fn read(path: &Path, sink: &mut dyn Sink) -> Result<Format> {
    let mut of = || -> Result<Format> {
        let size = Size::default();
        let mut budget = Budget::new(sink, size.clone());
        let format =
            if path.is_dir() { folder(path, &size, &mut budget)? } else { file(path, &size, &mut budget)? };
        budget.end()?;
        Ok(format)
    };
    of().with_context(|| format!("log {}", path.display()))
}

/// A log; in place of a folder that is none, the files in it in the order of their names. Hidden ones are passed over.
///
/// # Errors
/// If the folder cannot be read, holds no file, or a link in it leads out of it.
pub fn in_folder(path: &Path) -> Result<Vec<PathBuf>> {
    let is_log = ["meta/info.json", "data/main_data.hdf5"].iter().any(|file| path.join(file).is_file());
    if !path.is_dir() || is_log || rosbag::is_bag(path) {
        return Ok(vec![path.into()]);
    }
    let of = || -> Result<Vec<PathBuf>> {
        let mut found = Vec::new();
        for entry in std::fs::read_dir(path)? {
            let entry = entry?;
            if !entry.file_name().to_string_lossy().starts_with('.') {
                found.extend(in_this(path, entry.path())?);
            }
        }
        found.sort();
        ensure!(!found.is_empty(), "expected logs, found no file");
        Ok(found)
    };
    of().with_context(|| format!("folder {}", path.display()))
}

/// A file of a folder, or a folder in it that is a log.
fn in_this(folder: &Path, path: PathBuf) -> Result<Vec<PathBuf>> {
    if path.is_dir() {
        return in_folder(&path);
    }
    inside(folder, &path).map(|_| vec![path])
}

fn folder(path: &Path, size: &Size, sink: &mut dyn Sink) -> Result<Format> {
    if path.join("meta/info.json").is_file() {
        lerobot::read(path, size, sink)?;
        return Ok(Format::LeRobot);
    }
    if path.join("data/main_data.hdf5").is_file() {
        let file = inside(path, &path.join("data/main_data.hdf5"))?;
        size.add(file.metadata()?.len());
        hdf5::read(&file, sink)?;
        return Ok(Format::Hdf5);
    }
    ensure!(
        rosbag::is_bag(path),
        "expected a folder with meta/info.json (LeRobot), data/main_data.hdf5 (Minari), or metadata.yaml or files of a bag \
         (rosbag2)"
    );
    let mut joined = joined::Joined::new(sink, str::to_string);
    for part in rosbag::files(path, &mut joined)? {
        joined.next_file();
        match inside(path, &part).and_then(|part| file(&part, size, &mut joined)) {
            Err(why) if !joined.is_refusing() => {
                joined.lost(None, "files", &format!("{}: {why:#}", part.display()))?;
            }
            told => told.map(drop).with_context(|| part.display().to_string())?,
        }
    }
    Ok(Format::Rosbag)
}

fn file(path: &Path, size: &Size, sink: &mut dyn Sink) -> Result<Format> {
    let raw = BufReader::with_capacity(1 << 16, open(path)?);
    let mut from = compression::open(raw, size)?;
    let format = format_of(path, from.fill_buf().context("cannot read")?)?;
    if !matches!(format, Format::Parquet | Format::Arrow | Format::Hdf5 | Format::RosbagFile) {
        streamed(format, from, super::csv::Patience::Rows, sink)?;
        return Ok(format);
    }
    let unpacked = unpacked(path, from)?;
    let path = unpacked.as_ref().map_or(path, |file| file.path());
    size.add(path.metadata()?.len());
    match format {
        Format::Parquet => columnar::parquet(open(path)?, sink)?,
        Format::Arrow => columnar::arrow_file(open(path)?, sink)?,
        Format::Hdf5 => hdf5::read(path, sink)?,
        _ => rosbag::sqlite(path, sink)?,
    }
    Ok(format)
}

/// What is read here and there needs a file; that of a compressed one is gone when it has been read.
fn unpacked(path: &Path, mut from: impl BufRead) -> Result<Option<tempfile::NamedTempFile>> {
    let mut head = [0; 4];
    let n = open(path)?.read(&mut head)?;
    if !compression::is_compressed(&head[..n]) {
        return Ok(None);
    }
    let mut whole = tempfile::NamedTempFile::new().context("cannot write a temporary file")?;
    io::copy(&mut from, &mut whole).context("cannot decompress")?;
    Ok(Some(whole))
}

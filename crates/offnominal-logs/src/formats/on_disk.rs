//! Logs that are files or folders, and the formats that need more than one byte after the other.

use super::{Format, columnar, compression, format_of, hdf5, joined, lerobot, rosbag, streamed};
use crate::record::Sink;
use anyhow::{Context, Result, ensure};
use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::Path;

/// Reads one log, which is a file or a folder.
///
/// # Errors
/// If the format is not known, the log is damaged, or the sink refuses what it is told. The error names the file.
pub fn read(path: &Path, sink: &mut dyn Sink) -> Result<Format> {
    let mut read = || -> Result<Format> {
        if path.is_dir() {
            return folder(path, sink);
        }
        let from = BufReader::with_capacity(1 << 16, File::open(path).context("cannot open")?);
        file(path, compression::open(from)?, sink)
    };
    read().with_context(|| format!("log {}", path.display()))
}

fn folder(path: &Path, sink: &mut dyn Sink) -> Result<Format> {
    if path.join("meta/info.json").is_file() {
        lerobot::read(path, sink)?;
        return Ok(Format::LeRobot);
    }
    if path.join("data/main_data.hdf5").is_file() {
        hdf5::read(&path.join("data/main_data.hdf5"), sink)?;
        return Ok(Format::Hdf5);
    }
    ensure!(
        path.join("metadata.yaml").is_file(),
        "expected a folder with meta/info.json (LeRobot), data/main_data.hdf5 (Minari) or metadata.yaml (rosbag2)"
    );
    let mut joined = joined::Joined::new(sink, str::to_string);
    for part in rosbag::files(path)? {
        joined.next_file();
        let from =
            BufReader::new(File::open(&part).with_context(|| format!("cannot open {}", part.display()))?);
        file(&part, compression::open(from)?, &mut joined).with_context(|| part.display().to_string())?;
    }
    Ok(Format::Rosbag)
}

fn file(path: &Path, mut from: Box<dyn BufRead>, sink: &mut dyn Sink) -> Result<Format> {
    let format = format_of(path, from.fill_buf().context("cannot read")?)?;
    match format {
        Format::Parquet => columnar::parquet(File::open(path)?, sink)?,
        Format::Hdf5 => hdf5::read(path, sink)?,
        Format::RosbagFile => rosbag::sqlite(path, sink)?,
        other => streamed(other, from, sink)?,
    }
    Ok(format)
}

//! Where a log comes from: a file, a folder, or a data frame of a program.

use crate::formats::{self, Format};
use crate::frame::Frame;
use crate::record::Sink;
use anyhow::{Context, Result};
use bytes::Bytes;
use offnominal_topics::budget::Whole;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// Whatever a [`Sink`] can be told of.
pub trait Source: Sync {
    /// What it is called in reports and errors.
    fn name(&self) -> &Path;

    /// Tells a sink all topics, columns and rows.
    ///
    /// # Errors
    /// If it cannot be read, or the sink refuses what it is told. The error names the log.
    fn read(&self, sink: &mut dyn Sink) -> Result<Format>;
}

impl Source for Path {
    fn name(&self) -> &Path {
        self
    }

    fn read(&self, sink: &mut dyn Sink) -> Result<Format> {
        formats::read(self, sink)
    }
}

impl Source for PathBuf {
    fn name(&self) -> &Path {
        self
    }

    fn read(&self, sink: &mut dyn Sink) -> Result<Format> {
        formats::read(self, sink)
    }
}

/// Logs, in place of a folder that is none the files in it, in the order of their names.
///
/// # Errors
/// If such a folder cannot be read or holds no file.
#[cfg(not(target_family = "wasm"))]
pub fn in_folders(logs: &[PathBuf]) -> Result<Vec<PathBuf>> {
    let all = logs.iter().map(|log| formats::in_folder(log)).collect::<Result<Vec<_>>>()?;
    Ok(all.concat())
}

/// Logs; there are no folders in a browser.
///
/// # Errors
/// None.
#[cfg(target_family = "wasm")]
pub fn in_folders(logs: &[PathBuf]) -> Result<Vec<PathBuf>> {
    Ok(logs.to_vec())
}

/// A file that is given twice, by whatever paths.
pub(crate) fn twice(logs: &[impl Source]) -> Option<&Path> {
    let mut known = BTreeSet::new();
    let is_again = |path: &&Path| path.canonicalize().is_ok_and(|path| !known.insert(path));
    logs.iter().map(Source::name).find(is_again)
}

/// A log that is among these and among those, by whatever path.
pub(crate) fn shared<'l>(these: &[impl Source], those: &'l [impl Source]) -> Option<&'l Path> {
    let place = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.into());
    let known: BTreeSet<PathBuf> = these.iter().map(|log| place(log.name())).collect();
    those.iter().map(Source::name).find(|path| known.contains(&place(path)))
}

/// A log of which, if that is asked for, no part may be lost.
pub(crate) struct Strict<'a, S: ?Sized>(pub &'a S, pub bool);

impl<S: Source + ?Sized> Source for Strict<'_, S> {
    fn name(&self) -> &Path {
        self.0.name()
    }

    fn read(&self, sink: &mut dyn Sink) -> Result<Format> {
        if self.1 { self.0.read(&mut Whole(sink)) } else { self.0.read(sink) }
    }
}

/// A log as a program names or holds it.
pub enum Log {
    /// A file or a folder.
    File(PathBuf),
    /// The bytes of a file, with its name.
    Bytes(PathBuf, Bytes),
    /// A data frame.
    Frame(Frame),
}

impl Source for Log {
    fn name(&self) -> &Path {
        match self {
            Log::File(path) | Log::Bytes(path, _) => path,
            Log::Frame(frame) => &frame.name,
        }
    }

    fn read(&self, sink: &mut dyn Sink) -> Result<Format> {
        match self {
            Log::File(path) => formats::read(path, sink),
            Log::Bytes(name, bytes) => formats::read_bytes(name, bytes, sink),
            Log::Frame(frame) => {
                frame.read(sink).with_context(|| format!("data frame {}", frame.name.display()))?;
                Ok(Format::Frame)
            }
        }
    }
}

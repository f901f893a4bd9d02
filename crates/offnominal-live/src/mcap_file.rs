//! An MCAP file that grows with the ticks, and has all that came even if the process is killed.

use super::tick::Tick;
use super::topics::Topics;
use anyhow::{Context, Result};
use offnominal_files::mcap::Writer;
use offnominal_monitor::About;
use std::fs::File;
use std::path::{Path, PathBuf};

/// The file; nothing of a tick waits in memory.
pub struct McapFile {
    path: PathBuf,
    file: Writer<File>,
    topics: Topics,
    /// When the last tick was.
    time_nanos: i64,
}

impl McapFile {
    /// Begins a file.
    ///
    /// # Errors
    /// If there is one already, which is a recording of something, or it cannot be written.
    pub fn create(path: &Path, about: &About) -> Result<McapFile> {
        let create = || -> std::io::Result<(Writer<File>, Topics)> {
            let mut file = Writer::create(path)?;
            let topics = Topics::add(&mut file, about)?;
            Ok((file, topics))
        };
        let (file, topics) =
            create().with_context(|| format!("cannot begin the new file {}", path.display()))?;
        Ok(McapFile { path: path.into(), file, topics, time_nanos: 0 })
    }

    /// Adds a tick.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn add(&mut self, tick: &Tick) -> Result<()> {
        self.time_nanos = tick.time_nanos;
        let added = self.topics.write(&mut self.file, tick).and_then(|()| self.file.flush());
        added.with_context(|| format!("cannot write {}", self.path.display()))
    }

    /// Adds the action that answers the observation of the last tick.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn acted(&mut self, action: &[f64]) -> Result<()> {
        let added = self.topics.action(&mut self.file, self.time_nanos, action);
        added
            .and_then(|()| self.file.flush())
            .with_context(|| format!("cannot write {}", self.path.display()))
    }

    /// Writes the index.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn finish(self) -> Result<()> {
        let McapFile { path, file, .. } = self;
        let finish = || file.finish()?.sync_all();
        finish().with_context(|| format!("cannot write {}", path.display()))
    }
}

//! A training that is under way, written aside now and then, so that one that was killed goes on with the same bits.
//!
//! The file says which run it is of, and is removed when the run is finished.

use anyhow::{Context, Result, ensure};
use offnominal_nets::Tensors;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Time from one writing to the next.
const EVERY: Duration = Duration::from_secs(60);

/// Name of the header's entry that says which run the checkpoint is of.
const RUN: &str = "run";

/// The file of a training that is under way.
#[derive(Debug)]
pub struct Checkpoint {
    path: PathBuf,
    run: String,
    saved: Instant,
}

impl Checkpoint {
    /// The checkpoint at a path of the run that `run` describes: whatever its result depends on.
    pub fn new(path: &Path, run: impl Into<String>) -> Checkpoint {
        Checkpoint { path: path.to_path_buf(), run: run.into(), saved: Instant::now() }
    }

    /// The state of the training, if an earlier run left one.
    ///
    /// # Errors
    /// If it cannot be read, is damaged, or is of another run.
    pub fn load(&self) -> Result<Option<Tensors>> {
        if !self.path.exists() {
            return Ok(None);
        }
        let place = || self.path.display().to_string();
        let bytes = crate::read::bytes(&self.path)?;
        let state = Tensors::from_bytes(&bytes).with_context(place)?;
        let found = state.metadata.get(RUN).map_or("", String::as_str);
        ensure!(
            found == self.run,
            "{}: expected a checkpoint of the run {}, found one of {found}; finish that run, remove the file, or \
             choose another place",
            place(),
            self.run
        );
        Ok(Some(state))
    }

    /// Whether it is time to write again.
    pub fn is_due(&self) -> bool {
        self.saved.elapsed() >= EVERY
    }

    /// Writes the state of the training in place of what is there.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn save(&mut self, mut state: Tensors) -> Result<()> {
        state.metadata.insert(RUN.into(), self.run.clone());
        crate::write::atomically(&self.path, &state.to_bytes())?;
        self.saved = Instant::now();
        Ok(())
    }

    /// Removes the file, as what came of the training is written.
    ///
    /// # Errors
    /// If it is there and cannot be removed.
    pub fn remove(self) -> Result<()> {
        match std::fs::remove_file(&self.path) {
            Err(e) if e.kind() != std::io::ErrorKind::NotFound => {
                Err(e).with_context(|| format!("cannot remove {}", self.path.display()))
            }
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_state_comes_back_until_it_is_removed() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("deep/checkpoint.safetensors");
        let mut state = Tensors::default();
        state.insert("x", &[2], &[1.5, f32::MIN_POSITIVE / 8.0]);
        let mut checkpoint = Checkpoint::new(&path, "a");
        assert!(checkpoint.load().unwrap().is_none() && !checkpoint.is_due());
        checkpoint.save(state.clone()).unwrap();
        let found = Checkpoint::new(&path, "a").load().unwrap().unwrap();
        assert_eq!(found.get("x").unwrap(), state.get("x").unwrap());
        checkpoint.remove().unwrap();
        assert!(!path.exists());
        Checkpoint::new(&path, "a").remove().unwrap();
    }

    #[test]
    fn the_checkpoint_of_another_run_and_a_damaged_one_are_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("checkpoint.safetensors");
        Checkpoint::new(&path, "a").save(Tensors::default()).unwrap();
        let error = format!("{:#}", Checkpoint::new(&path, "b").load().unwrap_err());
        assert!(error.contains("checkpoint of the run b, found one of a"), "{error}");
        std::fs::write(&path, b"x").unwrap();
        let error = format!("{:#}", Checkpoint::new(&path, "a").load().unwrap_err());
        assert!(error.contains("checkpoint.safetensors"), "{error}");
    }
}

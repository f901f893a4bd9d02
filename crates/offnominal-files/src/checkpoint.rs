//! A training that is under way, written aside now and then, so that one that was killed goes on with the same bits.
//!
//! The file says which run it is of, and is removed when the run is finished. Until then one process has it.

use crate::lock::Lock;
use anyhow::{Context, Result, ensure};
use offnominal_nets::Tensors;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Time from one writing to the next, unless [`EVERY_SECS`] says otherwise.
const EVERY: Duration = Duration::from_secs(60);

/// Name of the environment variable with the seconds from one writing to the next; 0 writes whenever it is possible.
const EVERY_SECS: &str = "OFFNOMINAL_CHECKPOINT_SECS";

/// Name of the header's entry that says which run the checkpoint is of.
const RUN: &str = "run";

/// The file of a training that is under way.
#[derive(Debug)]
pub struct Checkpoint {
    path: PathBuf,
    run: String,
    saved: Instant,
    every: Duration,
    _lock: Lock,
}

/// How long work that goes on after a kill may go without writing what it has.
///
/// # Errors
/// If the environment variable holds something else than seconds.
pub fn interval() -> Result<Duration> {
    interval_of(std::env::var(EVERY_SECS).ok().as_deref())
}

fn interval_of(text: Option<&str>) -> Result<Duration> {
    let Some(text) = text else { return Ok(EVERY) };
    let secs = text.parse::<f64>().ok().and_then(|secs| Duration::try_from_secs_f64(secs).ok());
    secs.with_context(|| format!("{EVERY_SECS}: expected seconds, found {text:?}"))
}

impl Checkpoint {
    /// Takes the checkpoint at a path for the run that `run` describes: whatever its result depends on.
    ///
    /// # Errors
    /// If another process has it.
    pub fn open(path: &Path, run: impl Into<String>) -> Result<Checkpoint> {
        let (lock, every) = (Lock::file(path)?, interval()?);
        Ok(Checkpoint { path: path.into(), run: run.into(), saved: Instant::now(), every, _lock: lock })
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
        self.saved.elapsed() >= self.every
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
        let mut checkpoint = Checkpoint::open(&path, "a").unwrap();
        assert!(checkpoint.load().unwrap().is_none() && !checkpoint.is_due());
        checkpoint.save(state.clone()).unwrap();
        let found = Checkpoint::open(&path, "a").unwrap().load().unwrap().unwrap();
        assert_eq!(found.get("x").unwrap(), state.get("x").unwrap());
        checkpoint.remove().unwrap();
        assert!(!path.exists());
        Checkpoint::open(&path, "a").unwrap().remove().unwrap();
        assert!(!path.parent().unwrap().exists(), "neither a file nor the folder made for it stays");
    }

    #[test]
    fn a_second_process_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("checkpoint.safetensors");
        let _mine = Checkpoint::open(&path, "a").unwrap();
        let other = || Checkpoint::open(&path, "a").map(drop).map_err(|e| format!("{e:#}"));
        let refusal = std::thread::scope(|s| s.spawn(other).join().unwrap()).unwrap_err();
        assert!(refusal.contains("checkpoint.safetensors is in use by process"), "{refusal}");
    }

    #[test]
    fn the_interval_can_be_set() {
        assert_eq!(interval_of(None).unwrap(), EVERY);
        assert_eq!(interval_of(Some("0.5")).unwrap(), Duration::from_millis(500));
        for wrong in ["", "soon", "-1", "nan"] {
            let error = interval_of(Some(wrong)).unwrap_err().to_string();
            assert!(error.contains("OFFNOMINAL_CHECKPOINT_SECS: expected seconds"), "{error}");
        }
    }

    #[test]
    fn the_checkpoint_of_another_run_and_a_damaged_one_are_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("checkpoint.safetensors");
        let open = |run: &str| Checkpoint::open(&path, run).unwrap();
        open("a").save(Tensors::default()).unwrap();
        let error = format!("{:#}", open("b").load().unwrap_err());
        assert!(error.contains("checkpoint of the run b, found one of a"), "{error}");
        std::fs::write(&path, b"x").unwrap();
        let error = format!("{:#}", open("a").load().unwrap_err());
        assert!(error.contains("checkpoint.safetensors"), "{error}");
    }
}

//! A process of Python that hosts environments.

use anyhow::{Context, Result, bail};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// What the process runs.
const PROGRAM: &str = include_str!("worker.py");

/// How long an interpreter may take to start, and an environment to be made.
pub(super) const START: Duration = Duration::from_secs(60);

/// Where files are memory, on systems that have such a folder.
const MEMORY: &str = "/dev/shm";

/// The process; it ends when this value goes, and by itself when the engine dies.
pub(super) struct Worker {
    child: Mutex<Child>,
    folder: TempDir,
    retired: AtomicBool,
}

impl Worker {
    /// Starts the interpreter and waits until it can be reached.
    ///
    /// # Errors
    /// If there is no such interpreter, or it ends, or does not open its door in time.
    pub(super) fn start(python: &Path) -> Result<Worker> {
        let folder = memory_folder().context("cannot make a folder for a process of environments")?;
        let said = std::fs::File::create(folder.path().join("said"))?;
        let child = Command::new(python)
            .args(["-c", PROGRAM])
            .arg(folder.path())
            .stdin(Stdio::piped())
            .stdout(said.try_clone()?)
            .stderr(said)
            .spawn()
            .with_context(|| format!("cannot start {}", python.display()))?;
        let worker = Worker { child: Mutex::new(child), folder, retired: AtomicBool::new(false) };
        worker.connect().with_context(|| python.display().to_string())?;
        Ok(worker)
    }

    /// A connection to a new environment.
    ///
    /// # Errors
    /// If the process ended, or does not open its door in time.
    pub(super) fn connect(&self) -> Result<UnixStream> {
        let (door, began) = (self.folder.path().join("door"), Instant::now());
        loop {
            match UnixStream::connect(&door) {
                Ok(stream) => return Ok(stream),
                Err(_) if began.elapsed() < START && self.ended().is_none() => {}
                Err(_) => bail!("{}", self.why_silent("did not begin to work")),
            }
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    /// No environment is added to it any longer; it ends with the last one that it has.
    pub(super) fn retire(&self) {
        self.retired.store(true, Ordering::Relaxed);
    }

    /// Whether an environment may be added to it.
    pub(super) fn is_open(&self) -> bool {
        !self.retired.load(Ordering::Relaxed) && self.ended().is_none()
    }

    /// Why it does not answer: that it ended, or what it did instead, with what it said last.
    pub(super) fn why_silent(&self, instead: &str) -> String {
        // A process that was just killed may still be seen running.
        std::thread::sleep(Duration::from_millis(20));
        let what = self.ended().map_or(instead.to_string(), |status| format!("ended ({status})"));
        match self.last_words() {
            None => format!("its process {what}"),
            Some(words) => format!("its process {what}; it said: {words}"),
        }
    }

    fn ended(&self) -> Option<ExitStatus> {
        self.child.lock().unwrap_or_else(PoisonError::into_inner).try_wait().ok().flatten()
    }

    fn last_words(&self) -> Option<String> {
        let said = std::fs::read(self.folder.path().join("said")).ok()?;
        let said = String::from_utf8_lossy(&said);
        said.lines().map(str::trim).rfind(|line| !line.is_empty()).map(String::from)
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        let child = self.child.get_mut().unwrap_or_else(PoisonError::into_inner);
        // It may have ended already; either way nothing is left to be done.
        let _ = child.kill();
        let _ = child.wait();
    }
}

/// A folder of our own where files are memory, if there is such a place.
fn memory_folder() -> std::io::Result<TempDir> {
    let make = || tempfile::Builder::new();
    make().prefix("offnominal-").tempdir_in(MEMORY).or_else(|_| make().prefix("offnominal-").tempdir())
}

/// The interpreter that the user names, that of the virtual environment, or the system's.
pub(super) fn python() -> PathBuf {
    if let Some(named) = std::env::var_os(crate::foreign::PYTHON) {
        return named.into();
    }
    let of_environment =
        std::env::var_os("VIRTUAL_ENV").map(|folder| PathBuf::from(folder).join("bin/python"));
    of_environment.filter(|python| python.is_file()).unwrap_or_else(|| "python3".into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_interpreter_that_is_none_is_named() {
        let error = format!("{:#}", Worker::start(Path::new("/no/such/python")).err().unwrap());
        assert!(error.starts_with("cannot start /no/such/python"), "{error}");
        let error = format!("{:#}", Worker::start(Path::new("false")).err().unwrap());
        assert!(error.contains("false: its process ended (exit status: 1)"), "{error}");
    }
}

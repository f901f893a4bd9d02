//! A process of Python that hosts environments.

use crate::foreign::folder::Folder;
use crate::foreign::said::OutputTail;
use anyhow::{Context, Result, bail, ensure};
use offnominal_mujoco::python;
use offnominal_work::stop;
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, ExitStatus, Stdio};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// What the process runs; its argument is the folder.
const PROGRAM: &str = "sys.path.insert(0, sys.argv[1])
from offnominal_host.serve import main
del sys.path[0]
main(sys.argv[1])
";

/// The package that it imports.
const PACKAGE: &str = "offnominal_host";

macro_rules! sources {
    ($($name:literal),*) => { &[$(($name, include_str!(concat!("worker/", $name)))),*] };
}

/// The files of that package.
const SOURCES: &[(&str, &str)] = sources![
    "__init__.py",
    "ahead.py",
    "clock.py",
    "environment.py",
    "joint.py",
    "making.py",
    "modules.py",
    "policy.py",
    "quantities.py",
    "repeats.py",
    "serve.py",
    "spaces.py"
];

/// What tells libraries of linear algebra how many threads they start. There is a process for each core, and a step is too
/// small to be worth more than one.
const THREADS: [&str; 3] = ["OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"];

/// How long an interpreter may take to start and to import Gymnasium.
const START: Duration = Duration::from_secs(60);
/// How long one that fell silent may take to end.
const END: Duration = Duration::from_secs(1);

/// The process; it ends when this value goes, and by itself when the engine dies.
pub(super) struct Worker {
    child: Mutex<Child>,
    folder: Folder,
    said: OutputTail,
    retired: AtomicBool,
    is_late: AtomicBool,
    /// Environments that are in it.
    environments: AtomicUsize,
}

impl Worker {
    /// Starts the interpreter and waits until it can be reached.
    ///
    /// # Errors
    /// If there is no such interpreter, or it ends, or does not open its socket in time.
    pub(super) fn start(interpreter: &Path) -> Result<Worker> {
        let folder = Folder::new()
            .and_then(|folder| write(folder.path()).map(|()| folder))
            .context("cannot make a folder for a process of environments")?;
        let (reader, writer) = std::io::pipe()?;
        let mut command = python::program(interpreter, PROGRAM);
        command.env("PYTHONDONTWRITEBYTECODE", "1");
        let unset = THREADS.into_iter().filter(|name| std::env::var_os(name).is_none());
        command.envs(unset.map(|name| (name, "1")));
        command.arg(folder.path()).stdin(Stdio::piped()).stdout(writer.try_clone()?).stderr(writer);
        // Ctrl-C is the engine's business, which then ends the process.
        command.process_group(0);
        let child = command.spawn().with_context(|| format!("cannot start {}", interpreter.display()))?;
        let said = OutputTail::listen(reader);
        let (retired, is_late) = (AtomicBool::new(false), AtomicBool::new(false));
        let (child, environments) = (Mutex::new(child), AtomicUsize::new(0));
        let worker = Worker { child, folder, said, retired, is_late, environments };
        drop(worker.connect().with_context(|| interpreter.display().to_string())?);
        Ok(worker)
    }

    /// A connection to a new environment.
    ///
    /// # Errors
    /// If the process ended, or does not open its socket in time, or the work was asked to stop.
    pub(super) fn connect(&self) -> Result<UnixStream> {
        let (socket, began) = (self.folder.path().join("socket"), Instant::now());
        loop {
            ensure!(!stop::is_requested(), "stopped while its process was waited for");
            match UnixStream::connect(&socket) {
                Ok(stream) => return Ok(stream),
                Err(_) if began.elapsed() < START && self.ended().is_none() => {}
                Err(_) => bail!("{}", self.why_silent("did not begin to work")),
            }
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    /// Whether a file lies in the folder that is shared with the process.
    pub(super) fn shares(&self, file: &Path) -> bool {
        let is_file = std::fs::symlink_metadata(file).is_ok_and(|about| about.is_file());
        is_file && file.parent() == Some(self.folder.path())
    }

    /// No environment is added to it any longer; it ends with the last one that it has.
    pub(super) fn retire(&self) {
        self.retired.store(true, Ordering::Relaxed);
    }

    /// Ends the process, which did not answer in time: whoever is late once is not waited for again.
    pub(super) fn give_up(&self) {
        self.retire();
        self.is_late.store(true, Ordering::Relaxed);
        // It may have ended already.
        let _ = self.child().kill();
    }

    /// Bytes of memory that it has, where the system tells.
    pub(super) fn memory(&self) -> Option<f64> {
        const PAGE: f64 = 4096.0;
        let pages = std::fs::read_to_string(format!("/proc/{}/statm", self.child().id())).ok()?;
        pages.split(' ').nth(1)?.parse::<f64>().ok().map(|resident| resident * PAGE)
    }

    /// Whether a thread is one of its own, where the system tells; what a process says of itself is not believed.
    pub(super) fn has_thread(&self, thread: i32) -> bool {
        thread > 0 && Path::new(&format!("/proc/{}/task/{thread}", self.child().id())).exists()
    }

    /// How many environments are in it.
    pub(super) fn environments(&self) -> usize {
        self.environments.load(Ordering::Relaxed)
    }

    /// Another environment is in it.
    pub(super) fn enter(&self) {
        self.environments.fetch_add(1, Ordering::Relaxed);
    }

    /// An environment is gone.
    pub(super) fn leave(&self) {
        self.environments.fetch_sub(1, Ordering::Relaxed);
    }

    /// Whether it did not answer in time.
    pub(super) fn is_late(&self) -> bool {
        self.is_late.load(Ordering::Relaxed)
    }

    /// Whether an environment may be added to it.
    pub(super) fn is_open(&self) -> bool {
        !self.retired.load(Ordering::Relaxed) && self.ended().is_none()
    }

    /// Why it does not answer: that it ended, or what it did instead, with what it said last.
    pub(super) fn why_silent(&self, instead: &str) -> String {
        // One that ends closes its connections first, and on a busy machine may be seen running for a while.
        let began = Instant::now();
        while self.ended().is_none() && began.elapsed() < END {
            std::thread::sleep(Duration::from_millis(5));
        }
        let what = self.ended().map_or(instead.to_string(), |status| format!("ended ({status})"));
        match self.said.last_line() {
            None => format!("its process {what}"),
            Some(words) => format!("its process {what}; it said: {words}"),
        }
    }

    fn ended(&self) -> Option<ExitStatus> {
        self.child().try_wait().ok().flatten()
    }

    fn child(&self) -> MutexGuard<'_, Child> {
        self.child.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        let mut child = self.child();
        // It may have ended already; either way nothing is left to be done.
        let _ = child.kill();
        let _ = child.wait();
    }
}

/// Writes the package into a folder.
fn write(folder: &Path) -> std::io::Result<()> {
    let package = folder.join(PACKAGE);
    std::fs::create_dir(&package)?;
    SOURCES.iter().try_for_each(|(name, text)| std::fs::write(package.join(name), text))
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

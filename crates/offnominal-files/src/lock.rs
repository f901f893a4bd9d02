//! Locks: what one process writes at a time is refused to a second one, which is told who holds it.
//!
//! The lock is one of the operating system on a file beside what is locked, so a process that was killed leaves none.
//! The file holds who has it, and goes away with the lock. Where a file system knows no locks, nothing is refused.

use anyhow::{Context, Result, bail};
use chrono::{DateTime, Utc};
use std::cell::RefCell;
use std::fs::{File, OpenOptions, TryLockError};
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Weak};
use std::time::{Duration, Instant, SystemTime};

/// Name of the file that locks a folder.
const NAME: &str = ".lock";

/// Time from one look at a lock to the next.
const LOOK_EVERY: Duration = Duration::from_millis(50);

/// What one process has for itself until the last clone of this is dropped. The thread that has it may take it again.
#[derive(Debug, Clone)]
#[must_use = "the lock ends when this is dropped"]
pub struct Lock {
    _held: Arc<Held>,
}

#[derive(Debug)]
struct Held {
    /// The file of the lock.
    path: PathBuf,
    /// The open file, whose closing ends the lock.
    file: File,
    /// Whether the folder that it is in was made for it, so that a command that is refused leaves nothing.
    made: bool,
}

thread_local! {
    /// What this thread has: a command takes its folder, and its journal does so again.
    static MINE: RefCell<Vec<Weak<Held>>> = const { RefCell::new(Vec::new()) };
}

impl Lock {
    /// Takes a folder, which is made if it is missing.
    ///
    /// # Errors
    /// If another process has it, which is named, or the file of the lock cannot be written.
    pub fn folder(folder: &Path) -> Result<Lock> {
        Lock::folder_within(folder, Duration::ZERO)
    }

    /// Takes a folder as [`Lock::folder`] does, but waits so long for who has it: for what takes a moment.
    ///
    /// # Errors
    /// As [`Lock::folder`], after that time.
    pub fn folder_within(folder: &Path, patience: Duration) -> Result<Lock> {
        let made = make(folder)?;
        take(&folder.canonicalize().unwrap_or_else(|_| folder.into()).join(NAME), folder, made, patience)
    }

    /// Takes a file, which need not exist; the folder that it is in is made if it is missing.
    ///
    /// # Errors
    /// As [`Lock::folder`].
    pub fn file(path: &Path) -> Result<Lock> {
        let folder = path.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let made = make(folder)?;
        let name = path.file_name().with_context(|| format!("{}: expected a file", path.display()))?;
        let folder = folder.canonicalize().unwrap_or_else(|_| folder.into());
        take(&folder.join(format!(".{}.lock", name.to_string_lossy())), path, made, Duration::ZERO)
    }
}

/// Makes a folder, and says whether it was missing.
fn make(folder: &Path) -> Result<bool> {
    crate::confined::may_write(folder)?;
    let is_missing = !folder.exists();
    std::fs::create_dir_all(folder)
        .with_context(|| format!("cannot make the folder {}", folder.display()))?;
    Ok(is_missing)
}

/// Takes the lock in a file, which stands for a thing.
fn take(path: &Path, thing: &Path, made: bool, patience: Duration) -> Result<Lock> {
    if let Some(held) = mine(path) {
        return Ok(Lock { _held: held });
    }
    let begun = Instant::now();
    let mut file = loop {
        let error = || format!("cannot lock {}", thing.display());
        match attempt(path).with_context(error)? {
            Some(file) => break file,
            None if begun.elapsed() < patience => std::thread::sleep(LOOK_EVERY),
            None => bail!(
                "{} is in use by {}; wait for it, or choose another place with --out",
                thing.display(),
                holder(path)
            ),
        }
    };
    // Who has it is only to be read; a full disk is noticed where results are written.
    let _ = file.set_len(0).and_then(|()| file.write_all(who().as_bytes()));
    let held = Arc::new(Held { path: path.into(), file, made });
    MINE.with_borrow_mut(|mine| mine.push(Arc::downgrade(&held)));
    Ok(Lock { _held: held })
}

/// What this thread has already.
fn mine(path: &Path) -> Option<Arc<Held>> {
    MINE.with_borrow_mut(|mine| {
        mine.retain(|held| held.strong_count() > 0);
        mine.iter().filter_map(Weak::upgrade).find(|held| held.path == path)
    })
}

/// The locked file; nothing if another process has it.
fn attempt(path: &Path) -> std::io::Result<Option<File>> {
    loop {
        // Who had it may have removed the folder with it.
        path.parent().map_or(Ok(()), std::fs::create_dir_all)?;
        let file = OpenOptions::new().read(true).write(true).create(true).truncate(false).open(path)?;
        match file.try_lock() {
            Ok(()) if is_at(&file, path) => return Ok(Some(file)),
            // Who had it has just removed the file.
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Ok(None),
            Err(TryLockError::Error(e)) if e.kind() == ErrorKind::Unsupported => return Ok(Some(file)),
            Err(TryLockError::Error(e)) => return Err(e),
        }
    }
}

/// Whether an open file is the one at a path.
#[cfg(unix)]
fn is_at(file: &File, path: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    let which = |about: &std::fs::Metadata| (about.dev(), about.ino());
    matches!((file.metadata(), path.metadata()), (Ok(a), Ok(b)) if which(&a) == which(&b))
}

/// Elsewhere the file stays, so that it is always the one at its path.
#[cfg(not(unix))]
fn is_at(_: &File, _: &Path) -> bool {
    true
}

impl Drop for Held {
    fn drop(&mut self) {
        if cfg!(unix) {
            let _ = std::fs::remove_file(&self.path);
        }
        let _ = self.file.unlock();
        // Only an empty folder is removed.
        if let Some(folder) = self.path.parent().filter(|_| self.made) {
            let _ = std::fs::remove_dir(folder);
        }
    }
}

/// This process, in words.
fn who() -> String {
    let command: Vec<String> = std::env::args_os().map(|word| word.to_string_lossy().into()).collect();
    let host = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
    let host = if host.is_empty() { String::new() } else { format!(" on {}", host.trim()) };
    let since = DateTime::<Utc>::from(SystemTime::now()).format("%Y-%m-%d %H:%M:%S");
    format!("process {}{host} since {since} UTC ({})\n", std::process::id(), command.join(" "))
}

/// Who has a lock, as far as that can be read.
fn holder(path: &Path) -> String {
    let text = std::fs::read_to_string(path).unwrap_or_default();
    if text.trim().is_empty() { "another process".into() } else { text.trim().into() }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What another thread is told, which stands for another process: its file is opened anew.
    fn elsewhere(take: impl FnOnce() -> Result<Lock> + Send) -> Result<(), String> {
        std::thread::scope(|s| s.spawn(|| take().map(drop).map_err(|e| format!("{e:#}"))).join().unwrap())
    }

    #[test]
    fn a_second_process_is_told_who_has_the_folder() {
        let folder = tempfile::tempdir().unwrap();
        let out = folder.path().join("deep/out");
        let held = Lock::folder(&out).unwrap();
        let refusal = elsewhere(|| Lock::folder(&out)).unwrap_err();
        let process = format!("is in use by process {}", std::process::id());
        assert!(refusal.contains(&process) && refusal.contains(" UTC (") && refusal.contains("--out"));
        assert!(refusal.starts_with(&out.display().to_string()), "{refusal}");
        let again = Lock::folder(&folder.path().join("deep/../deep/out")).unwrap();
        drop(held);
        assert!(elsewhere(|| Lock::folder(&out)).is_err(), "the thread that has it took it twice");
        drop(again);
        elsewhere(|| Lock::folder(&out)).unwrap();
        assert!(!out.exists(), "an empty folder that was made for the lock goes with it");
        std::fs::create_dir(&out).unwrap();
        drop(Lock::folder(&out).unwrap());
        assert_eq!(std::fs::read_dir(&out).unwrap().count(), 0, "the file goes with the lock");
    }

    #[test]
    fn what_a_killed_process_leaves_locks_nothing() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join(NAME), "process 1 since long ago").unwrap();
        drop(Lock::folder(folder.path()).unwrap());
    }

    #[test]
    fn files_of_a_folder_are_taken_one_by_one() {
        let folder = tempfile::tempdir().unwrap();
        let [a, b] = ["a.arrow", "b.arrow"].map(|name| folder.path().join(name));
        let held = Lock::file(&a).unwrap();
        elsewhere(|| Lock::file(&b)).unwrap();
        assert!(elsewhere(|| Lock::file(&a)).unwrap_err().contains("a.arrow is in use"));
        drop(held);
        elsewhere(|| Lock::file(&a)).unwrap();
    }

    #[test]
    fn a_moment_is_waited_for() {
        let folder = tempfile::tempdir().unwrap();
        let held = Lock::folder(folder.path()).unwrap();
        std::thread::scope(|s| {
            let patient = s.spawn(|| Lock::folder_within(folder.path(), Duration::from_secs(60)).map(drop));
            std::thread::sleep(Duration::from_millis(100));
            drop(held);
            patient.join().unwrap().unwrap();
        });
    }

    #[test]
    fn of_many_at_once_one_has_it() {
        let folder = tempfile::tempdir().unwrap();
        let (inside, most) = (std::sync::atomic::AtomicUsize::new(0), 8);
        std::thread::scope(|s| {
            for _ in 0..most {
                s.spawn(|| {
                    for _ in 0..50 {
                        let wait = Duration::from_secs(60);
                        let held = Lock::folder_within(folder.path(), wait).unwrap();
                        use std::sync::atomic::Ordering::SeqCst;
                        assert_eq!(inside.fetch_add(1, SeqCst), 0);
                        inside.fetch_sub(1, SeqCst);
                        drop(held);
                    }
                });
            }
        });
    }
}

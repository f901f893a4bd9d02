//! The folder in memory that a process of environments and the engine share, which outlives neither.
//!
//! The engine holds a lock on a file in it as long as it lives. A folder whose lock can be had belongs to an engine that
//! was killed, and the next one removes it.

use std::fs::{File, TryLockError};
use std::io::{ErrorKind, Result};
use std::path::{Path, PathBuf};
use std::sync::Once;
use std::time::Duration;
use tempfile::TempDir;

/// Where files are memory, on systems that have such a folder.
const MEMORY: &str = "/dev/shm";

/// How the names of such folders begin.
const PREFIX: &str = "offnominal-host-";

/// The file that is locked.
const LOCK: &str = "lock";

/// A folder without a lock is being made, unless it is older than this.
const YOUNG: Duration = Duration::from_secs(60);

/// A folder of our own; it goes with this value.
pub(super) struct Folder {
    dir: TempDir,
    _lock: File,
}

impl Folder {
    /// A new one, in memory if there is such a place. The first of a process removes what others left behind.
    ///
    /// # Errors
    /// If none can be made.
    pub(super) fn new() -> Result<Folder> {
        static SWEPT: Once = Once::new();
        SWEPT.call_once(|| {
            [PathBuf::from(MEMORY), std::env::temp_dir()].iter().for_each(|place| sweep(place))
        });
        let make = || tempfile::Builder::new();
        let dir = make().prefix(PREFIX).tempdir_in(MEMORY).or_else(|_| make().prefix(PREFIX).tempdir())?;
        let lock = locked(dir.path())?;
        Ok(Folder { dir, _lock: lock })
    }

    /// Where it is.
    pub(super) fn path(&self) -> &Path {
        self.dir.path()
    }
}

/// The lock appears when it is held: whoever finds it can tell whether its owner lives.
fn locked(folder: &Path) -> Result<File> {
    let aside = folder.join("lock.new");
    let lock = File::create(&aside)?;
    lock.lock()?;
    std::fs::rename(&aside, folder.join(LOCK))?;
    Ok(lock)
}

/// Removes the folders of engines that are gone. What cannot be read or removed is somebody else's.
fn sweep(place: &Path) {
    for entry in std::fs::read_dir(place).into_iter().flatten().flatten() {
        let is_ours = entry.file_name().to_string_lossy().starts_with(PREFIX);
        if is_ours && entry.file_type().is_ok_and(|kind| kind.is_dir()) && is_orphan(&entry.path()) {
            let _ = std::fs::remove_dir_all(entry.path());
        }
    }
}

fn is_orphan(folder: &Path) -> bool {
    match File::open(folder.join(LOCK)) {
        // The lock that is had here goes with the file.
        Ok(lock) => !matches!(lock.try_lock(), Err(TryLockError::WouldBlock | TryLockError::Error(_))),
        Err(error) if error.kind() == ErrorKind::NotFound => {
            let changed = folder.metadata().and_then(|about| about.modified());
            changed.ok().and_then(|at| at.elapsed().ok()).is_some_and(|age| age > YOUNG)
        }
        Err(_) => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_killed_engine_left_is_removed_and_what_lives_stays() {
        let place = tempfile::tempdir().unwrap();
        let folder = |name: &str| {
            let path = place.path().join(name);
            std::fs::create_dir(&path).unwrap();
            path
        };
        let [dead, alive, young, other] =
            ["offnominal-host-a", "offnominal-host-b", "offnominal-host-c", "mine"].map(folder);
        drop(locked(&dead).unwrap());
        std::fs::write(dead.join("observation-0"), vec![0; 1000]).unwrap();
        let held = locked(&alive).unwrap();
        drop(locked(&other).unwrap());
        sweep(place.path());
        assert!(!dead.exists() && alive.exists() && young.exists() && other.exists());
        drop(held);
        sweep(place.path());
        assert!(!alive.exists());
    }
}

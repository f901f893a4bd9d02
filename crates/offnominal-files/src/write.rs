//! Files are written aside and renamed, so that nothing is ever half-written.
//!
//! What is written aside is locked by its writer. What a killed process left has no lock, and is removed when a later
//! process first writes into the same folder.

use crate::confined;
use anyhow::{Context, Result};
use std::collections::BTreeSet;
use std::fs::{File, TryLockError};
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use tempfile::{NamedTempFile, TempDir};

/// How the names of files and folders begin that are written aside.
pub const ASIDE: &str = ".offnominal-";

/// Writes a file so that it appears whole or not at all; missing folders are made.
///
/// # Errors
/// If the folder cannot be made or the file cannot be written; the message names the file.
pub fn atomically(path: &Path, bytes: &[u8]) -> Result<()> {
    confined::may_write(path)?;
    let folder = path.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
    std::fs::create_dir_all(folder)
        .with_context(|| format!("cannot make the folder {}", folder.display()))?;
    sweep_once(folder);
    let write = || -> std::io::Result<()> {
        let mut aside = file_aside(folder)?;
        aside.write_all(bytes)?;
        aside.as_file().sync_all()?;
        aside.persist(path).map_err(|e| e.error)?;
        Ok(())
    };
    write().with_context(|| format!("cannot write {}", path.display()))
}

/// A folder beside others, to be filled and then put in its place; it goes away if it is not.
#[derive(Debug)]
pub struct FolderAside {
    folder: TempDir,
    _lock: Option<File>,
}

impl FolderAside {
    /// Makes one; missing parents are made.
    ///
    /// # Errors
    /// If it cannot be made; the message names the parent.
    pub fn new(parent: &Path) -> Result<FolderAside> {
        confined::may_write(parent)?;
        let make = || {
            std::fs::create_dir_all(parent)?;
            sweep_once(parent);
            loop {
                let folder = builder(0o777).tempdir_in(parent)?;
                let lock = match File::open(folder.path()) {
                    Ok(lock) if is_claimed(&lock, folder.path()) => Some(lock),
                    // Somebody took it for a leftover before it was locked.
                    Ok(_) => continue,
                    Err(e) if e.kind() == ErrorKind::NotFound => continue,
                    // Where a folder cannot be opened, it cannot be locked, and nobody removes it.
                    Err(_) => None,
                };
                return Ok(FolderAside { folder, _lock: lock });
            }
        };
        let made: std::io::Result<FolderAside> = make();
        made.with_context(|| format!("cannot make a folder in {}", parent.display()))
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        self.folder.path()
    }

    /// Puts it in its place.
    ///
    /// # Errors
    /// If it cannot be renamed; it is gone then.
    pub fn put(self, place: &Path) -> std::io::Result<()> {
        self.try_put(place).map_err(|(_, why)| why)
    }

    /// Puts it in its place, if that is free.
    ///
    /// # Errors
    /// If it cannot be renamed; it comes back with the reason.
    pub fn try_put(self, place: &Path) -> Result<(), (FolderAside, std::io::Error)> {
        match std::fs::rename(self.path(), place) {
            Ok(()) => {
                let _ = self.folder.keep();
                Ok(())
            }
            Err(why) => Err((self, why)),
        }
    }
}

/// Removes what killed processes left aside in a folder; what somebody writes at this moment stays.
pub fn sweep(folder: &Path) {
    for item in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        if !item.file_name().to_string_lossy().starts_with(ASIDE) {
            continue;
        }
        let path = item.path();
        // The lock is held until the thing is gone, so that its writer, if it has just been made, notices.
        let Ok(left) = File::open(&path) else { continue };
        if left.try_lock().is_ok() {
            let _ = if path.is_dir() { std::fs::remove_dir_all(&path) } else { std::fs::remove_file(&path) };
        }
    }
}

/// Removes what killed processes left, when this process first writes into a folder.
fn sweep_once(folder: &Path) {
    static SWEPT: Mutex<BTreeSet<PathBuf>> = Mutex::new(BTreeSet::new());
    let folder = folder.canonicalize().unwrap_or_else(|_| folder.into());
    let mut swept = SWEPT.lock().unwrap_or_else(PoisonError::into_inner);
    if !swept.contains(&folder) {
        sweep(&folder);
        swept.insert(folder);
    }
}

fn file_aside(folder: &Path) -> std::io::Result<NamedTempFile> {
    loop {
        let aside = builder(0o666).tempfile_in(folder)?;
        if is_claimed(aside.as_file(), aside.path()) {
            return Ok(aside);
        }
    }
}

/// Locks what was just made, unless somebody took it for a leftover in between.
fn is_claimed(file: &File, path: &Path) -> bool {
    match file.try_lock() {
        Ok(()) => path.exists(),
        Err(TryLockError::WouldBlock) => false,
        // Where nothing can be locked, nobody removes it.
        Err(TryLockError::Error(_)) => true,
    }
}

/// What is made aside is private by default; here it is for others to read, as far as the user's mask allows.
fn builder<'a>(mode: u32) -> tempfile::Builder<'a, 'a> {
    let mut builder = tempfile::Builder::new();
    builder.prefix(ASIDE);
    #[cfg(not(unix))]
    let _ = mode;
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(mode));
    builder
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_replaced_whole_and_nothing_is_left_beside_it() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("deep/er/file");
        atomically(&path, b"one").unwrap();
        atomically(&path, b"two").unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), b"two");
        assert_eq!(std::fs::read_dir(path.parent().unwrap()).unwrap().count(), 1);
    }

    #[test]
    fn an_error_names_the_file() {
        let folder = tempfile::tempdir().unwrap();
        let error = atomically(folder.path(), b"").unwrap_err();
        assert!(format!("{error:#}").contains(&folder.path().display().to_string()));
    }

    #[test]
    fn what_a_killed_process_left_is_removed_and_what_is_being_written_stays() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(format!("{ASIDE}{name}"));
        std::fs::write(at("file"), b"half").unwrap();
        std::fs::create_dir(at("folder")).unwrap();
        std::fs::write(at("folder").join("inside"), b"half").unwrap();
        let (writing, filling) =
            (file_aside(folder.path()).unwrap(), FolderAside::new(folder.path()).unwrap());
        std::fs::write(at("late"), b"half").unwrap();
        assert!(!at("file").exists() && !at("folder").exists(), "the first writing removes them");
        sweep(folder.path());
        assert!(!at("late").exists() && writing.path().exists() && filling.path().exists());
        std::fs::write(filling.path().join("a"), b"a").unwrap();
        filling.put(&folder.path().join("place")).unwrap();
        assert_eq!(std::fs::read(folder.path().join("place/a")).unwrap(), b"a");
        drop(writing);
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[test]
    fn writers_and_sweepers_do_not_disturb_one_another() {
        let folder = tempfile::tempdir().unwrap();
        let write = || {
            for i in 0..300 {
                atomically(&folder.path().join(format!("{i}")), b"whole").unwrap();
                let filling = FolderAside::new(folder.path()).unwrap();
                std::fs::write(filling.path().join("inside"), b"whole").unwrap();
                filling.put(&folder.path().join(format!("folder {i}"))).unwrap();
            }
        };
        std::thread::scope(|s| {
            let writing = s.spawn(write);
            while !writing.is_finished() {
                sweep(folder.path());
            }
        });
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 600);
    }
}

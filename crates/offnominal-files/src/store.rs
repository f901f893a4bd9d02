//! Finished work on disk, found by what it is: one folder per cell, named by the digest of the cell's specification.
//!
//! A cell's files are written into a folder aside; `done.json`, with the digest of each file, is written last; then
//! the folder is renamed. So a cell is there whole or not at all, whenever the program is killed. A cell whose files
//! no longer have their digests counts as damaged and is made again.

use crate::lock::Lock;
use crate::write::FolderAside;
use anyhow::{Context, Result, ensure};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Name of the file that says that a cell is complete.
const DONE: &str = "done.json";

/// How the folders begin that help to go on with a cell.
const UNFINISHED: &str = ".unfinished-";

/// The longest that another process may take to replace a damaged cell.
const PATIENCE: Duration = Duration::from_secs(60);

/// The cells of an output folder.
#[derive(Debug, Clone)]
pub struct Store {
    cells: PathBuf,
}

/// What is there of a cell.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum State {
    /// All of it.
    Done,
    /// Nothing.
    Missing,
    /// Files that are not what was written; says which.
    Damaged(String),
}

/// The digests of a cell's files.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Done {
    files: BTreeMap<String, String>,
}

/// The name of something by its content: 128 bits of SHA-256 in hexadecimal digits.
pub fn address(content: &[u8]) -> String {
    hex(&Sha256::digest(content)[..16])
}

/// Bytes as lower-case hexadecimal digits.
pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|b| format!("{b:02x}")).collect()
}

impl Store {
    /// The store of an output folder; nothing is written yet.
    pub fn new(out: &Path) -> Store {
        Store { cells: out.join("cells") }
    }

    /// What is there of a cell; every file is read and its digest compared.
    pub fn state(&self, cell: &str) -> State {
        let folder = self.cells.join(cell);
        if !folder.exists() {
            return State::Missing;
        }
        match verify(&folder) {
            Ok(_) => State::Done,
            Err(why) => State::Damaged(format!("{why:#}")),
        }
    }

    /// Stores the files of a finished cell, in place of whatever else is there; the same files are left alone, as
    /// another process may be reading them.
    ///
    /// # Errors
    /// If the files cannot be written.
    pub fn save(&self, cell: &str, files: &[(&str, Vec<u8>)]) -> Result<()> {
        let aside = FolderAside::new(&self.cells)?;
        let mut done = Done { files: BTreeMap::new() };
        for (name, bytes) in files {
            write(&aside.path().join(name), bytes)?;
            done.files.insert((*name).into(), hex(&Sha256::digest(bytes)));
        }
        write(&aside.path().join(DONE), &serde_json::to_vec_pretty(&done)?)?;
        self.place(aside, &done, &self.cells.join(cell))?;
        remove(&self.unfinished(cell))
    }

    /// Puts a finished cell where it belongs. A cell that is whole is never removed, as another process may have been
    /// faster and be reading it.
    fn place(&self, aside: FolderAside, done: &Done, folder: &Path) -> Result<()> {
        let is_there = || verify(folder).is_ok_and(|found| found == *done);
        let place = || format!("cannot write {}", folder.display());
        if is_there() {
            return Ok(());
        }
        let Err((aside, error)) = aside.try_put(folder) else { return Ok(()) };
        if is_there() {
            return Ok(());
        }
        if !folder.exists() {
            return Err(error).with_context(place);
        }
        // Something else is there. One process at a time removes it, so that none removes what another has just put.
        let _held = Lock::folder_within(&self.cells, PATIENCE)?;
        if is_there() {
            return Ok(());
        }
        remove(folder)?;
        match aside.try_put(folder) {
            Err((_, error)) if !is_there() => Err(error).with_context(place),
            _ => Ok(()),
        }
    }

    /// Reads a file of a finished cell.
    ///
    /// # Errors
    /// If it is not there; the message names it.
    pub fn read(&self, cell: &str, file: &str) -> Result<Vec<u8>> {
        crate::read::bytes(&self.cells.join(cell).join(file))
    }

    /// A folder for what helps to go on with a cell that takes long; it stays until the cell is kept.
    pub fn unfinished(&self, cell: &str) -> PathBuf {
        self.cells.join(format!("{UNFINISHED}{cell}"))
    }

    /// Removes what killed runs have left: what they wrote aside, and what helped with cells that are there. What
    /// another process is writing stays.
    pub fn sweep(&self) {
        crate::write::sweep(&self.cells);
        for item in std::fs::read_dir(&self.cells).into_iter().flatten().flatten() {
            let name = item.file_name().to_string_lossy().into_owned();
            let cell = name.strip_prefix(UNFINISHED);
            if cell.is_some_and(|cell| self.cells.join(cell).join(DONE).exists()) {
                let _ = remove(&item.path());
            }
        }
    }
}

fn write(path: &Path, bytes: &[u8]) -> Result<()> {
    std::fs::write(path, bytes).with_context(|| format!("cannot write {}", path.display()))
}

fn remove(folder: &Path) -> Result<()> {
    match std::fs::remove_dir_all(folder) {
        Err(e) if e.kind() != std::io::ErrorKind::NotFound => {
            Err(e).with_context(|| format!("cannot remove {}", folder.display()))
        }
        _ => Ok(()),
    }
}

/// What a cell's folder holds, if every file is what was written and none is without a digest.
fn verify(folder: &Path) -> Result<Done> {
    let read = |name: &str| crate::read::bytes(&folder.join(name));
    let done: Done = serde_json::from_slice(&read(DONE)?).context(DONE)?;
    for (name, expected) in &done.files {
        let found = hex(&Sha256::digest(read(name)?));
        ensure!(found == *expected, "{name}: expected the digest {expected}, found {found}");
    }
    for item in std::fs::read_dir(folder)? {
        let name = item?.file_name().to_string_lossy().into_owned();
        let is_named = name == DONE || done.files.contains_key(&name) || name.starts_with('.');
        ensure!(is_named, "{name}: expected its digest in {DONE}, found none");
    }
    Ok(done)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn saved() -> (tempfile::TempDir, Store) {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::new(folder.path());
        store.save("c", &[("a.bin", vec![1, 2]), ("b.bin", vec![3])]).unwrap();
        (folder, store)
    }

    #[test]
    fn a_cell_is_missing_then_done() {
        let (_folder, store) = saved();
        assert_eq!((store.state("other"), store.state("c")), (State::Missing, State::Done));
        assert_eq!(store.read("c", "a.bin").unwrap(), [1, 2]);
        store.save("c", &[("a.bin", vec![9])]).unwrap();
        assert_eq!(store.read("c", "a.bin").unwrap(), [9]);
        assert!(store.read("c", "b.bin").is_err());
    }

    #[test]
    fn damage_is_noticed_and_named() {
        let (folder, store) = saved();
        let cell = folder.path().join("cells/c");
        std::fs::write(cell.join("b.bin"), [4]).unwrap();
        assert!(
            matches!(store.state("c"), State::Damaged(why) if why.contains("b.bin: expected the digest"))
        );
        let (done, whole) = (cell.join(DONE), std::fs::read_to_string(cell.join(DONE)).unwrap());
        let cut: Vec<&str> = whole.lines().filter(|line| !line.contains("b.bin")).collect();
        std::fs::write(&done, cut.join("\n").replace("\",", "\"")).unwrap();
        assert!(
            matches!(store.state("c"), State::Damaged(why) if why == "b.bin: expected its digest in done.json, found none")
        );
        std::fs::write(&done, whole).unwrap();
        std::fs::remove_file(cell.join("b.bin")).unwrap();
        assert!(
            matches!(store.state("c"), State::Damaged(why) if why.contains("cannot read") && why.contains("b.bin"))
        );
        std::fs::remove_file(cell.join(DONE)).unwrap();
        assert!(matches!(store.state("c"), State::Damaged(why) if why.contains(DONE)));
    }

    #[test]
    fn a_cell_that_another_process_made_stays_as_it_is() {
        let (folder, store) = saved();
        // Whoever reads the cell has its files open, or is about to open them.
        let held = std::fs::File::open(folder.path().join("cells/c/a.bin")).unwrap();
        let made = held.metadata().unwrap().modified().unwrap();
        std::fs::create_dir(store.unfinished("c")).unwrap();
        store.save("c", &[("a.bin", vec![1, 2]), ("b.bin", vec![3])]).unwrap();
        let there = std::fs::metadata(folder.path().join("cells/c/a.bin")).unwrap();
        assert_eq!(there.modified().unwrap(), made);
        assert!(!store.unfinished("c").exists());
    }

    #[test]
    fn a_cell_that_is_whole_is_there_for_everyone_while_others_save_it() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::new(folder.path());
        for round in 0..200 {
            let (cell, start) = (format!("c{round}"), std::sync::Barrier::new(8));
            std::thread::scope(|s| {
                for _ in 0..8 {
                    s.spawn(|| {
                        start.wait();
                        store.save(&cell, &[("a.bin", vec![1, 2])]).unwrap();
                        assert_eq!(store.read(&cell, "a.bin").unwrap(), [1, 2]);
                    });
                }
            });
        }
    }

    #[test]
    fn what_a_killed_run_leaves_is_swept() {
        let (folder, store) = saved();
        let left = folder.path().join("cells").join(format!("{}x", crate::write::ASIDE));
        std::fs::create_dir(&left).unwrap();
        for cell in ["c", "d"] {
            std::fs::create_dir(store.unfinished(cell)).unwrap();
        }
        store.sweep();
        assert!(!left.exists() && store.state("c") == State::Done);
        assert!(!store.unfinished("c").exists() && store.unfinished("d").exists());
    }
}

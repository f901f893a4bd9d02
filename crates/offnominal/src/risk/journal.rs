//! What a run has found so far, block by block, so that one that was killed goes on where it was.
//!
//! The first line says which run it is, each further one holds a block. A line that was cut off is dropped when the
//! journal is opened: its block is made again and comes out the same.

use anyhow::{Context, Result, ensure};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::fs::{File, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};

/// A journal that is open for further blocks.
pub struct Journal {
    path: PathBuf,
    file: File,
}

/// The first line.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct First<S> {
    format: u32,
    run: S,
}

const FORMAT: u32 = 1;

impl Journal {
    /// Opens the journal of a run, or begins one, and reads the blocks that are there.
    ///
    /// # Errors
    /// If it is the journal of another run, or damaged, or cannot be read or written.
    pub fn open<S, B>(path: &Path, run: &S) -> Result<(Journal, Vec<B>)>
    where
        S: Serialize + DeserializeOwned + PartialEq,
        B: DeserializeOwned,
    {
        if !path.exists() {
            let first = serde_json::to_string(&First { format: FORMAT, run })? + "\n";
            crate::write::atomically(path, first.as_bytes())?;
        }
        let text = std::fs::read(path).with_context(|| format!("cannot read {}", path.display()))?;
        let whole = text.iter().rposition(|&b| b == b'\n').map_or(0, |end| end + 1);
        let lines = std::str::from_utf8(&text[..whole]).with_context(|| path.display().to_string())?;
        let blocks = read(lines, run).with_context(|| path.display().to_string())?;
        let file = OpenOptions::new().append(true).open(path);
        let file = file.with_context(|| format!("cannot write {}", path.display()))?;
        file.set_len(whole as u64).with_context(|| format!("cannot write {}", path.display()))?;
        Ok((Journal { path: path.to_path_buf(), file }, blocks))
    }

    /// Adds a block.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn push(&mut self, block: &impl Serialize) -> Result<()> {
        let line = serde_json::to_string(block)? + "\n";
        let written = self.file.write_all(line.as_bytes()).and_then(|()| self.file.sync_data());
        written.with_context(|| format!("cannot write {}", self.path.display()))
    }
}

fn read<S, B>(lines: &str, run: &S) -> Result<Vec<B>>
where
    S: Serialize + DeserializeOwned + PartialEq,
    B: DeserializeOwned,
{
    let mut lines = lines.lines();
    let first: First<S> =
        serde_json::from_str(lines.next().context("expected a first line that names the run, found none")?)
            .context("line 1")?;
    ensure!(first.format == FORMAT, "expected version {FORMAT} of the format, found {}", first.format);
    ensure!(
        first.run == *run,
        "expected the run {}, found {}; choose another --out",
        serde_json::to_string(run)?,
        serde_json::to_string(&first.run)?
    );
    lines
        .enumerate()
        .map(|(i, line)| serde_json::from_str(line).with_context(|| format!("line {}", i + 2)))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_come_back_and_a_cut_line_is_dropped() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("journal.jsonl");
        let open = || Journal::open::<String, Vec<u32>>(&path, &"a".to_string());
        open().unwrap().0.push(&vec![1, 2]).unwrap();
        let mut cut = std::fs::read(&path).unwrap();
        cut.extend(b"[3,");
        std::fs::write(&path, cut).unwrap();
        let (mut journal, blocks) = open().unwrap();
        assert_eq!(blocks, [[1, 2]]);
        journal.push(&vec![4]).unwrap();
        assert_eq!(open().unwrap().1, [vec![1, 2], vec![4]]);
    }

    #[test]
    fn the_journal_of_another_run_and_a_damaged_one_are_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("journal.jsonl");
        Journal::open::<String, u32>(&path, &"a".to_string()).unwrap();
        let error = Journal::open::<String, u32>(&path, &"b".to_string()).err().unwrap();
        assert!(format!("{error:#}").contains("expected the run \"b\", found \"a\""), "{error:#}");
        let mut text = std::fs::read(&path).unwrap();
        text.extend(b"x\n");
        std::fs::write(&path, text).unwrap();
        let error = Journal::open::<String, u32>(&path, &"a".to_string()).err().unwrap();
        assert!(format!("{error:#}").contains("line 2"), "{error:#}");
    }
}

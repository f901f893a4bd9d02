//! What a run has found so far, block by block, so that one that was killed goes on where it was.
//!
//! The first line says which run it is, each further one holds a block. A line that was cut off is dropped when the
//! journal is opened: its block is made again and comes out the same.

use anyhow::{Context, Result, bail, ensure};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;
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
    /// If it is the journal of another run, of which the first difference is said, or damaged, or cannot be read or
    /// written.
    pub fn open<S, B>(path: &Path, run: &S) -> Result<(Journal, Vec<B>)>
    where
        S: Serialize + DeserializeOwned + PartialEq,
        B: DeserializeOwned,
    {
        if !path.exists() {
            let first = serde_json::to_string(&First { format: FORMAT, run })? + "\n";
            crate::write::atomically(path, first.as_bytes())?;
        }
        let text = crate::read::bytes(path)?;
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
    if first.run != *run {
        let what = difference("run", &serde_json::to_value(run)?, &serde_json::to_value(&first.run)?);
        bail!("{what}; choose another --out");
    }
    lines
        .enumerate()
        .map(|(i, line)| serde_json::from_str(line).with_context(|| format!("line {}", i + 2)))
        .collect()
}

/// The first thing in which a run is not the one that was expected.
fn difference(name: &str, expected: &Value, found: &Value) -> String {
    const NOTHING: &Value = &Value::Null;
    match (expected, found) {
        (Value::Object(a), Value::Object(b)) => {
            let at = |key: &String| (a.get(key).unwrap_or(NOTHING), b.get(key).unwrap_or(NOTHING));
            let mut keys = a.keys().chain(b.keys());
            keys.find(|key| at(key).0 != at(key).1).map_or_else(String::new, |key| {
                let (expected, found) = at(key);
                difference(&format!("{name}, {key}"), expected, found)
            })
        }
        (Value::Array(a), Value::Array(b)) if a.len() == b.len() => {
            let i = a.iter().zip(b).position(|(a, b)| a != b).unwrap_or(0);
            difference(&format!("{name}, number {}", i + 1), &a[i], &b[i])
        }
        (Value::Array(a), Value::Array(b)) => format!("{name}: expected {}, found {}", a.len(), b.len()),
        (expected, found) => format!("{name}: expected {expected}, found {found}"),
    }
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
        assert!(format!("{error:#}").contains("run: expected \"b\", found \"a\""), "{error:#}");
        let mut text = std::fs::read(&path).unwrap();
        text.extend(b"x\n");
        std::fs::write(&path, text).unwrap();
        let error = Journal::open::<String, u32>(&path, &"a".to_string()).err().unwrap();
        assert!(format!("{error:#}").contains("line 2"), "{error:#}");
    }

    #[test]
    fn only_what_differs_is_said() {
        let run = |text: &str| serde_json::from_str::<Value>(text).unwrap();
        let cases = [
            (r#"{"a": 1, "b": {"c": 2}}"#, r#"{"a": 1, "b": {"c": 3}}"#, "run, b, c: expected 2, found 3"),
            (r#"{"a": 1, "b": 2}"#, r#"{"a": 1}"#, "run, b: expected 2, found null"),
            (r#"{"a": 1}"#, r#"{"a": 1, "b": 2}"#, "run, b: expected null, found 2"),
            (r#"{"a": [1, 2]}"#, r#"{"a": [1, 3]}"#, "run, a, number 2: expected 2, found 3"),
            (r#"{"a": [1, 2]}"#, r#"{"a": [1]}"#, "run, a: expected 2, found 1"),
        ];
        for (expected, found, said) in cases {
            assert_eq!(difference("run", &run(expected), &run(found)), said);
        }
    }
}

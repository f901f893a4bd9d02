//! What a run has found so far, block by block, so that one that was killed goes on where it was.
//!
//! The first line says which run it is, each further one holds a block with a digest of it and of all lines before it.
//! So no block can be changed, removed, repeated or moved without notice. A last line that was cut off is dropped when
//! the journal is opened: its block is made again and comes out the same. Who has a journal open has its folder.

use crate::lock::Lock;
use crate::store::address;
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
    /// Length of what is whole.
    len: u64,
    /// Digest of the lines so far.
    chain: String,
    /// Whether the file ends with a part of a block that could not be cut off.
    is_torn: bool,
    _lock: Lock,
}

/// The first line.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct First<S> {
    format: u32,
    run: S,
}

const FORMAT: u32 = 2;

/// What stands around the digest and the block of a line, which is JSON as a whole.
const LINE: [&str; 3] = ["{\"digest\":\"", "\",\"block\":", "}"];

impl Journal {
    /// Opens the journal of a run, or begins one, and reads the blocks that are there.
    ///
    /// # Errors
    /// If another process uses the folder, if it is the journal of another run, of which the first difference is said, or
    /// damaged, or cannot be read or written.
    pub fn open<S, B>(path: &Path, run: &S) -> Result<(Journal, Vec<B>)>
    where
        S: Serialize + DeserializeOwned + PartialEq,
        B: DeserializeOwned,
    {
        let lock = Lock::folder(path.parent().unwrap_or(Path::new(".")))?;
        if !path.exists() {
            let first = serde_json::to_string(&First { format: FORMAT, run })? + "\n";
            crate::write::atomically(path, first.as_bytes())?;
        }
        let text = crate::read::bytes(path)?;
        let whole = text.iter().rposition(|&b| b == b'\n').map_or(0, |end| end + 1);
        let lines = std::str::from_utf8(&text[..whole]).with_context(|| path.display().to_string())?;
        let (blocks, chain) = read(lines, run).with_context(|| path.display().to_string())?;
        let (path, cannot) = (path.to_path_buf(), || format!("cannot write {}", path.display()));
        let file = OpenOptions::new().append(true).open(&path).with_context(cannot)?;
        file.set_len(whole as u64).with_context(cannot)?;
        Ok((Journal { path, file, len: whole as u64, chain, is_torn: false, _lock: lock }, blocks))
    }

    /// Adds a block.
    ///
    /// # Errors
    /// If it cannot be written; the journal then holds what it held before.
    pub fn push(&mut self, block: &impl Serialize) -> Result<()> {
        let block = serde_json::to_string(block)?;
        let digest = chained(&self.chain, &block);
        let line = format!("{}{digest}{}{block}{}\n", LINE[0], LINE[1], LINE[2]);
        let cannot = || format!("cannot write {}", self.path.display());
        ensure!(!self.is_torn, "{}: a block was written in part before", cannot());
        let written = self.file.write_all(line.as_bytes()).and_then(|()| self.file.sync_data());
        if written.is_err() {
            // Another thread may have a block to write, which must not follow a part of this one.
            self.is_torn = self.file.set_len(self.len).is_err();
        }
        written.with_context(cannot)?;
        (self.len, self.chain) = (self.len + line.len() as u64, digest);
        Ok(())
    }
}

/// The digest of a block behind what has the first digest.
fn chained(before: &str, block: &str) -> String {
    address(format!("{before} {block}").as_bytes())
}

/// The blocks of a journal, and the digest of all its lines.
fn read<S, B>(lines: &str, run: &S) -> Result<(Vec<B>, String)>
where
    S: Serialize + DeserializeOwned + PartialEq,
    B: DeserializeOwned,
{
    let mut lines = lines.lines();
    let first = lines.next().context("expected a first line that names the run, found none")?;
    let found: First<Value> = serde_json::from_str(first).context("line 1")?;
    ensure!(found.format == FORMAT, "expected version {FORMAT} of the format, found {}", found.format);
    if serde_json::from_value::<S>(found.run.clone()).context("line 1")? != *run {
        let what = difference("run", &serde_json::to_value(run)?, &found.run);
        bail!("{what}; choose another --out, or remove what is in this one");
    }
    let (mut blocks, mut chain) = (Vec::new(), address(first.as_bytes()));
    for (i, line) in lines.enumerate() {
        let (block, digest) = next(line, &chain).with_context(|| format!("line {}, block {i}", i + 2))?;
        blocks.push(block);
        chain = digest;
    }
    Ok((blocks, chain))
}

/// The block of a line behind what has a digest, and the digest of all that.
fn next<B: DeserializeOwned>(line: &str, before: &str) -> Result<(B, String)> {
    let inside = line.strip_prefix(LINE[0]).and_then(|rest| rest.strip_suffix(LINE[2]));
    let (found, block) =
        inside.and_then(|rest| rest.split_once(LINE[1])).context("expected a block with its digest")?;
    let expected = chained(before, block);
    ensure!(
        found == expected,
        "expected the digest {expected} of the block and the lines before it, found {found}: the journal was changed"
    );
    Ok((serde_json::from_str(block)?, expected))
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
        (Value::String(a), Value::String(b)) if a.contains(", ") && b.contains(", ") => {
            let only = |a: &str, b: &str| -> String {
                let of_b: Vec<&str> = b.split(", ").collect();
                let own: Vec<&str> = a.split(", ").filter(|part| !of_b.contains(part)).collect();
                if own.is_empty() { "nothing more".into() } else { format!("{:?}", own.join(", ")) }
            };
            format!("{name} has changed: expected {}, found {}", only(a, b), only(b, a))
        }
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

    /// A journal of three blocks, and its lines.
    fn three() -> (tempfile::TempDir, PathBuf, Vec<String>) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("journal.jsonl");
        let mut journal = Journal::open::<String, Vec<u32>>(&path, &"a".to_string()).unwrap().0;
        (1..=3).for_each(|i| journal.push(&vec![i, 4]).unwrap());
        let lines = std::fs::read_to_string(&path).unwrap().lines().map(String::from).collect();
        (folder, path, lines)
    }

    #[track_caller]
    fn refused(path: &Path, lines: &[String], want: &str) {
        std::fs::write(path, lines.join("\n") + "\n").unwrap();
        let error = Journal::open::<String, Vec<u32>>(path, &"a".to_string()).err().expect("it is refused");
        let error = format!("{error:#}");
        assert!(error.contains(want) && error.contains("journal.jsonl"), "{error}");
    }

    #[test]
    fn blocks_that_were_edited_removed_repeated_or_moved_are_refused() {
        let (_folder, path, lines) = three();
        for at in 1..4 {
            let mut edited = lines.clone();
            edited[at] = lines[at].replace(",4]", ",5]");
            refused(&path, &edited, &format!("line {}, block {}: expected the digest", at + 1, at - 1));
            let mut repeated = lines.clone();
            repeated.insert(at, lines[at].clone());
            refused(&path, &repeated, &format!("line {}", at + 2));
        }
        refused(&path, &[&lines[..1], &lines[2..]].concat(), "line 2, block 0: expected the digest");
        refused(&path, &[0, 2, 1, 3].map(|i| lines[i].clone()), "line 2, block 0: expected the digest");
        refused(&path, &[lines.clone(), vec!["x".into()]].concat(), "line 5, block 3: expected a block");
        refused(&path, &lines[1..], "line 1");
        let old = lines[0].replace("\"format\":2", "\"format\":1");
        refused(&path, &[old], "expected version 2 of the format, found 1");
        // What is cut off at any place is made again.
        let whole = lines.join("\n") + "\n";
        for end in lines[0].len() + 1..whole.len() {
            std::fs::write(&path, &whole[..end]).unwrap();
            let (mut journal, blocks) = Journal::open::<String, Vec<u32>>(&path, &"a".to_string()).unwrap();
            (blocks.len() as u32 + 1..=3).for_each(|i| journal.push(&vec![i, 4]).unwrap());
            assert_eq!(std::fs::read_to_string(&path).unwrap(), whole);
        }
    }

    #[test]
    fn the_journal_of_another_run_is_refused() {
        let (_folder, path, _) = three();
        let error = Journal::open::<String, Vec<u32>>(&path, &"b".to_string()).err().unwrap();
        assert!(format!("{error:#}").contains("run: expected \"b\", found \"a\""), "{error:#}");
    }

    #[test]
    fn a_second_process_is_refused_while_a_journal_is_open() {
        let (_folder, path, _) = three();
        let open = || Journal::open::<String, Vec<u32>>(&path, &"a".to_string()).map(|(journal, _)| journal);
        let journal = open().unwrap();
        let elsewhere = || std::thread::scope(|s| s.spawn(|| open().map(drop)).join().unwrap());
        let error = format!("{:#}", elsewhere().unwrap_err());
        assert!(error.contains("is in use by process"), "{error}");
        drop(journal);
        elsewhere().unwrap();
    }

    /// `/dev/full` takes nothing and cannot be cut, as the worst of disks.
    #[test]
    #[cfg(target_os = "linux")]
    fn nothing_follows_a_block_that_was_written_in_part() {
        let (_folder, path, lines) = three();
        let mut journal = Journal::open::<String, Vec<u32>>(&path, &"a".to_string()).unwrap().0;
        let (chain, disk) =
            (journal.chain.clone(), OpenOptions::new().append(true).open("/dev/full").unwrap());
        let disk = std::mem::replace(&mut journal.file, disk);
        assert!(format!("{:#}", journal.push(&vec![9]).unwrap_err()).contains("cannot write"));
        assert!(journal.is_torn && journal.chain == chain);
        journal.file = disk;
        assert!(format!("{:#}", journal.push(&vec![9]).unwrap_err()).contains("written in part"));
        assert_eq!(std::fs::read_to_string(&path).unwrap(), lines.join("\n") + "\n");
    }

    #[test]
    fn only_what_differs_is_said() {
        let run = |text: &str| serde_json::from_str::<Value>(text).unwrap();
        let cases = [
            (r#"{"a": 1, "b": {"c": 2}}"#, r#"{"a": 1, "b": {"c": 3}}"#, "run, b, c: expected 2, found 3"),
            (r#"{"a": 1, "b": 2}"#, r#"{"a": 1}"#, "run, b: expected 2, found null"),
            (r#"{"a": 1}"#, r#"{"a": 1, "b": 2}"#, "run, b: expected null, found 2"),
            (r#"{"a": [1, 2]}"#, r#"{"a": [1, 3]}"#, "run, a, number 2: expected 2, found 3"),
            (
                r#"{"a": "v, w 1, x"}"#,
                r#"{"a": "v, w 2, x"}"#,
                "run, a has changed: expected \"w 1\", found \"w 2\"",
            ),
            (r#"{"a": [1, 2]}"#, r#"{"a": [1]}"#, "run, a: expected 2, found 1"),
        ];
        for (expected, found, said) in cases {
            assert_eq!(difference("run", &run(expected), &run(found)), said);
        }
    }
}

//! Reading files, with the file's name in every error.

use anyhow::{Context, Result, ensure};
use serde::de::DeserializeOwned;
use std::fs::{File, Metadata};
use std::io::Read;
use std::path::Path;

/// Opens a file. What is none, such as a device or a pipe, may never end, and is refused before it is opened.
///
/// # Errors
/// If it cannot be opened, or is something else.
pub fn open(path: &Path) -> Result<File> {
    let open = || -> Result<File> {
        let found = std::fs::metadata(path)?;
        ensure!(found.is_file(), "expected a file, found {}", kind(&found));
        Ok(File::open(path)?)
    };
    open().with_context(|| format!("cannot read {}", path.display()))
}

fn kind(found: &Metadata) -> &'static str {
    if found.is_dir() { "a folder" } else { "a device, a pipe or a socket, which may never end" }
}

/// The content of a file.
///
/// # Errors
/// If it cannot be read.
pub fn bytes(path: &Path) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    open(path)?.read_to_end(&mut bytes).with_context(|| format!("cannot read {}", path.display()))?;
    Ok(bytes)
}

/// What comes out of something packed, in which a few bytes may stand for billions.
///
/// # Errors
/// If it is damaged, or more than so many bytes.
pub fn unpacked(from: impl Read, most: u64) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    from.take(most.saturating_add(1)).read_to_end(&mut bytes).context("cannot unpack it")?;
    ensure!(bytes.len() as u64 <= most, "expected at most {most} bytes, found more");
    Ok(bytes)
}

/// The text in a file.
///
/// # Errors
/// If it cannot be read, or is no text in UTF-8.
pub fn text(path: &Path) -> Result<String> {
    let mut text = String::new();
    open(path)?.read_to_string(&mut text).with_context(|| format!("cannot read {}", path.display()))?;
    Ok(text)
}

/// What a file says in JSON.
///
/// # Errors
/// If it cannot be read, or says something else.
pub fn json<T: DeserializeOwned>(path: &Path) -> Result<T> {
    serde_json::from_slice(&bytes(path)?).with_context(|| path.display().to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_unpacked_has_an_end() {
        assert_eq!(unpacked(&b"abc"[..], 3).unwrap(), b"abc");
        assert!(
            unpacked(std::io::repeat(0), 1 << 20).unwrap_err().to_string().contains("at most 1048576 bytes")
        );
    }

    #[cfg(unix)]
    #[test]
    fn what_may_never_end_is_refused_before_it_is_opened() {
        let folder = tempfile::tempdir().unwrap();
        let pipe = folder.path().join("pipe");
        assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
        for path in [Path::new("/dev/zero"), &pipe, folder.path()] {
            let error = format!("{:#}", bytes(path).unwrap_err());
            assert!(
                error.starts_with(&format!("cannot read {}: expected a file, found a ", path.display())),
                "{error}"
            );
            assert_eq!(format!("{:#}", text(path).unwrap_err()), error);
        }
    }
}

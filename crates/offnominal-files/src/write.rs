//! Files are written aside and renamed, so that nothing is ever half-written.

use anyhow::{Context, Result};
use std::io::Write;
use std::path::Path;

/// Writes a file so that it appears whole or not at all; missing folders are made.
///
/// # Errors
/// If the folder cannot be made or the file cannot be written; the message names the file.
pub fn atomically(path: &Path, bytes: &[u8]) -> Result<()> {
    let folder = path.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
    std::fs::create_dir_all(folder)
        .with_context(|| format!("cannot make the folder {}", folder.display()))?;
    let write = || -> std::io::Result<()> {
        let mut aside = builder(0o666).tempfile_in(folder)?;
        aside.write_all(bytes)?;
        aside.as_file().sync_all()?;
        aside.persist(path).map_err(|e| e.error)?;
        Ok(())
    };
    write().with_context(|| format!("cannot write {}", path.display()))
}

/// A new folder beside others, to be filled and then renamed; it goes away if it is not kept. Missing parents are made.
///
/// # Errors
/// If it cannot be made; the message names the parent.
pub fn folder_aside(parent: &Path, prefix: &str) -> Result<tempfile::TempDir> {
    let make = || {
        std::fs::create_dir_all(parent)?;
        builder(0o777).prefix(prefix).tempdir_in(parent)
    };
    make().with_context(|| format!("cannot make a folder in {}", parent.display()))
}

/// What is made aside is private by default; here it is for others to read, as far as the user's mask allows.
fn builder<'a>(mode: u32) -> tempfile::Builder<'a, 'a> {
    #[allow(unused_mut, reason = "permissions are set where they exist")]
    let mut builder = tempfile::Builder::new();
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
}

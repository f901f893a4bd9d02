//! Files of a folder that may come from anybody: no link leads out of it, and no pipe is opened.

use anyhow::{Context, Result, ensure};
use std::path::{Path, PathBuf};

/// The place of a file of a folder, which no link leads out of; but for the blobs beside a snapshot, as the cache of
/// Hugging Face has them. What a folder from elsewhere holds may also be a pipe, which never ends.
///
/// # Errors
/// If it is not there, is no file, or lies elsewhere.
pub fn inside(folder: &Path, file: &Path) -> Result<PathBuf> {
    let place = || format!("{}", file.display());
    let (root, found) = (folder.canonicalize()?, file.canonicalize().with_context(place)?);
    let snapshots = root.parent().filter(|parent| parent.ends_with("snapshots"));
    let blobs = snapshots.and_then(Path::parent).map(|cache| cache.join("blobs"));
    let is_inside = found.starts_with(&root) || blobs.is_some_and(|blobs| found.starts_with(blobs));
    ensure!(is_inside, "{}: expected a file in its folder, found a link out of it", place());
    ensure!(found.is_file(), "{}: expected a file, found something else", place());
    Ok(found)
}

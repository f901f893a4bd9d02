//! Reading files, with the file's name in every error.

use anyhow::{Context, Result};
use serde::de::DeserializeOwned;
use std::path::Path;

/// The content of a file.
///
/// # Errors
/// If it cannot be read.
pub fn bytes(path: &Path) -> Result<Vec<u8>> {
    std::fs::read(path).with_context(|| format!("cannot read {}", path.display()))
}

/// The text in a file.
///
/// # Errors
/// If it cannot be read, or is no text in UTF-8.
pub fn text(path: &Path) -> Result<String> {
    std::fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))
}

/// What a file says in JSON.
///
/// # Errors
/// If it cannot be read, or says something else.
pub fn json<T: DeserializeOwned>(path: &Path) -> Result<T> {
    serde_json::from_slice(&bytes(path)?).with_context(|| path.display().to_string())
}

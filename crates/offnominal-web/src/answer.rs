//! What a page gets: byte strings, of which the first says what was found.

use anyhow::Result;
use serde::Serialize;

/// Byte strings.
pub type Parts = Vec<Vec<u8>>;

/// What a command prints, and the same with `--json`.
#[derive(Serialize)]
pub(crate) struct Answer<T> {
    text: String,
    found: T,
}

/// The first part of an answer.
pub(crate) fn said<T: Serialize + ToString>(found: &T) -> Result<Vec<u8>> {
    Ok(serde_json::to_vec(&Answer { text: found.to_string(), found })?)
}

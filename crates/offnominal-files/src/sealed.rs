//! JSON files with a digest inside, so that one that was changed is refused: what a command reads back to go on.

use crate::store::address;
use anyhow::{Context, Result, ensure};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::path::Path;

/// The file.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Sealed {
    content: Value,
    digest: String,
}

/// Writes a value, whole or not at all.
///
/// # Errors
/// If it cannot be written.
pub fn write(path: &Path, value: &impl Serialize) -> Result<()> {
    let content = serde_json::to_value(value)?;
    let sealed = Sealed { digest: digest(&content), content };
    let text = serde_json::to_string_pretty(&sealed)? + "\n";
    crate::write::atomically(path, text.as_bytes())
}

/// Reads a value.
///
/// # Errors
/// If it cannot be read, or is not what was written.
pub fn read<T: DeserializeOwned>(path: &Path) -> Result<T> {
    let place = || path.display().to_string();
    let Sealed { content, digest: expected } = crate::read::json(path)?;
    let found = digest(&content);
    ensure!(
        found == expected,
        "{}: expected the digest {expected}, found {found}: the file was changed",
        place()
    );
    serde_json::from_value(content).with_context(place)
}

fn digest(content: &Value) -> String {
    address(content.to_string().as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_comes_back_and_a_changed_one_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("notes.json");
        let value = (vec![0.1 + 0.2, 1e-300], "text".to_string(), u64::MAX);
        write(&path, &value).unwrap();
        assert_eq!(read::<(Vec<f64>, String, u64)>(&path).unwrap(), value);
        let text = std::fs::read_to_string(&path).unwrap();
        std::fs::write(&path, text.replace("text", "next")).unwrap();
        let error = read::<(Vec<f64>, String, u64)>(&path).unwrap_err().to_string();
        assert!(error.contains("notes.json: expected the digest") && error.contains("changed"), "{error}");
    }
}

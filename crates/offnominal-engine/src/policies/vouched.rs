//! Policies in files are played only if something tells that they are what was written.
//!
//! A file holds a digest itself. One of the first version, which has none, needs its card, or a line in `SHA256SUMS` beside
//! it, which `sha256sum *.safetensors > SHA256SUMS` writes.

use anyhow::{Context, Result, bail, ensure};
use offnominal_files::read;
use offnominal_nets::Tensors;
use std::path::Path;

/// Name of the file of digests.
const SUMS: &str = "SHA256SUMS";

/// Refuses a file of tensors without a card that may have been changed.
///
/// # Errors
/// If it has no digest, and `SHA256SUMS` is not there, does not name it, or expects another one.
pub(super) fn check(path: &Path, bytes: &[u8]) -> Result<()> {
    if Tensors::is_sealed(bytes) {
        return Ok(());
    }
    let (sums, place) = (path.with_file_name(SUMS), path.display());
    ensure!(
        sums.is_file(),
        "{place}: expected a digest in the file, a card beside it, or {}; found none of them",
        sums.display()
    );
    let (text, found) = (read::text(&sums)?, super::digest(bytes));
    let name = path.file_name().with_context(|| format!("{place}: expected a file"))?.to_string_lossy();
    let Some(expected) = text.lines().find_map(|line| of(line, &name)) else {
        bail!("{}: expected a line for {name}, found none", sums.display());
    };
    ensure!(
        found == expected,
        "{place} was edited: {} expects SHA-256 {expected}, found {found}",
        sums.display()
    );
    Ok(())
}

/// The digest in a line, if it is of the file of that name.
fn of<'a>(line: &'a str, name: &str) -> Option<&'a str> {
    let (digest, rest) = line.split_once(' ')?;
    (rest.trim_start_matches([' ', '*']) == name).then_some(digest)
}

#[cfg(test)]
mod tests {
    use super::*;
    use offnominal_core::Seed;

    /// A policy of the first version, in a folder without a card.
    fn first_version() -> (tempfile::TempDir, std::path::PathBuf, Vec<u8>) {
        let folder = tempfile::tempdir().unwrap();
        let shipped = Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("../../agents/driving-tqc/policies/000075000.safetensors");
        let (path, bytes) = (folder.path().join("p.safetensors"), std::fs::read(shipped).unwrap());
        std::fs::write(&path, &bytes).unwrap();
        (folder, path, bytes)
    }

    #[track_caller]
    fn refused(path: &Path, bytes: &[u8], want: &str) {
        let error = check(path, bytes).unwrap_err().to_string();
        assert!(error.contains(want) && error.contains("p.safetensors"), "{error}");
    }

    #[test]
    fn a_file_without_digest_needs_a_line_of_sums() {
        let (_folder, path, mut bytes) = first_version();
        refused(&path, &bytes, "expected a digest in the file, a card beside it, or ");
        let sums = path.with_file_name(SUMS);
        std::fs::write(&sums, "abc  q.safetensors\n").unwrap();
        refused(&path, &bytes, "expected a line for p.safetensors, found none");
        let line = format!("abc  q.safetensors\n{}  p.safetensors\n", super::super::digest(&bytes));
        std::fs::write(&sums, line).unwrap();
        check(&path, &bytes).unwrap();
        *bytes.last_mut().unwrap() ^= 1;
        refused(&path, &bytes, "was edited");
    }

    #[test]
    fn a_policy_that_was_changed_is_not_played() {
        let env = crate::catalogues::environments().build("sap-goal0", &serde_json::json!({})).unwrap();
        let config = offnominal_agents::TrainConfig {
            hidden: vec![8],
            ..offnominal_agents::TrainConfig::for_env("sap-goal0")
        };
        let run = offnominal_agents::Trainer::new(config, env.as_ref(), Seed(1)).unwrap();
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("p.safetensors");
        let bytes = run.actor().to_bytes();
        for at in [bytes.len() - 1, bytes.len() / 2] {
            let mut changed = bytes.clone();
            changed[at] ^= 1;
            std::fs::write(&path, changed).unwrap();
            let error = super::super::find(path.to_str().unwrap(), env.as_ref()).err().unwrap();
            assert!(format!("{error:#}").contains("p.safetensors"), "{error:#}");
        }
        std::fs::write(&path, bytes).unwrap();
        super::super::find(path.to_str().unwrap(), env.as_ref()).unwrap();
    }
}

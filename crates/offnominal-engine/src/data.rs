//! Files that are too large for the binary and are read at run time.
//!
//! The data folder is laid out as the repository's `agents/`. A file is looked for in the folder that
//! `OFFNOMINAL_DATA` names, in `../share/offnominal/agents` and `agents` beside the program, and in the repository
//! from which the program was built. The Python package brings its own folder and sets the variable.

use anyhow::{Context, Result};
use std::path::{Path, PathBuf};

/// Name of the environment variable with the data folder.
pub const FOLDER: &str = "OFFNOMINAL_DATA";

/// The files that releases and the Python package bring; those of the suite `ood-rl` are in the repository only.
pub const FILES: &[&str] =
    &["pixels/car-lanekeep-256.safetensors", "pixels/car-lanekeep.safetensors", "shift/policies.zip"];

/// The repository's folder on the machine that built the program.
const REPOSITORY: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../agents");

/// Where a file of the data folder is.
///
/// # Errors
/// If it is in none of the places; the message names them and says what to do.
pub fn path(file: &str) -> Result<PathBuf> {
    find(file, &places())
}

/// The folder that has a file of the data; empty where none has it.
pub fn folder_of(file: &str) -> String {
    let folder = places().into_iter().find(|folder| folder.join(file).is_file());
    folder.map_or(String::new(), |folder| folder.display().to_string())
}

/// The content of a file of the data folder.
///
/// # Errors
/// If it is in none of the places, or cannot be read.
pub fn read(file: &str) -> Result<Vec<u8>> {
    offnominal_files::read::bytes(&path(file)?)
}

/// The folders that may hold the data, in the order in which they are tried.
fn places() -> Vec<PathBuf> {
    let named = std::env::var_os(FOLDER).map(PathBuf::from);
    let program = std::env::current_exe().ok();
    let beside = program.as_deref().and_then(Path::parent).map(|bin| bin.join("agents"));
    let shared = program.as_deref().and_then(Path::parent).and_then(Path::parent);
    let shared = shared.map(|prefix| prefix.join("share/offnominal/agents"));
    let repository = Path::new(REPOSITORY).canonicalize().ok();
    [named, shared, beside, repository].into_iter().flatten().collect()
}

fn find(file: &str, places: &[PathBuf]) -> Result<PathBuf> {
    let found = places.iter().map(|folder| folder.join(file)).find(|path| path.is_file());
    found.with_context(|| {
        let places: Vec<String> = places.iter().map(|folder| folder.display().to_string()).collect();
        format!(
            "the data file {file} is in none of {}; copy the repository's folder agents/ to one of them, or set {FOLDER} \
             to the path of that folder",
            places.join(", ")
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_data_file_is_found_in_the_repository() {
        for file in FILES {
            assert!(!read(file).unwrap().is_empty(), "{file}");
        }
    }

    #[test]
    fn the_first_place_that_has_the_file_is_taken() {
        let (first, second) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let places = [first.path().into(), second.path().into()];
        std::fs::write(second.path().join("x.zip"), b"2").unwrap();
        assert_eq!(find("x.zip", &places).unwrap(), second.path().join("x.zip"));
        std::fs::write(first.path().join("x.zip"), b"1").unwrap();
        assert_eq!(find("x.zip", &places).unwrap(), first.path().join("x.zip"));
    }

    #[test]
    fn a_missing_file_is_named_with_the_places_and_the_remedy() {
        let error = find("shift/policies.zip", &["/a".into(), "/b/agents".into()]).unwrap_err().to_string();
        for part in ["shift/policies.zip", "/a, /b/agents", "OFFNOMINAL_DATA", "folder agents/"] {
            assert!(error.contains(part), "{error}");
        }
    }
}

//! Export to Minari, the dataset format of the Farama Foundation: a folder that `minari.load_dataset` reads.
//!
//! The default layout is HDF5, which every Minari reads whatever the length of the episodes. Labels go to `infos`
//! (row 0 belongs to the reset, row t + 1 to step t); seed, onset, twin and ending of an episode to its attributes;
//! the recipe of the whole to the key `offnominal` of `metadata.json`. Observation and action spaces are boxes; a single
//! command that is a choice is a discrete space, its values 64-bit integers in one dimension.

mod arrow;
mod hdf5;
mod metadata;

use crate::dataset::Dataset;
use anyhow::{Context, Result, ensure};
use serde::Deserialize;
use std::path::{Path, PathBuf};
use strum::{EnumString, IntoStaticStr, VariantArray};

/// The version of Minari whose format is written.
pub const VERSION: &str = "0.5.4";

/// How the episodes are stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, EnumString, VariantArray, IntoStaticStr)]
#[serde(rename_all = "kebab-case")]
#[strum(serialize_all = "kebab-case")]
pub enum Format {
    /// One HDF5 file
    Hdf5,
    /// One Arrow file per episode
    Arrow,
}

impl Format {
    /// The name in Minari's metadata.
    pub fn name(self) -> &'static str {
        match self {
            Format::Hdf5 => "hdf5",
            Format::Arrow => "arrow",
        }
    }
}

/// Writes the dataset into `<folder>/<id>` and returns that path. The folder appears whole or not at all.
///
/// # Errors
/// If the id is none that Minari accepts, the folder exists, or something cannot be written or stored.
pub fn export(dataset: &Dataset, folder: &Path, id: &str, format: Format) -> Result<PathBuf> {
    check_id(id)?;
    let target = folder.join(id);
    ensure!(
        !target.exists(),
        "{} exists already: choose another id or version, or remove it",
        target.display()
    );
    let parent = target.parent().expect("the id is not empty");
    let aside = crate::write::FolderAside::new(parent)?;
    fill(dataset, &aside.path().join("data"), id, format)?;
    aside.put(&target).with_context(|| format!("cannot write {}", target.display()))?;
    Ok(target)
}

fn fill(dataset: &Dataset, data: &Path, id: &str, format: Format) -> Result<()> {
    let bytes = match format {
        Format::Hdf5 => {
            let bytes = hdf5::encode(dataset)?;
            crate::write::atomically(&data.join("main_data.hdf5"), &bytes)?;
            bytes.len()
        }
        Format::Arrow => arrow::write(dataset, data)?,
    };
    let metadata = metadata::dataset(dataset, id, format, bytes)?;
    crate::write::atomically(&data.join("metadata.json"), metadata.as_bytes())
}

/// `(namespace/)name-vN`, of letters, digits, `-` and `_`.
fn check_id(id: &str) -> Result<()> {
    let word =
        |part: &str| !part.is_empty() && part.chars().all(|c| c.is_ascii_alphanumeric() || "-_".contains(c));
    let versioned = id.rsplit_once("-v").is_some_and(|(name, version)| {
        let digits = !version.is_empty() && version.bytes().all(|b| b.is_ascii_digit());
        digits && !name.is_empty() && !name.ends_with('/')
    });
    ensure!(
        versioned && id.split('/').all(word),
        "expected an id such as name-v0 or group/name-v0 (letters, digits, - and _), found {id:?}"
    );
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dataset::tests::dataset;

    #[test]
    fn ids_are_checked() {
        let good = ["sap-v0", "offnominal/sap-goal1-v12", "a/b_c/d-v1"];
        let bad = ["sap", "sap-v", "sap-vx", "../sap-v0", "/sap-v0", "a//b-v0", "-v0x", "a/-v0", ""];
        good.iter().for_each(|id| check_id(id).unwrap());
        bad.iter().for_each(|id| assert!(check_id(id).is_err(), "{id}"));
    }

    /// Bytes of the files in a folder, but for the dataset's own metadata.
    fn n_bytes(folder: &Path) -> u64 {
        let size = |item: std::fs::DirEntry| match item.path() {
            path if path.is_dir() => n_bytes(&path),
            path if path.ends_with("data/metadata.json") => 0,
            path => path.metadata().unwrap().len(),
        };
        std::fs::read_dir(folder).unwrap().map(|item| size(item.unwrap())).sum()
    }

    #[test]
    fn an_export_replaces_nothing_and_leaves_nothing_beside_it() {
        let folder = tempfile::tempdir().unwrap();
        for format in [Format::Hdf5, Format::Arrow] {
            let id = format!("group/{}-v0", format.name());
            let path = export(&dataset(), folder.path(), &id, format).unwrap();
            let metadata = std::fs::read(path.join("data/metadata.json")).unwrap();
            let metadata: serde_json::Value = serde_json::from_slice(&metadata).unwrap();
            assert_eq!(metadata["dataset_size"], n_bytes(&path.join("data")) as f64 / 1e6);
            let error = export(&dataset(), folder.path(), &id, format).unwrap_err();
            assert!(error.to_string().contains("exists already"), "{error}");
        }
        assert_eq!(std::fs::read_dir(folder.path().join("group")).unwrap().count(), 2);
    }
}

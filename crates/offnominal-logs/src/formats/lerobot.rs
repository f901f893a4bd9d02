//! LeRobot data sets, version 3.0: a folder of Parquet files that hold several episodes each, told apart by the column
//! `episode_index`; names of the entries of a vector, and the rate, are in `meta/info.json`.

use super::columnar;
use super::inside::inside;
use super::joined::Joined;
use crate::record::Sink;
use anyhow::{Context, Result, ensure};
use offnominal_files::read::open;
use offnominal_topics::budget::Size;
use offnominal_topics::record::Charge;
use serde::Deserialize;
use serde_json::Value as Json;
use std::collections::BTreeMap;
use std::fs::File;
use std::path::{Path, PathBuf};

/// Levels of folders, at most.
const MAX_DEPTH: usize = 16;
/// Memory of a file beside its rows.
const OF_FILE: u64 = 4 << 10;

/// What `meta/info.json` says.
#[derive(Debug, Deserialize)]
pub struct Info {
    /// Version of the layout.
    pub codebase_version: String,
    /// What each column is.
    pub features: BTreeMap<String, Feature>,
}

/// A column.
#[derive(Debug, Deserialize)]
pub struct Feature {
    /// Type of the numbers, or `video`.
    pub dtype: String,
    /// Names of the entries of a vector.
    #[serde(default)]
    pub names: Json,
}

/// Reads the description of a data set.
///
/// # Errors
/// If there is none, or the layout is of another version.
pub fn info(folder: &Path) -> Result<Info> {
    let path = inside(folder, &folder.join("meta/info.json"))?;
    let text = offnominal_files::read::text(&path)?;
    let info: Info = serde_json::from_str(&text).with_context(|| path.display().to_string())?;
    ensure!(
        info.codebase_version.starts_with("v3."),
        "{}: expected codebase_version v3.0, found {} (LeRobot converts older ones)",
        path.display(),
        info.codebase_version
    );
    Ok(info)
}

/// Reads all rows. Videos have no column, and are named as left out.
///
/// # Errors
/// If a file is missing or damaged, or the sink refuses a row.
pub fn read(folder: &Path, size: &Size, sink: &mut dyn Sink) -> Result<()> {
    let info = info(folder)?;
    for (name, _) in info.features.iter().filter(|(_, feature)| feature.dtype == "video") {
        sink.left_out(None, &format!("{name}: a video"));
    }
    let mut found = Vec::new();
    files(&folder.join("data"), 0, &mut found, sink)?;
    found.sort();
    ensure!(!found.is_empty(), "{}: expected Parquet files in data/, found none", folder.display());
    let mut joined = Joined::new(sink, |name| info.named(name));
    for path in found {
        joined.next_file();
        let file = inside(folder, &path).and_then(|path| open(&path));
        let mut read = |file: File| {
            size.add(file.metadata()?.len());
            columnar::parquet(file, &mut joined)
        };
        match file.and_then(&mut read) {
            Err(why) if !joined.is_refusing() => {
                joined.lost(None, "files", &format!("{}: {why:#}", path.display()))?;
            }
            told => told.with_context(|| path.display().to_string())?,
        }
    }
    Ok(())
}

impl Info {
    /// `observation.state[2]` with the name of the entry instead of its number.
    fn named(&self, column: &str) -> String {
        let renamed = || {
            let (feature, i) = column.strip_suffix(']')?.rsplit_once('[')?;
            let (names, i) = (&self.features.get(feature)?.names, i.parse::<usize>().ok()?);
            let list = match names {
                Json::Array(list) => list,
                Json::Object(groups) => groups.values().next()?.as_array()?,
                _ => return None,
            };
            Some(format!("{feature}[{}]", list.get(i)?.as_str()?))
        };
        renamed().unwrap_or_else(|| column.into())
    }
}

/// The Parquet files below a folder. A link to a folder is not followed: it may lead back.
fn files(folder: &Path, depth: usize, found: &mut Vec<PathBuf>, sink: &mut dyn Sink) -> Result<()> {
    ensure!(depth < MAX_DEPTH, "{}: expected at most {MAX_DEPTH} levels of folders", folder.display());
    let entries = std::fs::read_dir(folder).with_context(|| format!("cannot read {}", folder.display()))?;
    for entry in entries {
        let entry = entry?;
        let path = entry.path();
        sink.charge(Charge::Memory(OF_FILE))?;
        if entry.file_type()?.is_dir() {
            files(&path, depth + 1, found, sink)?;
        } else if path.extension().is_some_and(|e| e == "parquet") {
            found.push(path);
        }
    }
    Ok(())
}

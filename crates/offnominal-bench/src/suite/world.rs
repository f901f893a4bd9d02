//! The results of one world: a table, a page, and a file that says what they are, written last.

use crate::results::{Coverage, Diagnosed, Score};
use crate::suite::Table;
use anyhow::{Context, Result, ensure};
use offnominal_files::write;
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};

/// What the results of a world are, and how to make them again.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct World {
    /// World id.
    pub env: String,
    /// Digest of everything that was to be computed.
    pub digest: String,
    /// The command that makes the results again.
    pub command: String,
    /// Versions of the engine and of the MuJoCo library.
    pub versions: Vec<(String, String)>,
    /// One line per policy: its digest, its return, the command that trained it.
    pub policies: Vec<String>,
    /// Repetitions.
    pub seeds: u64,
    /// What the suite asks for and is not there.
    pub missing: Vec<String>,
    /// The detectors, in the order of the campaigns.
    pub detectors: Vec<String>,
    /// Wall time of the cells that the last call ran, in seconds, and their number.
    pub last_call: (f64, usize),
    /// Realised false alarms of each detector and rule over random splits of the nominal episodes.
    pub coverage: Vec<Coverage>,
    /// What was said at alarms, against what was done.
    pub diagnoses: Vec<Diagnosed>,
    /// What computed them; of a suite of pictures only, where presets depend on it.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub hardware: String,
    /// What the policies score under each anomaly.
    pub scores: Vec<Score>,
}

/// A file of a world's results.
fn file(out: &Path, env: &str, extension: &str) -> PathBuf {
    out.join(format!("{env}.{extension}"))
}

impl World {
    /// What is known of a world in an output folder; nothing, if its results are not there.
    ///
    /// # Errors
    /// If the file cannot be read or is damaged; the message names it.
    pub fn load(out: &Path, env: &str) -> Result<Option<World>> {
        let path = file(out, env, "json");
        if !path.is_file() {
            return Ok(None);
        }
        let read = || -> Result<World> {
            let world: World = serde_json::from_slice(&std::fs::read(&path)?)?;
            ensure!(world.env == env, "env: expected {env}, found {:?}", world.env);
            Ok(world)
        };
        Ok(Some(read().with_context(|| path.display().to_string())?))
    }

    /// The table of the world.
    ///
    /// # Errors
    /// If it cannot be read or is damaged; the message names the file and the line.
    pub fn table(&self, out: &Path) -> Result<Table> {
        let path = file(out, &self.env, "csv");
        let text = std::fs::read(&path).with_context(|| format!("cannot read {}", path.display()))?;
        Table::read(&text).with_context(|| path.display().to_string())
    }

    /// Writes table, page, and last this file.
    ///
    /// # Errors
    /// If a file cannot be written; the message names it.
    pub fn save(&self, out: &Path, table: &Table, page: &str) -> Result<()> {
        write::atomically(&file(out, &self.env, "csv"), &table.csv()?)?;
        write::atomically(&file(out, &self.env, "html"), page.as_bytes())?;
        write::atomically(&file(out, &self.env, "json"), &serde_json::to_vec_pretty(self)?)
    }
}

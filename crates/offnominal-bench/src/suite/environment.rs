//! The results of one environment: tables, a page, and a file that says what they are, written last.

use crate::results::{Coverage, Diagnosed, Score};
use crate::run::PATIENCE;
use crate::suite::Row;
use anyhow::{Result, ensure};
use offnominal_engine::noise;
use offnominal_files::lock::Lock;
use offnominal_files::provenance::Provenance;
use offnominal_files::{read, table, write};
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};

/// What the results of an environment are, and how to make them again.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Environment {
    /// Environment id.
    pub env: String,
    /// Digest of everything that was to be computed.
    pub digest: String,
    /// What made the results.
    pub made: Provenance,
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
    /// What was said at alarms, against what was done; a table of its own.
    #[serde(skip)]
    pub diagnoses: Vec<Diagnosed>,
    /// What computed them; of a suite of images only, where presets depend on it.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub hardware: String,
    /// What the policies score under each anomaly.
    pub scores: Vec<Score>,
}

/// A file of an environment's results.
fn file(out: &Path, env: &str, extension: &str) -> PathBuf {
    out.join(format!("{}.{extension}", noise::base(env)))
}

/// The end of the name of the table of diagnoses.
const DIAGNOSES: &str = "diagnosis.parquet";

impl Environment {
    /// What is known of an environment in an output folder; nothing, if its results are not there.
    ///
    /// # Errors
    /// If the file cannot be read or is damaged; the message names it.
    pub fn load(out: &Path, env: &str) -> Result<Option<Environment>> {
        let path = file(out, env, "json");
        if !path.is_file() {
            return Ok(None);
        }
        let mut environment: Environment = read::json(&path)?;
        let found = &environment.env;
        ensure!(found == env, "{}: env: expected {env}, found {found:?}", path.display());
        let diagnoses = file(out, env, DIAGNOSES);
        if diagnoses.is_file() {
            environment.diagnoses = table::read(&diagnoses)?;
        }
        Ok(Some(environment))
    }

    /// The table of the environment, from Parquet or CSV.
    ///
    /// # Errors
    /// If it cannot be read or is damaged; the message names the file and the line.
    pub fn rows(&self, out: &Path) -> Result<Vec<Row>> {
        table::read(&table::find(out, noise::base(&self.env))?)
    }

    /// Writes tables, page, and last this file, after another process that writes some.
    ///
    /// # Errors
    /// If a file cannot be written; the message names it.
    pub fn save(&self, out: &Path, rows: &[Row], page: &str) -> Result<()> {
        let _held = Lock::folder_within(out, PATIENCE)?;
        write::atomically(&file(out, &self.env, "parquet"), &table::to_parquet(rows)?)?;
        if !self.diagnoses.is_empty() {
            write::atomically(&file(out, &self.env, DIAGNOSES), &table::to_parquet(&self.diagnoses)?)?;
        }
        write::atomically(&file(out, &self.env, "html"), page.as_bytes())?;
        write::atomically(&file(out, &self.env, "json"), &serde_json::to_vec_pretty(self)?)
    }
}

//! What a page can ask for.

use offnominal_logs::fit;
use offnominal_work::cli;
use serde::de::{Deserialize, Deserializer, Error};
use serde_json::Value;
use std::path::PathBuf;

/// A command. What the command line names as a file is handed over as bytes, in the order of the names.
#[derive(Debug, Clone, PartialEq, serde::Deserialize)]
#[serde(tag = "command", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Request {
    /// What is in logs, and a proposed mapping.
    Inspect {
        /// The names of the logs.
        logs: Vec<PathBuf>,
    },
    /// A monitor out of logs.
    Fit {
        /// What the command line asks for; the names of the logs are among it.
        #[serde(deserialize_with = "asked")]
        request: Box<fit::Request>,
        /// The text of the mapping; without one, the proposed one is used.
        mapping: Option<String>,
        /// Seed of everything random.
        seed: u64,
    },
    /// Alarms in logs. The monitor comes before the logs.
    Score {
        /// The name of the monitor's file.
        monitor: PathBuf,
        /// The names of the logs.
        logs: Vec<PathBuf>,
        /// The text of a mapping with the channels of the monitor; without one, that of the fit.
        mapping: Option<String>,
        /// Seed of the intervals.
        seed: u64,
    },
}

/// The request of `fit`, as the command line declares it.
fn asked<'de, D: Deserializer<'de>>(from: D) -> Result<Box<fit::Request>, D::Error> {
    let json = Value::deserialize(from)?;
    cli::request(&json).map(Box::new).map_err(|why| D::Error::custom(format!("{why:#}")))
}

impl Request {
    /// Names of the byte strings that come with it.
    pub fn names(&self) -> Vec<PathBuf> {
        match self {
            Request::Inspect { logs } => logs.clone(),
            Request::Fit { request, .. } => request.logs.clone(),
            Request::Score { monitor, logs, .. } => std::iter::once(monitor).chain(logs).cloned().collect(),
        }
    }
}

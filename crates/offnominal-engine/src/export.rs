//! Datasets as other programs read them.

use crate::context::Context;
use anyhow::{Context as _, Result};
use clap::Args;
use offnominal_files::dataset;
use offnominal_files::minari::{self, Format};
use offnominal_work::cli::word_of;
use serde::Serialize;
use std::fmt::{self, Display, Formatter};
use std::path::PathBuf;

/// What to export as a dataset of Minari.
#[derive(Debug, Clone, PartialEq, Eq, Args)]
pub struct Request {
    /// Target program
    #[arg(value_parser = ["minari"])]
    pub to: String,
    /// Data set of `collect`
    #[arg(value_name = "DATASET.arrow")]
    pub dataset: PathBuf,
    /// Id of the new data set, such as sap/goal1-noise-v0
    #[arg(long)]
    pub id: String,
    /// File format
    #[arg(long, value_parser = word_of::<Format>(), default_value = "hdf5")]
    pub format: Format,
    /// Folder for the new data set's own
    #[arg(long, value_name = "DIR", default_value = "runs/export")]
    pub out: PathBuf,
}

/// A dataset in the other format.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Exported {
    /// Its folder.
    pub folder: PathBuf,
    /// Its id.
    pub id: String,
    /// How many episodes it has.
    pub episodes: usize,
}

impl Display for Exported {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        write!(out, "{}: {} episodes", self.folder.display(), self.episodes)
    }
}

/// Reads the dataset and writes it in the other format.
///
/// # Errors
/// If the dataset cannot be read, the id is none, or the folder cannot be written.
pub fn run(request: &Request, _: &Context) -> Result<Exported> {
    let Request { dataset: file, id, format, out, .. } = request;
    let dataset = dataset::load(file)?;
    let folder = minari::export(&dataset, out, id, *format)
        .with_context(|| format!("cannot export {}", file.display()))?;
    Ok(Exported { folder, id: id.clone(), episodes: dataset.episodes.len() })
}

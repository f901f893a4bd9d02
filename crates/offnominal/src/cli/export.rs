//! `export`: gives a dataset to other programs in their own format.

use crate::cli::one_of::one_of;
use crate::cli::{Common, Outcome};
use anyhow::{Context, Result};
use clap::{Args, Subcommand};
use offnominal_files::dataset;
use offnominal_files::minari::{self, Format};
use serde_json::json;
use std::path::PathBuf;

/// Arguments of `export`.
#[derive(Debug, Args)]
pub struct Export {
    #[command(subcommand)]
    to: To,
}

#[derive(Debug, Subcommand)]
enum To {
    /// A folder that minari.load_dataset reads
    Minari(Minari),
}

/// Arguments of `export minari`.
#[derive(Debug, Args)]
struct Minari {
    /// Dataset written by `collect`
    #[arg(value_name = "DATASET.arrow")]
    dataset: PathBuf,
    /// Id of the new dataset, such as sap/goal1-noise-v0
    #[arg(long)]
    id: String,
    /// How the episodes are stored
    #[arg(long, value_parser = one_of::<Format>(), default_value = "hdf5")]
    format: Format,
}

impl Export {
    /// Reads the dataset, writes it in the other format and prints where.
    ///
    /// # Errors
    /// If the dataset cannot be read, the id is none, or the folder cannot be written.
    pub fn run(&self, common: &Common) -> Result<Outcome> {
        let To::Minari(args) = &self.to;
        let dataset = dataset::load(&args.dataset)?;
        let path = minari::export(&dataset, &common.out_or("export"), &args.id, args.format)
            .with_context(|| format!("cannot export {}", args.dataset.display()))?;
        let episodes = dataset.episodes.len();
        common.print_text(match common.json {
            true => format!("{:#}", json!({ "folder": path, "id": args.id, "episodes": episodes })),
            false => format!("{}: {episodes} episodes", path.display()),
        })
    }
}

//! `export`: gives a dataset to other programs in their own format.

use crate::cli::one_of::one_of;
use crate::cli::{Common, Outcome};
use anyhow::Result;
use clap::{Args, Subcommand};
use offnominal_engine::export::{Request, run};
use offnominal_files::minari::Format;
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
    pub fn run(self, common: &Common) -> Result<Outcome> {
        let To::Minari(Minari { dataset, id, format }) = self.to;
        let out = common.out_or("export");
        common.print(&run(&Request { dataset, id, format, out }, &common.context())?)
    }
}

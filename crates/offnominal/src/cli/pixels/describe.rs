//! `pixels describe`: what a data set is made of.

use crate::cli::Common;
use crate::cli::pixels::Outcome;
use crate::cli::pixels::inputs::Reading;
use anyhow::Result;
use clap::Args;
use offnominal_core::Seed;
use offnominal_files::write;
use offnominal_pixels::describe::{Description, colour_only, describe};
use serde_json::json;
use std::io::Write;
use std::path::PathBuf;

/// Arguments of `pixels describe`.
#[derive(Debug, Args)]
pub struct Describe {
    /// The data set
    #[arg(long, value_name = "DIR")]
    data: PathBuf,
    /// Nominal pictures: adds the AUROC of a detector that knows only how frequent their colours are
    #[arg(long, value_name = "DIR")]
    nominal: Option<PathBuf>,
    #[command(flatten)]
    reading: Reading,
}

impl Describe {
    /// Counts and prints; with --out also writes description.json.
    ///
    /// # Errors
    /// If the data cannot be read, or the file cannot be written.
    pub fn run(&self, common: &Common) -> Result<Outcome> {
        let set = self.reading.open(&self.data)?;
        let mut found = describe(&set, &common.context())?;
        if let Some(nominal) = &self.nominal {
            found.colour_auroc = Some(colour_only(&self.reading.open(nominal)?, &set, Seed(common.seed))?);
        }
        if let Some(out) = &common.out {
            write::atomically(&out.join("description.json"), format!("{:#}", json!(found)).as_bytes())?;
        }
        let text = if common.json { format!("{:#}", json!(found)) } else { as_text(&found) };
        writeln!(std::io::stdout().lock(), "{text}")?;
        Ok(Outcome::Done)
    }
}

fn as_text(d: &Description) -> String {
    let mut text =
        format!("{} pictures, {} with unknown pixels\nshare of pixels", d.images, d.images_with_unknown);
    let special = [("unknown", d.unknown), ("not judged", d.ignored), ("at a boundary", d.boundary)];
    let classes = d.classes.iter().map(|(name, share)| (name.as_str(), *share));
    for (name, share) in classes.chain(special) {
        text += &format!("\n  {name:<16}{:>7.3} %", 100.0 * share);
    }
    if let Some(auroc) = &d.colour_auroc {
        text += &format!("\nAUROC by colour alone: {auroc:.3}");
    }
    text
}

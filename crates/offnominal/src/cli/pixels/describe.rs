//! `pixels describe`: what a data set is made of.

use crate::cli::Common;
use crate::cli::pixels::inputs::ReadingArgs;
use crate::cli::pixels::{Outcome, print};
use anyhow::Result;
use clap::Args;
use offnominal_pixels::describe::{Description, Request, run};
use std::path::PathBuf;

/// Arguments of `pixels describe`.
#[derive(Debug, Args)]
pub struct Describe {
    /// The data set
    #[arg(long, value_name = "DIR")]
    data: PathBuf,
    /// Nominal images: adds the AUROC of a detector that knows only how frequent their colours are
    #[arg(long, value_name = "DIR")]
    nominal: Option<PathBuf>,
    #[command(flatten)]
    reading: ReadingArgs,
}

impl Describe {
    /// Counts and prints; with --out also writes description.json.
    ///
    /// # Errors
    /// If the data cannot be read, or the file cannot be written.
    pub fn run(self, common: &Common) -> Result<Outcome> {
        let Describe { data, nominal, reading } = self;
        let request = Request { data, nominal, reading: reading.request(), out: common.out.clone() };
        print(&run(&request, &common.context())?, common, as_text)
    }
}

fn as_text(d: &Description) -> String {
    let mut text =
        format!("{} images, {} with unknown pixels\nshare of pixels", d.images, d.images_with_unknown);
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

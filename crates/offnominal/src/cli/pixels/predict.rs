//! `pixels predict`: a model's logits, features and confidences as files.

use crate::cli::Common;
use crate::cli::pixels::inputs::{NetworkArgs, ReadingArgs};
use crate::cli::pixels::{Outcome, as_text, print};
use anyhow::Result;
use clap::Args;
use offnominal_pixels::predict::{Request, run};
use std::path::PathBuf;

/// Arguments of `pixels predict`.
#[derive(Debug, Args)]
pub struct Predict {
    /// The images
    #[arg(long, value_name = "DIR")]
    data: PathBuf,
    #[command(flatten)]
    reading: ReadingArgs,
    #[command(flatten)]
    network: NetworkArgs,
}

impl Predict {
    /// Writes logits/NAME.npy, features/NAME.npy, and confidence/NAME.npy if the model has them.
    ///
    /// # Errors
    /// If there is no model, an image cannot be read, or a file cannot be written.
    pub fn run(self, common: &Common) -> Result<Outcome> {
        let (reading, network) = (self.reading.request(), self.network.request());
        let request = Request { data: self.data, reading, network, out: common.out_or("pixels") };
        print(&run(&request, &common.context())?, common, as_text)
    }
}

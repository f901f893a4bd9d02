//! `pixels paste`: images with pasted things.

use crate::cli::Common;
use crate::cli::pixels::inputs::ReadingArgs;
use crate::cli::pixels::{Outcome, as_text, print};
use anyhow::Result;
use clap::Args;
use offnominal_pixels::paste::{Request, run};
use std::path::PathBuf;

/// Arguments of `pixels paste`.
#[derive(Debug, Args)]
pub struct Paste {
    /// The data set, with images
    #[arg(long, value_name = "DIR")]
    data: PathBuf,
    #[command(flatten)]
    reading: ReadingArgs,
    /// Most things in an image, of which there are one to so many
    #[arg(long, default_value_t = Request::default().things, value_name = "N")]
    things: usize,
    /// Probability that what is bright in a known class gets another colour, such as lane markings, for each class of an
    /// image
    #[arg(long, default_value_t = Request::default().recolour, value_name = "SHARE")]
    recolour: f64,
}

impl Paste {
    /// Writes a data set, whose folder must not exist.
    ///
    /// # Errors
    /// If the data cannot be read, or the folder exists or cannot be written.
    pub fn run(self, common: &Common) -> Result<Outcome> {
        let request = Request {
            data: self.data,
            reading: self.reading.request(),
            things: self.things,
            recolour: self.recolour,
            out: common.out_or("pasted"),
        };
        print(&run(&request, &common.context())?, common, as_text)
    }
}

//! `pixels import`: takes over published weights.

use crate::cli::Common;
use crate::cli::pixels::{Outcome, print};
use anyhow::Result;
use clap::Args;
use offnominal_pixels::import::{Request, run};
use std::path::PathBuf;

/// Arguments of `pixels import`.
#[derive(Debug, Args)]
pub struct Import {
    /// Weights of torchvision's deeplabv3_resnet50, saved with safetensors.torch.save_file(model.state_dict(), FILE)
    #[arg(value_name = "FILE.safetensors")]
    weights: PathBuf,
    /// Label map with the classes, in the order of the network's outputs
    #[arg(long, value_name = "FILE.toml")]
    map: PathBuf,
}

impl Import {
    /// Writes the model.
    ///
    /// # Errors
    /// If a file cannot be read, or holds another network or other classes.
    pub fn run(self, common: &Common) -> Result<Outcome> {
        let request = Request { weights: self.weights, map: self.map, out: common.out_or("pixels") };
        print(&run(&request)?, common, |found| found.model.display().to_string())
    }
}

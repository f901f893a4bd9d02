//! `pixels import`: takes over published weights.

use crate::cli::Common;
use crate::cli::pixels::Outcome;
use anyhow::Result;
use clap::Args;
use offnominal_files::write;
use offnominal_pixels::deep::Net;
use offnominal_pixels::label_map::LabelMap;
use serde_json::json;
use std::io::Write;
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
    pub fn run(&self, common: &Common) -> Result<Outcome> {
        let net = Net::import(&self.weights, LabelMap::load(&self.map)?.map.classes)?;
        let path = common.out_or("pixels").join("model.safetensors");
        write::atomically(&path, &net.to_tensors().to_bytes())?;
        let mut out = std::io::stdout().lock();
        if common.json {
            writeln!(out, "{:#}", json!({ "model": path, "classes": net.classes() }))?;
        } else {
            writeln!(out, "{}", path.display())?;
        }
        Ok(Outcome::Done)
    }
}

//! A model's logits, features and confidences as .npy files.

use crate::inputs::{NetworkSource, Reading};
use crate::written::{Written, write_array};
use anyhow::{Result, ensure};
use clap::Args;
use offnominal_core::Seed;
use offnominal_engine::context::Context;
use serde::Serialize;
use std::path::PathBuf;

/// What to predict; the seed is that of the context.
#[derive(Debug, Clone, PartialEq, Serialize, Args)]
pub struct Request {
    /// The images
    #[arg(long, value_name = "DIR")]
    pub data: PathBuf,
    /// Folder for everything that is written
    #[arg(long, value_name = "DIR", default_value = "runs/pixels")]
    pub out: PathBuf,
    /// How data sets are read.
    #[command(flatten)]
    pub reading: Reading,
    /// The network.
    #[command(flatten)]
    pub network: NetworkSource,
}

/// Writes logits/NAME.npy, features/NAME.npy, and confidence/NAME.npy if the model has them.
///
/// # Errors
/// If there is no model, an image cannot be read, or a file cannot be written.
pub fn run(request: &Request, context: &Context) -> Result<Written> {
    let has_model = request.network.model.is_some();
    ensure!(has_model, "expected --model FILE: logits that are files already need no prediction");
    let set = request.reading.open(&request.data)?;
    let network = request.network.open_for(1, Seed(context.seed))?;
    let out = &request.out;
    context.map(set.samples.len(), "images", |i| {
        let sample = &set.samples[i];
        let (_, output) = network.predict(&set, sample)?;
        let o = output.view();
        let shape = [o.passes, o.classes, o.height, o.width];
        write_array(&out.join("logits"), &sample.name, &shape[usize::from(o.passes == 1)..], o.logits)?;
        if let Some(f) = o.features {
            let shape = [f.channels, f.rows, f.columns];
            write_array(&out.join("features"), &sample.name, &shape, f.values)?;
        }
        if let Some(c) = o.confidence {
            write_array(&out.join("confidence"), &sample.name, &[o.height, o.width], c)?;
        }
        Ok(())
    })?;
    Ok(Written { folder: out.clone(), images: set.samples.len() })
}

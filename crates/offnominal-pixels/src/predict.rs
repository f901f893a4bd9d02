//! A model's logits, features and confidences, or features of a public encoder, as .npy files.

use crate::features::Encoder;
use crate::inputs::{Reading, tell_left_out};
use crate::layout::ImageFolder;
use crate::network::Network;
use crate::written::{Written, write_array};
use anyhow::Result;
use clap::Args;
use clap::value_parser as number;
use offnominal_core::Seed;
use offnominal_engine::context::Context;
use offnominal_engine::device::Device;
use offnominal_work::cli::word_of;
use serde::Serialize;
use std::path::PathBuf;

/// What to predict; the seed is that of the context.
#[derive(Debug, Clone, PartialEq, Serialize, Args)]
pub struct Request {
    /// Images
    #[arg(long, value_name = "DIR")]
    pub data: ImageFolder,
    /// Model of `pixels train` or NAME.onnx: write logits, features and confidences
    #[arg(long, value_name = "FILE", required_unless_present = "encoder")]
    pub model: Option<PathBuf>,
    /// Random forward passes of the model
    #[arg(long, default_value_t = 1, value_name = "N", requires = "model", value_parser = number!(u32).range(1..=100))]
    pub passes: u32,
    /// Where a convolutional model runs
    #[arg(long, value_parser = word_of::<Device>(), default_value = "cpu", requires = "model")]
    pub device: Device,
    /// The public encoder.
    #[command(flatten)]
    pub encoder: Encoder,
    /// Output folder
    #[arg(long, value_name = "DIR", default_value = "runs/pixels")]
    pub out: PathBuf,
    /// How data sets are read.
    #[command(flatten)]
    pub reading: Reading,
}

/// Writes logits/NAME.npy, features/NAME.npy, and confidence/NAME.npy if the model has them; of an encoder its features.
///
/// # Errors
/// If there is no model or encoder, an image cannot be read, or a file cannot be written.
pub fn run(request: &Request, context: &Context) -> Result<Written> {
    let (set, out) = (request.reading.open(&request.data)?, &request.out);
    tell_left_out(&set, context);
    let Some(model) = &request.model else { return request.encoder.write(&set, out, context) };
    let network = Network::model(model, request.passes as usize, Seed(context.seed), request.device)?;
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

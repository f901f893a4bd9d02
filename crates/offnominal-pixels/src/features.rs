//! Features of a public encoder as .npy files, for the methods that read features.

use crate::data_set::DataSet;
use crate::written::{Written, write_array};
use anyhow::{Context as _, Result};
use clap::Args;
use offnominal_engine::context::Context;
use offnominal_engine::images::efficientnet::{WEIGHTS, network, reading};
use offnominal_engine::request::within;
use offnominal_nets::vision::efficientnet::{EfficientNetBackbone, Input};
use offnominal_nets::vision::{Backbone, Features};
use serde::Serialize;
use std::path::Path;
use std::sync::Arc;

/// Which features to write.
#[derive(Debug, Clone, PartialEq, Serialize, Args)]
pub struct Encoder {
    /// Write features of EfficientNet-Lite instead: efficientnet-lite0, 1, 2 or a file
    #[arg(long, value_name = "NAME|FILE", conflicts_with = "model")]
    pub encoder: Option<String>,
    /// Strides of its maps: some of 8, 16, 32
    #[arg(long, value_delimiter = ',', default_value = "8,16", value_name = "N,…", requires = "encoder")]
    pub strides: Vec<usize>,
    /// Enlargement of images before encoding, 1 to 16
    #[arg(long, default_value_t = 1, value_name = "N", requires = "encoder")]
    pub scale: usize,
}

/// Largest scale: more makes a map no finer than the pixels.
const LARGEST_SCALE: usize = 16;

/// Pixels of an enlarged image: the network's widest map takes a gigabyte then.
const PIXELS: usize = 1 << 23;

impl Encoder {
    /// Writes features/NAME.npy, `[channels, rows, columns]`.
    ///
    /// # Errors
    /// If there are no weights, a number is out of range, an image cannot be read, or a file cannot be written.
    pub fn write(&self, set: &DataSet, out: &Path, context: &Context) -> Result<Written> {
        within("scale", self.scale, 1..=LARGEST_SCALE)?;
        let read = reading(&self.strides)?;
        let weights = Arc::new(network(self.encoder.as_deref().unwrap_or(WEIGHTS))?);
        let backbone = EfficientNetBackbone::new(weights, read, Input::Times(self.scale));
        let folder = out.join("features");
        context.map(set.samples.len(), "images", |i| {
            let sample = &set.samples[i];
            let labels = set.labels(sample)?;
            let pixels = labels.ids.len() * self.scale.pow(2);
            within("pixels of the enlarged image", pixels, 1..=PIXELS)
                .with_context(|| sample.name.clone())?;
            let rgb = set.rgb(sample, &labels)?;
            let mut encoder = backbone.at(labels.height, labels.width);
            let found = encoder.encode(&rgb);
            write_array(&folder, &sample.name, &[found.width, found.rows, found.columns], &planes(found))
        })?;
        Ok(Written { folder: out.into(), images: set.samples.len() })
    }
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

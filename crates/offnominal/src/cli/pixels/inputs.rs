//! Options that several commands share: where the data are, and where the network is.

use crate::cli::one_of::one_of;
use clap::Args;
use offnominal_engine::device::Device;
use offnominal_pixels::inputs::{NetworkSource, NominalSource, Reading};
use offnominal_pixels::layout::Layout;
use offnominal_pixels::resize::Size;
use std::path::PathBuf;

/// How data sets are read.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Data")]
pub struct ReadingArgs {
    /// How the folders are laid out
    #[arg(long, value_parser = one_of::<Layout>(), default_value = "offnominal")]
    layout: Layout,
    /// Split, where it is a folder of its own, such as val
    #[arg(long)]
    split: Option<String>,
    /// Label map [default: classes.toml of the data set]
    #[arg(long, value_name = "FILE.toml")]
    map: Option<PathBuf>,
    /// Smallest number of pixels of an image; smaller ones are left out (the paper's SUN: 409600, which is 640²)
    #[arg(long, value_name = "N", default_value_t = 1)]
    least_pixels: usize,
    /// Size to which images and labels are brought; arrays of a network must have it
    #[arg(long, value_name = "WIDTHxHEIGHT")]
    resize: Option<Size>,
}

impl ReadingArgs {
    /// The same for the library.
    pub fn request(self) -> Reading {
        let ReadingArgs { layout, split, map, least_pixels, resize } = self;
        Reading { layout, split, map, least_pixels, resize }
    }
}

/// The network whose output is judged.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Network")]
pub struct NetworkArgs {
    /// Folder of logits NAME.npy, .npz or .safetensors, [classes, H, W] or [passes, classes, H, W]; one for each --data
    #[arg(long, value_name = "DIR")]
    logits: Vec<PathBuf>,
    /// Folder of features, [channels, h, w]; one for each --logits
    #[arg(long, value_name = "DIR", requires = "logits")]
    features: Vec<PathBuf>,
    /// Folder of confidences, [H, W] from 0 to 1; one for each --logits
    #[arg(long, value_name = "DIR", requires = "logits")]
    confidence: Vec<PathBuf>,
    /// Model of `pixels train`, instead of --logits
    #[arg(long, value_name = "FILE", conflicts_with = "logits")]
    model: Option<PathBuf>,
    /// Random passes of the model; 1 is one without dropped units
    #[arg(long, default_value_t = 1, value_name = "N", requires = "model", value_parser = clap::value_parser!(u32).range(1..=100))]
    passes: u32,
    /// Where a convolutional model runs
    #[arg(long, value_parser = one_of::<Device>(), default_value = "cpu", requires = "model")]
    device: Device,
}

impl NetworkArgs {
    /// The same for the library.
    pub fn request(self) -> NetworkSource {
        let NetworkArgs { logits, features, confidence, model, passes, device } = self;
        NetworkSource { logits, features, confidence, model, passes, device }
    }
}

/// What methods are fitted on.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Nominal images")]
pub struct NominalArgs {
    /// Data set without unknown pixels, on which methods are fitted that must be
    #[arg(long, value_name = "DIR")]
    nominal: Option<PathBuf>,
    /// Its split
    #[arg(long, value_name = "SPLIT", requires = "nominal")]
    nominal_split: Option<String>,
    /// Its logits, if the network is in files
    #[arg(long, value_name = "DIR", requires = "nominal")]
    nominal_logits: Option<PathBuf>,
    /// Its features, if the network is in files
    #[arg(long, value_name = "DIR", requires = "nominal_logits")]
    nominal_features: Option<PathBuf>,
    /// Images that are used of it at most; all if this is left out
    #[arg(long, value_name = "N", requires = "nominal", value_parser = clap::value_parser!(u32).range(1..))]
    nominal_images: Option<u32>,
}

/// What outlier-head is fitted on.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Images with pasted things")]
pub struct OutlierArgs {
    /// Data set of `pixels paste`, on which outlier-head is fitted
    #[arg(long, value_name = "DIR")]
    outliers: Option<PathBuf>,
    /// Its logits, if the network is in files
    #[arg(long, value_name = "DIR", requires = "outliers")]
    outlier_logits: Option<PathBuf>,
    /// Its features, if the network is in files
    #[arg(long, value_name = "DIR", requires = "outlier_logits")]
    outlier_features: Option<PathBuf>,
}

impl OutlierArgs {
    /// The same for the library.
    pub fn request(self) -> NominalSource {
        let OutlierArgs { outliers, outlier_logits, outlier_features } = self;
        NominalSource {
            data: outliers,
            logits: outlier_logits,
            features: outlier_features,
            ..Default::default()
        }
    }
}

impl NominalArgs {
    /// The same for the library.
    pub fn request(self) -> NominalSource {
        NominalSource {
            data: self.nominal,
            split: self.nominal_split,
            logits: self.nominal_logits,
            features: self.nominal_features,
            images: self.nominal_images,
        }
    }
}

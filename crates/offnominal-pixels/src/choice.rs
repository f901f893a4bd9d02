//! Which network is trained, and on what: the words that commands and cards use, whatever this build can do.

use offnominal_engine::device::Device;
use serde::{Deserialize, Serialize};
use strum::{EnumMessage, EnumString, IntoStaticStr, VariantArray};

/// A kind of network.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[derive(EnumString, VariantArray, IntoStaticStr)]
#[strum(serialize_all = "kebab-case")]
pub enum NetworkKind {
    /// Baseline: each pixel from its surroundings
    Patches,
    /// PSPNet
    Pspnet,
    /// DeepLabV3+
    Deeplab,
}

/// How large.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[derive(EnumString, VariantArray, IntoStaticStr)]
#[strum(serialize_all = "kebab-case")]
pub enum NetworkPreset {
    /// Trains from scratch on two cores within an hour
    Small,
    /// As published: ResNet-50 or Xception-65
    Paper,
}

/// What is changed so that a method can be used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[derive(EnumString, VariantArray, IntoStaticStr, EnumMessage)]
#[strum(serialize_all = "kebab-case")]
pub enum Modification {
    /// No change
    None,
    /// 32 feature channels, for mahalanobis
    DimReduce,
    /// Dropout, for var-sum and mutual-information
    Dropout,
    /// Confidence output, for confidence
    Confidence,
}

/// A convolutional network to be trained; numbers that are not given are those of the preset.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct NetworkChoice {
    /// Its kind.
    pub network: NetworkKind,
    /// Its size.
    pub preset: NetworkPreset,
    /// What is changed.
    pub modification: Modification,
    /// How coarse its map of features is: 4 or 8 pixels of the image a place.
    pub output_stride: Option<u8>,
    /// Where it runs.
    pub device: Device,
    /// Number of steps.
    pub steps: Option<u32>,
    /// Images in each.
    pub batch: Option<u32>,
    /// First learning rate.
    pub rate: Option<f64>,
}

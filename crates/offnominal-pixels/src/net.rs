//! Our convolutional networks.

use crate::choice::{Modification, NetworkChoice, NetworkKind, NetworkPreset};
use crate::output::NetworkOutput;
use anyhow::{Error, Result, bail};
use offnominal_core::Rng;
use offnominal_deep::{Design, OutputStride, Segments};
use offnominal_nets::Tensors;
use std::sync::Arc;

/// A trained network.
#[derive(Debug, Clone)]
pub struct Net(pub(crate) Arc<dyn Segments>);

impl Net {
    /// The classes that it knows.
    pub fn classes(&self) -> &[String] {
        &self.0.design().classes
    }

    /// Whether its passes can differ.
    pub fn drops_units(&self) -> bool {
        self.0.drops_units()
    }

    /// Whether it has an output for its confidence.
    pub fn has_confidence(&self) -> bool {
        self.0.has_confidence()
    }

    /// As a file.
    pub fn to_tensors(&self) -> Tensors {
        self.0.to_tensors()
    }

    /// How it was made, for its card.
    pub fn recipe(&self) -> serde_json::Value {
        serde_json::json!({ "design": self.0.design(), "parameters": self.0.n_learned() })
    }

    /// Its output for an image; the shape is that of its logits.
    ///
    /// # Errors
    /// If the image is too large.
    pub fn forward(&self, rgb: &[u8], shape: [usize; 4], rng: &mut Rng) -> Result<NetworkOutput> {
        let output = self.0.segment(rgb, shape[3], shape[0], rng)?;
        let features = Some((output.features, output.grid));
        Ok(NetworkOutput { logits: output.logits, shape, features, confidence: output.confidence })
    }
}

/// The design of a choice.
///
/// # Errors
/// If there is none.
pub(crate) fn design(choice: &NetworkChoice, classes: &[String]) -> Result<Design> {
    let network = match choice.network {
        NetworkKind::Patches => bail!("expected a convolutional network, found the baseline"),
        NetworkKind::Pspnet => offnominal_deep::Architecture::Pspnet,
        NetworkKind::Deeplab => offnominal_deep::Architecture::Deeplab,
    };
    let preset = match choice.preset {
        NetworkPreset::Small => offnominal_deep::Preset::Small,
        NetworkPreset::Paper => offnominal_deep::Preset::Paper,
    };
    let modification = match choice.modification {
        Modification::None => offnominal_deep::Modification::None,
        Modification::DimReduce => offnominal_deep::Modification::DimReduce,
        Modification::Dropout => offnominal_deep::Modification::Dropout,
        Modification::Confidence => offnominal_deep::Modification::Confidence,
    };
    let output_stride = match choice.output_stride {
        Some(_) if choice.preset == NetworkPreset::Paper => {
            bail!(
                "output_stride: expected none with the preset paper, whose networks have the published ones"
            )
        }
        Some(stride) => OutputStride::try_from(stride).map_err(Error::msg)?,
        None => OutputStride::default(),
    };
    Ok(Design { network, preset, modification, output_stride, classes: classes.to_vec() })
}

//! Our convolutional networks, from files: the small ones in every build, the others in builds with the feature `deep`.

use crate::choice::{Modification, NetworkChoice, NetworkKind, NetworkPreset};
use crate::deep;
use crate::output::NetworkOutput;
use anyhow::{Context as _, Error, Result, bail};
use offnominal_core::Rng;
use offnominal_deep::{Design, Inference, OutputStride, Segments};
use offnominal_engine::device::Device;
use offnominal_nets::Tensors;
use std::path::Path;
use std::sync::Arc;

/// A trained network.
#[derive(Debug, Clone)]
pub struct Net(pub(crate) Arc<dyn Segments>);

impl Net {
    /// From the tensors of a file.
    ///
    /// # Errors
    /// If they are none, this build cannot compute them, or the device is not there.
    pub fn open(tensors: &Tensors, on: Device) -> Result<Net> {
        if on == Device::Cpu
            && let Some(net) = Inference::from_tensors(tensors)?
        {
            return Ok(Net(Arc::new(net)));
        }
        deep::open(tensors, on)
    }

    /// From weights that were trained elsewhere, with the names that [`Net::to_tensors`] gives.
    ///
    /// # Errors
    /// If the file cannot be read, or is of another network.
    pub fn named(path: &Path, choice: &NetworkChoice, classes: &[String]) -> Result<Net> {
        let bytes = offnominal_files::read::bytes(path)?;
        let (design, kind) = (design(choice, classes)?, <&str>::from(choice.network));
        let expected = || {
            format!(
                "{}: expected weights of {kind} with {} classes as safetensors",
                path.display(),
                classes.len()
            )
        };
        let tensors = Tensors::from_bytes_of_floats(&bytes).with_context(expected)?;
        if Inference::covers(&design) {
            return Ok(Net(Arc::new(Inference::new(&design, &tensors).with_context(expected)?)));
        }
        deep::named(&design, &tensors).with_context(expected)
    }

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

//! Networks as files: named tensors, and the design as text in the header.

use crate::design::Design;
use offnominal_nets::{TensorError, Tensors};

/// What the header calls such a file.
pub const MODEL: &str = "segmenter";

/// Why a file is no network.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum FileError {
    /// The header has no design.
    #[error("expected a convolutional network of `pixels train`, found {found}")]
    NoDesign {
        /// What it has.
        found: String,
    },
    /// It is the checkpoint of another training.
    #[error(
        "expected the checkpoint of a training with {expected}, found {found}: remove it, or name another --out"
    )]
    Other {
        /// The recipe that is asked for.
        expected: String,
        /// That of the checkpoint.
        found: String,
    },
    /// A tensor is missing or otherwise.
    #[error(transparent)]
    Tensor(#[from] TensorError),
}

impl Design {
    /// Says in the header of a file what network it has.
    pub(crate) fn describe(&self, tensors: &mut Tensors) {
        tensors.put_entry("model", MODEL);
        tensors.put_json("design", self);
    }

    /// The design in the header of a file.
    ///
    /// # Errors
    /// If there is none.
    pub fn of(tensors: &Tensors) -> Result<Design, FileError> {
        let text = tensors.metadata.get("design").ok_or_else(|| FileError::NoDesign {
            found: format!("the texts {:?}", tensors.metadata.keys().collect::<Vec<_>>()),
        })?;
        serde_json::from_str(text).map_err(|e| FileError::NoDesign { found: format!("{text:?} ({e})") })
    }
}

#[cfg(feature = "burn")]
mod trained {
    use super::*;
    use crate::segmenter::Segmenter;
    use burn_tensor::Device;
    use offnominal_core::Rng;

    impl Segmenter {
        /// The network as named tensors.
        pub fn to_tensors(&self) -> Tensors {
            let mut tensors = self.weights.to_tensors();
            self.design.describe(&mut tensors);
            tensors
        }

        /// Reads what [`Segmenter::to_tensors`] wrote.
        ///
        /// # Errors
        /// If there is no design, or a tensor is missing or has another shape.
        pub fn from_tensors(tensors: &Tensors, device: &Device) -> Result<Segmenter, FileError> {
            let design = Design::of(tensors)?;
            let mut net = Segmenter::new(&design, &mut Rng::new(0), device);
            net.weights.load(tensors)?;
            Ok(net)
        }
    }
}

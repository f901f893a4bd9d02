//! What a network says of an image, however it is computed.

use crate::design::{Design, Modification};
use offnominal_core::Rng;
use offnominal_nets::Tensors;
use offnominal_nets::onnx::OnnxError;
use std::fmt::Debug;

/// Mean and deviation of the channels of photographs, by which images are standardised.
const MEAN: [f32; 3] = [0.485, 0.456, 0.406];
const DEVIATION: [f32; 3] = [0.229, 0.224, 0.225];

/// The output of a network for an image.
#[derive(Debug, Clone, PartialEq)]
pub struct Segmentation {
    /// `[passes, classes, height, width]`.
    pub logits: Vec<f32>,
    /// What the classifier reads, `[channels, rows, columns]`, of a run in which nothing is dropped.
    pub features: Vec<f32>,
    /// Channels, rows and columns of the features.
    pub grid: [usize; 3],
    /// Confidence of each pixel, from 0 to 1, if it was trained to give it.
    pub confidence: Option<Vec<f32>>,
}

/// A trained network.
pub trait Segments: Debug + Send + Sync {
    /// What it is.
    fn design(&self) -> &Design;

    /// As a file.
    fn to_tensors(&self) -> Tensors;

    /// Its output for an image, `[height, width, 3]`: in one deterministic pass if `passes` is 1, else in so many random
    /// ones.
    ///
    /// # Errors
    /// If the image is larger than what memory is granted for.
    fn segment(
        &self,
        rgb: &[u8],
        width: usize,
        passes: usize,
        rng: &mut Rng,
    ) -> Result<Segmentation, OnnxError>;

    /// Whether its passes can differ.
    fn drops_units(&self) -> bool {
        self.design().dropout().is_some()
    }

    /// Whether it has an output for its confidence.
    fn has_confidence(&self) -> bool {
        self.design().modification == Modification::Confidence
    }

    /// How many of its numbers were learned: all but the means and variances of activations.
    fn n_learned(&self) -> usize {
        let tensors = self.to_tensors();
        let is_learned = |name: &str| !name.ends_with("running_mean") && !name.ends_with("running_var");
        let learned = tensors.shapes().filter(|(name, _)| is_learned(name));
        learned.map(|(_, shape)| shape.iter().product::<usize>()).sum()
    }
}

/// An image `[height, width, 3]` as channels in units of their deviation, `[3, height, width]`.
pub(crate) fn standardised(rgb: &[u8]) -> Vec<f32> {
    let channel = |c: usize| {
        rgb.iter().skip(c).step_by(3).map(move |&v| (f32::from(v) / 255.0 - MEAN[c]) / DEVIATION[c])
    };
    (0..3).flat_map(channel).collect()
}

//! Public weights: DeepLabV3 with ResNet-50 as torchvision names its tensors, saved as safetensors.
//!
//! Its layers have torchvision's names here too, so that reading is taking each tensor by its name. What counts
//! batches and the auxiliary classifier, which is for training, are left out.

use crate::design::{Design, Kind, Modification, Preset};
use crate::file::FileError;
use crate::segmenter::Segmenter;
use burn_tensor::Device;
use offnominal_core::Rng;
use offnominal_nets::Tensors;

/// Kernel of the classifier, whose first axis is that of the classes.
const CLASSIFIER: &str = "classifier.4.weight";

impl Segmenter {
    /// A network from the tensors of `deeplabv3_resnet50`.
    ///
    /// # Errors
    /// If there are other classes, or a tensor is missing or has another shape.
    pub fn from_torchvision(
        tensors: &Tensors,
        classes: Vec<String>,
        device: &Device,
    ) -> Result<Segmenter, FileError> {
        tensors.get(CLASSIFIER)?;
        let design = Design {
            network: Kind::Deeplabv3,
            preset: Preset::Paper,
            modification: Modification::None,
            classes,
        };
        let mut net = Segmenter::new(&design, &mut Rng::new(0), device);
        net.weights.take(tensors)?;
        Ok(net)
    }
}

//! Public weights: DeepLabV3 with ResNet-50 as torchvision names its tensors, saved as safetensors.
//!
//! Its layers have torchvision's names here too, so that reading is taking each tensor by its name. What counts
//! batches and the auxiliary classifier, which is for training, are left out.

use crate::design::{Architecture, Design, Modification, OutputStride, Preset};
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
            network: Architecture::Deeplabv3,
            preset: Preset::Paper,
            modification: Modification::None,
            output_stride: OutputStride::default(),
            classes,
        };
        let mut net = Segmenter::new(&design, &mut Rng::new(0), device);
        net.weights.load(tensors)?;
        Ok(net)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Segments;
    use crate::device;
    use crate::golden;
    use offnominal_nets::TensorError;

    const SIZE: [usize; 2] = [65, 97];

    #[test]
    fn logits_are_those_of_torchvision() {
        if !skips::is_slow_tier("logits of torchvision") {
            return;
        }
        let said: serde_json::Value =
            serde_json::from_str(include_str!("../tests/data/deeplabv3.json")).unwrap();
        let wanted: Vec<f64> = serde_json::from_value(said["logits"].clone()).unwrap();
        let every = said["every"].as_u64().unwrap() as usize;
        let classes: Vec<String> = (0..21).map(|i| format!("class {i}")).collect();
        let design = Design {
            network: Architecture::Deeplabv3,
            preset: Preset::Paper,
            classes: classes.clone(),
            ..Design::default()
        };
        let tensors = golden::tensors(&design);
        let net = Segmenter::from_torchvision(&tensors, classes, &device::cpu()).unwrap();
        let [height, width] = SIZE;
        let rgb: Vec<u8> =
            golden::uniform("picture", height * width * 3).map(|u| (256.0 * u) as u8).collect();
        golden::assert_close(&net.segment(&rgb, width, 1, &mut Rng::new(0)).unwrap().logits, every, &wanted);
        let two = Segmenter::from_torchvision(&tensors, vec!["a".into(), "b".into()], &device::cpu());
        assert!(two.unwrap_err().to_string().contains("classifier.4.weight"));
    }

    #[test]
    fn other_files_are_refused() {
        let error = Segmenter::from_torchvision(&Tensors::default(), vec![], &device::cpu()).unwrap_err();
        assert!(matches!(error, FileError::Tensor(TensorError::Missing { .. })), "{error}");
    }
}

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
    use crate::device;
    use offnominal_nets::TensorError;

    const SIZE: [usize; 2] = [65, 97];

    /// Numbers in [0, 1) as in `tests/data/make_deeplabv3.py`.
    fn uniform(name: &str, n: usize) -> impl Iterator<Item = f64> {
        let digest = name
            .bytes()
            .fold(0xcbf2_9ce4_8422_2325_u64, |h, b| (h ^ u64::from(b)).wrapping_mul(0x0100_0000_01b3));
        (0..n as u64).map(move |i| {
            let mut z = digest.wrapping_add(i);
            z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
            ((z ^ (z >> 31)) >> 40) as f64 / 2.0_f64.powi(24)
        })
    }

    fn weights(name: &str, shape: &[usize]) -> Vec<f32> {
        let fan_in = shape[1..].iter().product::<usize>() as f64;
        let is_scale = name.ends_with("running_var") || (name.ends_with("weight") && shape.len() == 1);
        let value = |u: f64| match shape.len() {
            4 => (2.0 * u - 1.0) * (1.5 / fan_in).sqrt(),
            _ if is_scale => 0.5 + u,
            _ => 0.2 * (2.0 * u - 1.0),
        };
        uniform(name, shape.iter().product()).map(|u| value(u) as f32).collect()
    }

    fn tensors(classes: &[String]) -> Tensors {
        let design = Design {
            network: Architecture::Deeplabv3,
            preset: Preset::Paper,
            modification: Modification::None,
            classes: classes.to_vec(),
        };
        let net = Segmenter::new(&design, &mut Rng::new(0), &device::cpu());
        let mut tensors = Tensors::default();
        for declared in net.weights.declared() {
            tensors.insert(&declared.name, &declared.shape, &weights(&declared.name, &declared.shape));
        }
        tensors
    }

    #[test]
    fn logits_are_those_of_torchvision() {
        if !skips::is_slow_tier("logits of torchvision") {
            return;
        }
        let golden: serde_json::Value =
            serde_json::from_str(include_str!("../tests/data/deeplabv3.json")).unwrap();
        let wanted: Vec<f64> = serde_json::from_value(golden["logits"].clone()).unwrap();
        let every = golden["every"].as_u64().unwrap() as usize;
        let classes: Vec<String> = (0..21).map(|i| format!("class {i}")).collect();
        let tensors = tensors(&classes);
        let net = Segmenter::from_torchvision(&tensors, classes, &device::cpu()).unwrap();
        let [height, width] = SIZE;
        let rgb: Vec<u8> = uniform("picture", height * width * 3).map(|u| (256.0 * u) as u8).collect();
        let output = net.segment(&rgb, width, 1, &mut Rng::new(0));
        let found: Vec<f64> = output.logits.iter().step_by(every).map(|&z| f64::from(z)).collect();
        assert_eq!(found.len(), wanted.len());
        let largest = wanted.iter().fold(0.0_f64, |m, z| m.max(z.abs()));
        let error = found.iter().zip(&wanted).map(|(a, b)| (a - b).abs()).fold(0.0_f64, f64::max);
        assert!(error < 1e-4 * largest, "off by {error} of {largest}");
        let two = Segmenter::from_torchvision(&tensors, vec!["a".into(), "b".into()], &device::cpu());
        assert!(two.unwrap_err().to_string().contains("classifier.4.weight"));
    }

    #[test]
    fn other_files_are_refused() {
        let error = Segmenter::from_torchvision(&Tensors::default(), vec![], &device::cpu()).unwrap_err();
        assert!(matches!(error, FileError::Tensor(TensorError::Missing { .. })), "{error}");
    }
}

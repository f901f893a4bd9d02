//! Our convolutional networks from files: the small ones in every build, the others in builds with the feature `deep`.

use crate::choice::NetworkChoice;
use crate::deep;
use crate::net::{Net, design};
use anyhow::{Context as _, Result};
use offnominal_deep::Inference;
use offnominal_engine::device::Device;
use offnominal_nets::Tensors;
use std::path::Path;
use std::sync::Arc;

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

#[cfg(test)]
mod tests {
    use super::*;
    use offnominal_core::Rng;
    use std::fs;

    /// Every build asks the networks that are shipped.
    #[test]
    fn shipped_networks_segment_images() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../agents/pixels");
        let (mut n, rgb) = (0, (0..3 * 40 * 72).map(|i| (i * 7 % 251) as u8).collect::<Vec<_>>());
        for file in fs::read_dir(folder).unwrap().map(|file| file.unwrap().path()) {
            let name = file.file_stem().unwrap().to_string_lossy().to_string();
            let is_ours = name.starts_with("pspnet") || name.starts_with("deeplab");
            if !is_ours || file.extension().is_none_or(|ending| ending != "safetensors") {
                continue;
            }
            let net = open(&Tensors::from_bytes(&fs::read(&file).unwrap()).unwrap(), Device::Cpu).unwrap();
            let shape = [2, net.classes().len(), 40, 72];
            let output = net.forward(&rgb, shape, &mut Rng::new(1)).unwrap();
            let (first, second) = output.logits.split_at(output.logits.len() / 2);
            assert_eq!(first.len(), shape[1..].iter().product::<usize>(), "{name}");
            assert_eq!(first != second, name.ends_with("dropout"), "{name}");
            assert_eq!(output.confidence.is_some(), name.ends_with("confidence"), "{name}");
            n += 1;
        }
        assert_eq!(n, 9);
    }
}

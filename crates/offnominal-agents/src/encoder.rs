//! The convolutional encoder through which a network reads images.

use crate::config::ConfigError;
use offnominal_core::limits::{STATE, WEIGHTS};
use offnominal_core::spec::{Channel, EnvSpec};
use offnominal_nets::{ConvNet, Filters};

/// The encoder with the scale of its input: bytes are taken to [0, 1], and normalised images are read as they are.
pub(crate) fn scaled(encoder: ConvNet, normalised: bool) -> ConvNet {
    if normalised { encoder.with_scale(1.0) } else { encoder }
}

/// The convolutional encoder of the one image that an environment shows; none without filters.
///
/// # Errors
/// If the environment shows something else, or the filters do not fit on its image.
pub(crate) fn encoder(spec: &EnvSpec, filters: &[[usize; 3]]) -> Result<Option<ConvNet>, ConfigError> {
    if filters.is_empty() {
        return Ok(None);
    }
    let refused = |found: String| {
        ConfigError::Option(format!(
            "filters: expected an environment that shows one image, {filters:?} fitting on it; found {found}"
        ))
    };
    let [Channel { image: Some(image), .. }] = spec.observation[..] else {
        return Err(refused(format!("{}, which shows {} channels", spec.id, spec.observation.len())));
    };
    if !has_few_weights(image.frames * image.planes, filters) {
        return Err(refused(format!("more than {WEIGHTS} weights, or {STATE} filters in a layer")));
    }
    let layers: Vec<Filters> =
        filters.iter().map(|&[kernel, stride, count]| Filters { kernel, stride, count }).collect();
    let [frames, planes, rows, columns] = image.shape();
    let net = ConvNet::fitting(frames * planes, rows, columns, &layers);
    net.map(Some).ok_or_else(|| refused(format!("{} pixels by {} in {}", rows, columns, spec.id)))
}

/// Whether filters over so many planes can be held in memory.
fn has_few_weights(planes: usize, filters: &[[usize; 3]]) -> bool {
    let (mut all, mut depth) = (0_usize, planes);
    for &[kernel, _, count] in filters {
        let pixels = kernel.saturating_mul(kernel).saturating_mul(depth).saturating_add(1);
        all = all.saturating_add(pixels.saturating_mul(count));
        depth = count;
    }
    all <= WEIGHTS && filters.iter().all(|&[_, _, count]| count <= STATE)
}

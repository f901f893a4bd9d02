//! The image that a policy reads, as a frame.

use anyhow::{Context as _, Result, ensure};
use offnominal_core::prelude::*;
use offnominal_core::spec::Image;

/// The newest image of an observation that is one and nothing else.
///
/// # Errors
/// If it is none, or its levels have no bounds.
pub fn image(spec: &EnvSpec, episode: &Episode, step: usize) -> Result<Frame> {
    let what = || format!("expected an environment whose observation is an image, found {}", spec.id);
    let image = spec.image().with_context(what)?;
    let (low, high) = (spec.observation[0].low, spec.observation[0].high);
    ensure!(
        high - low > 0.0 && (high - low).is_finite(),
        "expected levels with bounds, found {low} to {high}"
    );
    let all = &episode.observations[step * episode.obs_width..(step + 1) * episode.obs_width];
    let level =
        |value: f32| (255.0 * (f64::from(value) - low) / (high - low)).round().clamp(0.0, 255.0) as u8;
    Ok(newest(image, all, level))
}

/// The last image of the stack.
fn newest(image: Image, all: &[f32], level: impl Fn(f32) -> u8) -> Frame {
    let pixels = image.height * image.columns;
    let last = &all[(image.frames - 1) * image.planes * pixels..];
    let mut frame = Frame::new(image.columns, image.height);
    for (at, colour) in frame.rgb.as_chunks_mut::<3>().0.iter_mut().enumerate() {
        *colour = std::array::from_fn(|plane| level(last[plane % image.planes * pixels + at]));
    }
    frame
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_image_is_shown_plane_by_plane() {
        let level = |value: f32| value as u8;
        let grey = Image::grey(2, 1, 2);
        assert_eq!(newest(grey, &[1.0, 2.0, 3.0, 4.0], level).rgb, [3, 3, 3, 4, 4, 4]);
        let colour = Image { frames: 1, planes: 3, height: 1, columns: 2 };
        assert_eq!(newest(colour, &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0], level).rgb, [1, 3, 5, 2, 4, 6]);
    }
}

//! How many rays are spent on a pixel.

/// What an image is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Quality {
    /// One ray through the centre of each pixel and hard shadows: what policies and detectors see.
    #[default]
    Observation,
    /// Four rays a pixel: smooth edges in moving images.
    Video,
    /// Sixteen rays a pixel, soft shadows: images for reports.
    Still,
}

/// Half the angle that the sun fills in images with soft shadows; larger than the real one, to please the eye.
const SUN_RADIUS_RAD: f32 = 0.035;

/// The turn between neighbours of a sunflower, which spreads points evenly over a disc.
const GOLDEN_ANGLE_RAD: f32 = 2.399_963;

impl Quality {
    /// Rays for each pixel.
    pub fn n_rays(self) -> usize {
        self.n_per_side() * self.n_per_side()
    }

    fn n_per_side(self) -> usize {
        match self {
            Quality::Observation => 1,
            Quality::Video => 2,
            Quality::Still => 4,
        }
    }

    /// The spot of a pixel (0..1 right and down) that ray `k` goes through.
    pub(super) fn spot(self, k: usize) -> (f32, f32) {
        let n = self.n_per_side();
        ((((k % n) as f32) + 0.5) / n as f32, ((k / n) as f32 + 0.5) / n as f32)
    }

    /// The spot of the sun's disc (sideways, upwards) that lights ray `k`.
    pub(super) fn sun_spot(self, k: usize) -> (f32, f32) {
        let n = self.n_rays();
        if n == 1 {
            return (0.0, 0.0);
        }
        // Strides of seven, coprime to the counts above, so that neighbouring rays see distant spots.
        let at = (7 * k + 3) % n;
        let (sin, cos) = (at as f32 * GOLDEN_ANGLE_RAD).sin_cos();
        let radius = SUN_RADIUS_RAD * ((at as f32 + 0.5) / n as f32).sqrt();
        (radius * cos, radius * sin)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spots_are_centred_and_all_different() {
        for quality in [Quality::Observation, Quality::Video, Quality::Still] {
            let n = quality.n_rays();
            let mean: f32 = (0..n).map(|k| quality.spot(k).0).sum::<f32>() / n as f32;
            assert_eq!(mean, 0.5);
            let mut suns: Vec<_> = (0..n).map(|k| quality.sun_spot(k)).collect();
            suns.sort_by(|a, b| a.partial_cmp(b).unwrap());
            suns.dedup();
            assert_eq!(suns.len(), n);
        }
    }
}

//! Things that are pasted onto the road where they would be seen, in the size that they would have there.

use super::ground::Ground;
use crate::data_set::Labels;
use crate::paste::{Shape, paste_shape};
use offnominal_core::Rng;

/// Heights and widths, m.
const HEIGHTS_M: [f64; 2] = [0.2, 1.3];
const WIDTHS_M: [f64; 2] = [0.4, 2.8];
/// The furthest, in distances of the nearest.
const FURTHEST: f64 = 8.0;
/// Furthest to either side, m.
const BESIDE_M: f64 = 8.0;

/// What pastes them.
#[derive(Debug, Clone, Copy)]
pub struct RoadPaste {
    pub ground: Ground,
    /// Distance of the nearest, m.
    pub nearest_m: f64,
}

impl RoadPaste {
    /// Pastes one; `pieces` is another image and its width.
    pub fn paste(&self, rgb: &mut [u8], labels: &mut Labels, pieces: (&[u8], usize), rng: &mut Rng) {
        let shape = self.shape(rng);
        paste_shape(rgb, labels, &shape, pieces, rng);
    }

    fn shape(&self, rng: &mut Rng) -> Shape {
        let between = |rng: &mut Rng, [low, high]: [f64; 2]| rng.range(low.ln(), high.ln()).exp();
        let ahead = between(rng, [self.nearest_m, FURTHEST * self.nearest_m]);
        let most = BESIDE_M.min(self.ground.in_view(ahead));
        let foot = self.ground.seen([ahead, rng.range(-most, most)]);
        let pixels = self.ground.pixels_per_m(ahead);
        let size = [HEIGHTS_M, WIDTHS_M].map(|sizes| (pixels * between(rng, sizes)) as f32);
        Shape::standing(foot.map(|x| x as f32), size, rng)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use offnominal_stats::pixel::Truth;

    #[test]
    fn things_are_pasted_below_the_horizon_and_smaller_the_further_they_are() {
        let (side, ground) = (256, Ground::new(90.0, 1.5, (256, 256)));
        let mut sizes = [0, 0];
        for (size, nearest_m) in sizes.iter_mut().zip([3.0, 12.0]) {
            let mut rng = Rng::new(1);
            for _ in 0..40 {
                let mut rgb = vec![90; 3 * side * side];
                let (ids, truth) = (vec![0; side * side], vec![Truth::Known; side * side]);
                let mut labels = Labels { width: side, height: side, ids, truth };
                let other = rgb.clone();
                RoadPaste { ground, nearest_m }.paste(&mut rgb, &mut labels, (&other, side), &mut rng);
                let pasted = |id: &u8| *id == offnominal_detectors::pixel::UNKNOWN;
                assert!(
                    !labels.ids[..side * side / 2].iter().any(pasted),
                    "a thing is lower than the camera"
                );
                *size += labels.ids.iter().filter(|id| pasted(id)).count();
            }
        }
        // Four times as near is sixteen times as many pixels, as far as they are in view.
        assert!(sizes[0] > 8 * sizes[1] && sizes[1] > 0, "{sizes:?}");
    }
}

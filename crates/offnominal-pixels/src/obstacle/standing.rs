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
pub struct Standing {
    pub ground: Ground,
    /// Distance of the nearest, m.
    pub nearest_m: f64,
}

impl Standing {
    /// Pastes one; `pieces` is another image and its width.
    pub fn paste(&self, rgb: &mut [u8], labels: &mut Labels, pieces: (&[u8], usize), rng: &mut Rng) {
        let shape = self.shape(rng);
        paste_shape(rgb, labels, &shape, pieces, rng);
    }

    fn shape(&self, rng: &mut Rng) -> Shape {
        let between = |rng: &mut Rng, [low, high]: [f64; 2]| rng.range(low.ln(), high.ln()).exp();
        let ahead = between(rng, [self.nearest_m, FURTHEST * self.nearest_m]);
        let foot = self.ground.seen([ahead, rng.range(-BESIDE_M, BESIDE_M)]);
        let pixels = self.ground.pixels_per_m(ahead);
        let size = [HEIGHTS_M, WIDTHS_M].map(|sizes| (pixels * between(rng, sizes)) as f32);
        Shape::standing(foot.map(|x| x as f32), size, rng)
    }
}

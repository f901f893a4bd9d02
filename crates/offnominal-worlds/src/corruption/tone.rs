//! Light, contrast and colour.
//!
//! Brightness and saturation act on value and saturation of the hexcone model (HSV). In it, value V is the largest of
//! the three numbers of a pixel, saturation S the spread divided by V, and at a fixed hue each number is V (1 − S f)
//! with an f of its own: so both changes have closed forms without a hue.

use super::filter::Size;
use super::{Effect, between};
use offnominal_core::Rng;

/// Distances from the mean of each plane, times c.
pub(super) struct Contrast {
    factor: f32,
    planes: usize,
}

impl Contrast {
    pub(super) fn new(severity: f64, size: Size) -> Contrast {
        let [factor] = between(&[[0.4], [0.3], [0.2], [0.1], [0.05]], severity);
        Contrast { factor: factor as f32, planes: size.planes }
    }
}

impl Effect for Contrast {
    fn apply(&mut self, levels: &mut [f32], _: &mut Rng) {
        for plane in 0..self.planes {
            let n = levels.len() / self.planes;
            let sum: f64 = levels.iter().skip(plane).step_by(self.planes).map(|&x| f64::from(x)).sum();
            let mean = (sum / n as f64) as f32;
            for x in levels.iter_mut().skip(plane).step_by(self.planes) {
                *x = (*x - mean) * self.factor + mean;
            }
        }
    }
}

/// V + c.
pub(super) struct Brightness {
    more: f32,
    planes: usize,
}

impl Brightness {
    pub(super) fn new(severity: f64, size: Size) -> Brightness {
        let [more] = between(&[[0.1], [0.2], [0.3], [0.4], [0.5]], severity);
        Brightness { more: 255.0 * more as f32, planes: size.planes }
    }
}

impl Effect for Brightness {
    fn apply(&mut self, levels: &mut [f32], _: &mut Rng) {
        for pixel in levels.chunks_exact_mut(self.planes) {
            let value = largest(pixel);
            let brighter = (value + self.more).min(255.0);
            match value {
                0.0 => pixel.fill(brighter),
                _ => pixel.iter_mut().for_each(|x| *x *= brighter / value),
            }
        }
    }
}

fn largest(pixel: &[f32]) -> f32 {
    pixel.iter().copied().fold(0.0, f32::max)
}

/// S · a + b. A pixel without colour becomes reddish where b is positive, because its hue counts as red.
pub(super) struct Saturate {
    factor: f32,
    more: f32,
    planes: usize,
}

impl Saturate {
    pub(super) fn new(severity: f64, size: Size) -> Saturate {
        let [factor, more] =
            between(&[[0.3, 0.0], [0.1, 0.0], [2.0, 0.0], [5.0, 0.1], [20.0, 0.2]], severity);
        Saturate { factor: factor as f32, more: more as f32, planes: size.planes }
    }
}

impl Effect for Saturate {
    fn apply(&mut self, levels: &mut [f32], _: &mut Rng) {
        for pixel in levels.as_chunks_mut::<3>().0.iter_mut().take_while(|_| self.planes == 3) {
            let value = largest(pixel);
            let spread = value - pixel.iter().copied().fold(255.0, f32::min);
            let saturation = if value > 0.0 { spread / value } else { 0.0 };
            let wanted = (saturation * self.factor + self.more).clamp(0.0, 1.0);
            if saturation > 0.0 {
                pixel.iter_mut().for_each(|x| *x = value - (value - *x) * wanted / saturation);
            } else {
                pixel[1..].fill(value * (1.0 - wanted));
            }
        }
    }
}

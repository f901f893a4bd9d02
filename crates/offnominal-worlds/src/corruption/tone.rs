//! Light, contrast and colour.
//!
//! Brightness and saturation act on value and saturation of the hexcone model (HSV). In it, value V is the largest of
//! the three numbers of a pixel, saturation S the spread divided by V, and at a fixed hue each number is V (1 − S f)
//! with an f of its own: so both changes have closed forms without a hue.

use super::filter::Size;
use super::{Effect, between};

/// Distances from the mean of each plane, times c.
pub(super) fn contrast(severity: f64, size: Size) -> Effect {
    let [factor] = between(&[[0.4], [0.3], [0.2], [0.1], [0.05]], severity);
    let (factor, planes) = (factor as f32, size.planes);
    Box::new(move |levels, _| {
        for plane in 0..planes {
            let n = levels.len() / planes;
            let sum: f64 = levels.iter().skip(plane).step_by(planes).map(|&x| f64::from(x)).sum();
            let mean = (sum / n as f64) as f32;
            for x in levels.iter_mut().skip(plane).step_by(planes) {
                *x = (*x - mean) * factor + mean;
            }
        }
    })
}

/// V + c.
pub(super) fn brightness(severity: f64, size: Size) -> Effect {
    let [more] = between(&[[0.1], [0.2], [0.3], [0.4], [0.5]], severity);
    let more = 255.0 * more as f32;
    Box::new(move |levels, _| {
        for pixel in levels.chunks_exact_mut(size.planes) {
            let value = largest(pixel);
            let brighter = (value + more).min(255.0);
            match value {
                0.0 => pixel.fill(brighter),
                _ => pixel.iter_mut().for_each(|x| *x *= brighter / value),
            }
        }
    })
}

fn largest(pixel: &[f32]) -> f32 {
    pixel.iter().copied().fold(0.0, f32::max)
}

/// S · a + b. A pixel without colour becomes reddish where b is positive, because its hue counts as red.
pub(super) fn saturate(severity: f64, size: Size) -> Effect {
    let table = [[0.3, 0.0], [0.1, 0.0], [2.0, 0.0], [5.0, 0.1], [20.0, 0.2]];
    let [factor, more] = between(&table, severity).map(|x| x as f32);
    Box::new(move |levels, _| {
        for pixel in levels.as_chunks_mut::<3>().0.iter_mut().take_while(|_| size.planes == 3) {
            let value = largest(pixel);
            let spread = value - pixel.iter().copied().fold(255.0, f32::min);
            let saturation = if value > 0.0 { spread / value } else { 0.0 };
            let wanted = (saturation * factor + more).clamp(0.0, 1.0);
            if saturation > 0.0 {
                pixel.iter_mut().for_each(|x| *x = value - (value - *x) * wanted / saturation);
            } else {
                pixel[1..].fill(value * (1.0 - wanted));
            }
        }
    })
}

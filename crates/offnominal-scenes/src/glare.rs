//! The shine around lamps that a lens and moist air make.

use crate::look::Samples;
use crate::scene::Scene;
use offnominal_core::vec3::Vec3;

/// A lamp in the image: how many samples show it, and the sums of their columns and rows.
#[derive(Clone, Copy, Default)]
struct Spot {
    samples: usize,
    columns: usize,
    rows: usize,
}

/// Adds it to the light of an image of so many pixels in a row; `sub` samples make the side of a pixel.
pub fn add(scene: &Scene, seen: &Samples, sub: usize, light: &mut [Vec3], width: usize) {
    if scene.light.glare == 0.0 {
        return;
    }
    let mut spots = vec![Spot::default(); scene.solids.len()];
    for (at, &solid) in seen.solid.iter().enumerate().filter(|(_, s)| **s > 0) {
        let spot = &mut spots[solid as usize - 1];
        spot.samples += 1;
        spot.columns += at % (sub * width);
        spot.rows += at / (sub * width);
    }
    for (solid, spot) in scene.solids.iter().zip(&spots).filter(|(_, spot)| spot.samples > 0) {
        if let Some(colour) = solid.material.shines() {
            let [x, y] = [spot.columns, spot.rows].map(|sum| sum as f32 / (spot.samples * sub) as f32);
            let size = 0.8 + 0.5 * (spot.samples as f32).sqrt() / sub as f32;
            shine(light, width, [x, y], size, colour * (0.7 * scene.light.glare));
        }
    }
}

/// Adds a spot of light that falls off over its size in pixels.
fn shine(light: &mut [Vec3], width: usize, [x, y]: [f32; 2], size: f32, colour: Vec3) {
    let reach = (7.0 * size).ceil();
    let range = |middle: f32, end: usize| {
        ((middle - reach).max(0.0) as usize).min(end)..((middle + reach).max(0.0) as usize + 1).min(end)
    };
    let rows = range(y, light.len() / width);
    for row in rows {
        for column in range(x, width) {
            let (dx, dy) = ((column as f32 - x) / size, (row as f32 - y) / size);
            let fall = 1.0 / (1.0 + 0.8 * (dx * dx + dy * dy));
            let share = (fall - 1.0 / 40.0).max(0.0) * fall;
            light[row * width + column] = light[row * width + column] + colour * share;
        }
    }
}

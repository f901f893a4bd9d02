//! Images that are nothing but noise; every pixel is unknown.

use crate::class::Class;
use crate::image::Image;
use crate::noise::gradient;
use offnominal_core::Rng;

/// Each number independent: clip(N(½, 1), 0, 1), so that 31 % are black and 31 % are white.
pub fn normal(width: usize, height: usize, rng: &mut Rng) -> Image {
    let mut draws = vec![0.0; 3 * width * height];
    rng.fill_normal(&mut draws);
    of(width, height, draws.iter().map(|x| ((0.5 + x).clamp(0.0, 1.0) * 255.0) as u8).collect())
}

/// Smooth blobs: gradient noise with ten cells along the longer side, each colour by itself and stretched to its range.
pub fn perlin(width: usize, height: usize, rng: &mut Rng) -> Image {
    let cell = 10.0 / width.max(height) as f32;
    let mut rgb = vec![0; 3 * width * height];
    for channel in 0..3 {
        let key = rng.bits() as u32;
        let values: Vec<f32> = (0..width * height)
            .map(|i| gradient(cell * (i % width) as f32, cell * (i / width) as f32, key))
            .collect();
        let (low, high) = values.iter().fold((f32::MAX, f32::MIN), |(l, h), &v| (l.min(v), h.max(v)));
        for (i, v) in values.iter().enumerate() {
            rgb[3 * i + channel] = (255.0 * (v - low) / (high - low).max(1e-9)) as u8;
        }
    }
    of(width, height, rgb)
}

fn of(width: usize, height: usize, rgb: Vec<u8>) -> Image {
    let n = width * height;
    Image {
        width,
        height,
        rgb,
        classes: vec![Class::Unknown; n],
        instances: vec![0; n],
        depth_m: vec![f32::INFINITY; n],
        shadow: vec![false; n],
        visible: Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clipped_noise_has_the_shares_of_a_clipped_normal() {
        let image = normal(200, 100, &mut Rng::new(1));
        let share = |v: u8| image.rgb.iter().filter(|&&x| x == v).count() as f64 / 60_000.0;
        // Φ(−½) = .3085; one grey level more or less.
        assert!((share(0) - 0.3085).abs() < 0.012 && (share(255) - 0.3085).abs() < 0.012);
    }

    #[test]
    fn blobs_are_smooth_and_fill_the_range() {
        let image = perlin(200, 100, &mut Rng::new(1));
        let red: Vec<i32> = image.rgb.iter().step_by(3).map(|&v| i32::from(v)).collect();
        assert!(red.contains(&0) && red.contains(&255));
        assert!(red.windows(2).enumerate().all(|(i, w)| i % 200 == 199 || (w[0] - w[1]).abs() < 30));
    }
}

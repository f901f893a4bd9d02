//! Smooth noise as a function of place: the same place always has the same value.
//!
//! Gradient noise in two dimensions after Perlin ("An image synthesizer", SIGGRAPH 1985), with the fade 6t⁵ − 15t⁴ + 10t³
//! of his 2002 revision; gradients come from a hash of the lattice point and a key.

use std::f32::consts::FRAC_1_SQRT_2;

/// Well mixed bits of a lattice point.
#[inline(always)]
fn hash(x: i32, y: i32, key: u32) -> u32 {
    let mut h = (x as u32).wrapping_mul(0x8da6_b343)
        ^ (y as u32).wrapping_mul(0xd816_3841)
        ^ key.wrapping_mul(0xcb1a_b31f);
    h ^= h >> 15;
    h = h.wrapping_mul(0x2c1b_3c6d);
    h ^= h >> 12;
    h = h.wrapping_mul(0x297a_2d39);
    h ^ (h >> 15)
}

/// Uniform on [0, 1), a number for each lattice point.
#[inline(always)]
pub fn speck(x: i32, y: i32, key: u32) -> f32 {
    (hash(x, y, key) >> 8) as f32 / (1 << 24) as f32
}

#[inline(always)]
fn slope(x: i32, y: i32, key: u32, dx: f32, dy: f32) -> f32 {
    match hash(x, y, key) & 7 {
        0 => dx,
        1 => -dx,
        2 => dy,
        3 => -dy,
        4 => FRAC_1_SQRT_2 * (dx + dy),
        5 => FRAC_1_SQRT_2 * (dx - dy),
        6 => FRAC_1_SQRT_2 * (dy - dx),
        _ => -FRAC_1_SQRT_2 * (dx + dy),
    }
}

#[inline(always)]
fn fade(t: f32) -> f32 {
    t * t * t * (t * (6.0 * t - 15.0) + 10.0)
}

/// 0 below `low`, 1 above `high`, smooth between.
#[inline(always)]
pub fn smooth(low: f32, high: f32, x: f32) -> f32 {
    let t = ((x - low) / (high - low)).clamp(0.0, 1.0);
    t * t * (3.0 - 2.0 * t)
}

/// Gradient noise, about ±0.7 around 0, with features of size one.
#[inline]
pub fn gradient(x: f32, y: f32, key: u32) -> f32 {
    let (fx, fy) = (x.floor(), y.floor());
    let (ix, iy, dx, dy) = (fx as i32, fy as i32, x - fx, y - fy);
    let (wx, wy) = (fade(dx), fade(dy));
    let top = slope(ix, iy, key, dx, dy) * (1.0 - wx) + slope(ix + 1, iy, key, dx - 1.0, dy) * wx;
    let low = slope(ix, iy + 1, key, dx, dy - 1.0) * (1.0 - wx)
        + slope(ix + 1, iy + 1, key, dx - 1.0, dy - 1.0) * wx;
    top + (low - top) * wy
}

/// A sum of octaves, each twice as fine and half as strong; about ±1 around 0.
#[inline]
pub fn fractal(x: f32, y: f32, octaves: u32, key: u32) -> f32 {
    let (mut sum, mut amplitude, mut frequency) = (0.0, 0.7, 1.0);
    for octave in 0..octaves {
        sum += amplitude * gradient(x * frequency, y * frequency, key.wrapping_add(octave));
        amplitude *= 0.5;
        frequency *= 2.03;
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_smooth_zero_on_the_lattice_and_centred() {
        assert_eq!(gradient(3.0, -7.0, 9), 0.0);
        assert!((gradient(3.4, 1.2, 9) - gradient(3.4001, 1.2, 9)).abs() < 1e-3);
        let values: Vec<f32> =
            (0..40_000).map(|i| gradient(0.37 * (i % 200) as f32, 0.41 * (i / 200) as f32, 1)).collect();
        let mean = values.iter().sum::<f32>() / 40_000.0;
        assert!(mean.abs() < 0.02 && values.iter().all(|v| v.abs() <= 1.0), "{mean}");
    }

    #[test]
    fn keys_make_different_fields() {
        assert_ne!(gradient(0.3, 0.6, 1), gradient(0.3, 0.6, 2));
        assert_ne!(speck(4, 5, 1), speck(5, 4, 1));
    }
}

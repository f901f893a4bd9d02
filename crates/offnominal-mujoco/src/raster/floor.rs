//! A checkerboard averaged over the patch of floor that one pixel covers, so that it neither flickers nor moirés.

use super::camera::Rays;
use offnominal_core::vec3::Vec3;

/// The share of the second colour in the patch around a point of the plane.
///
/// `rays` are in the plane's frame. The patch is approximated by the rectangle of side lengths
/// |∂p/∂column| + |∂p/∂row|, over which the pattern's mean has a closed form.
pub fn checker_share(rays: &Rays, direction: Vec3, depth: f32, squares_per_m: f32) -> f32 {
    let squares = depth * squares_per_m;
    let point = rays.origin * squares_per_m + direction * squares;
    // How far the point slides when the ray's direction changes: the part of the change that stays in the plane.
    let slope = direction * (1.0 / direction.z);
    let across = rays.per_column - slope * rays.per_column.z;
    let down = rays.per_row - slope * rays.per_row.z;
    let width = |a: f32, b: f32| ((a.abs() + b.abs()) * squares).max(1e-3);
    0.5 - 0.5 * checker_mean((point.x, point.y), (width(across.x, down.x), width(across.y, down.y)))
}

/// Mean over a rectangle around a point of the pattern that is 1 on even squares of side 1 and −1 on odd ones.
fn checker_mean(at: (f32, f32), width: (f32, f32)) -> f32 {
    window_integral(at.0, width.0) * window_integral(at.1, width.1) / (width.0 * width.1)
}

/// Integral over [u − w/2, u + w/2] of the wave that is 1 on [0, 1), −1 on [1, 2), and so on.
fn window_integral(u: f32, width: f32) -> f32 {
    square_wave_integral(u + 0.5 * width) - square_wave_integral(u - 0.5 * width)
}

/// The antiderivative of the wave: a triangle between 0 and 1 with period 2.
fn square_wave_integral(u: f32) -> f32 {
    // Adding and subtracting this number rounds to the nearest integer, in two instructions on every processor.
    const ROUNDING: f32 = 12_582_912.0;
    let half = 0.5 * u;
    let nearest = (half + ROUNDING) - ROUNDING;
    2.0 * (half - nearest).abs().min(0.5)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(u: f32, width: f32, expected: f32) {
        assert!((window_integral(u, width) / width - expected).abs() < 1e-3);
    }

    #[test]
    fn the_mean_is_one_inside_a_square_zero_on_its_edge_and_vanishes_for_wide_windows() {
        check(0.5, 0.2, 1.0);
        check(-0.5, 0.2, -1.0);
        check(1.0, 0.5, 0.0);
        check(1.1, 0.4, -0.5);
        check(0.3, 2.0, 0.0);
    }
}

//! A checkerboard averaged over the patch of floor that one pixel covers, so that it neither flickers nor moirés.

use super::camera::Rays;
use super::vec3::Vec3;

/// The share of the second colour in the patch around a point of the plane.
///
/// `rays` are in the plane's frame. The patch is approximated by the rectangle of side lengths
/// |∂p/∂column| + |∂p/∂row|, over which the pattern's mean has a closed form.
pub fn checker_share(rays: &Rays, direction: Vec3, depth: f32, side_m: f32) -> f32 {
    let point = rays.origin + direction * depth;
    let across = slide(direction, rays.per_column, depth);
    let down = slide(direction, rays.per_row, depth);
    let mean = |p: f32, a: f32, b: f32| square_wave_mean(p / side_m, (a.abs() + b.abs()) / side_m);
    0.5 - 0.5 * mean(point.x, across.x, down.x) * mean(point.y, across.y, down.y)
}

/// How far the point on the plane moves when the ray's direction changes by `change`.
fn slide(direction: Vec3, change: Vec3, depth: f32) -> Vec3 {
    (change - direction * (change.z / direction.z)) * depth
}

/// Mean over [u − w/2, u + w/2] of the wave that is 1 on [0, 1), −1 on [1, 2), and so on.
fn square_wave_mean(u: f32, width: f32) -> f32 {
    let width = width.max(1e-3);
    (square_wave_integral(u + 0.5 * width) - square_wave_integral(u - 0.5 * width)) / width
}

/// The antiderivative of the wave: a triangle between 0 and 1 with period 2.
fn square_wave_integral(u: f32) -> f32 {
    let half = 0.5 * u;
    1.0 - (2.0 * (half - half.floor()) - 1.0).abs()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(u: f32, width: f32, expected: f32) {
        assert!((square_wave_mean(u, width) - expected).abs() < 1e-3);
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

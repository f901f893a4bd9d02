//! Vectors of three numbers. The world has x to the right, y up and z ahead of the camera, in metres.

/// A point or a direction; also a colour in linear light.
pub type Vec3 = [f32; 3];

/// a + b.
#[inline(always)]
pub fn add(a: Vec3, b: Vec3) -> Vec3 {
    [a[0] + b[0], a[1] + b[1], a[2] + b[2]]
}

/// a − b.
#[inline(always)]
pub fn sub(a: Vec3, b: Vec3) -> Vec3 {
    [a[0] - b[0], a[1] - b[1], a[2] - b[2]]
}

/// s a.
#[inline(always)]
pub fn scale(a: Vec3, s: f32) -> Vec3 {
    [a[0] * s, a[1] * s, a[2] * s]
}

/// a b, number by number.
#[inline(always)]
pub fn times(a: Vec3, b: Vec3) -> Vec3 {
    [a[0] * b[0], a[1] * b[1], a[2] * b[2]]
}

/// The inner product.
#[inline(always)]
pub fn dot(a: Vec3, b: Vec3) -> f32 {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}

/// a / |a|.
#[inline(always)]
pub fn unit(a: Vec3) -> Vec3 {
    scale(a, 1.0 / dot(a, a).sqrt().max(1e-12))
}

/// From a to b; w = 0 gives a.
#[inline(always)]
pub fn mix(a: Vec3, b: Vec3, w: f32) -> Vec3 {
    [a[0] + (b[0] - a[0]) * w, a[1] + (b[1] - a[1]) * w, a[2] + (b[2] - a[2]) * w]
}

/// 0 below `low`, 1 above `high`, smooth between.
#[inline(always)]
pub fn smooth(low: f32, high: f32, x: f32) -> f32 {
    let t = ((x - low) / (high - low)).clamp(0.0, 1.0);
    t * t * (3.0 - 2.0 * t)
}

//! Three numbers with the operations that drawing needs.

use std::ops::{Add, Index, Mul, Neg, Sub};

/// A point, a direction or a colour in linear light.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
#[allow(missing_docs, reason = "the names say it")]
pub struct Vec3 {
    pub x: f32,
    pub y: f32,
    pub z: f32,
}

/// The vector of three numbers.
pub const fn vec3(x: f32, y: f32, z: f32) -> Vec3 {
    Vec3 { x, y, z }
}

impl Vec3 {
    /// The same number three times: a grey, or a cube.
    pub const fn all(v: f32) -> Vec3 {
        vec3(v, v, v)
    }

    /// The inner product.
    #[inline(always)]
    pub fn dot(self, other: Vec3) -> f32 {
        self.x * other.x + self.y * other.y + self.z * other.z
    }

    /// The vector product.
    #[inline(always)]
    pub fn cross(self, other: Vec3) -> Vec3 {
        vec3(
            self.y * other.z - self.z * other.y,
            self.z * other.x - self.x * other.z,
            self.x * other.y - self.y * other.x,
        )
    }

    /// The Euclidean length.
    #[inline(always)]
    pub fn length(self) -> f32 {
        self.dot(self).sqrt()
    }

    /// The direction alone; a vector without one stays zero.
    #[inline(always)]
    pub fn unit(self) -> Vec3 {
        let length = self.length();
        if length > 0.0 && length.is_finite() { self * (1.0 / length) } else { Vec3::default() }
    }

    /// The product number by number.
    #[inline(always)]
    pub fn times(self, other: Vec3) -> Vec3 {
        vec3(self.x * other.x, self.y * other.y, self.z * other.z)
    }

    /// A function of each number.
    #[inline(always)]
    pub fn map(self, mut f: impl FnMut(f32) -> f32) -> Vec3 {
        vec3(f(self.x), f(self.y), f(self.z))
    }

    /// From this vector to another one; a share of 0 gives this one.
    #[inline(always)]
    pub fn lerp(self, other: Vec3, share: f32) -> Vec3 {
        self + (other - self) * share
    }

    /// The largest of the numbers.
    pub fn largest(self) -> f32 {
        self.x.max(self.y).max(self.z)
    }

    /// The smallest of the numbers.
    pub fn smallest(self) -> f32 {
        self.x.min(self.y).min(self.z)
    }

    /// Whether all numbers are finite.
    pub fn is_finite(self) -> bool {
        self.x.is_finite() && self.y.is_finite() && self.z.is_finite()
    }
}

impl From<[f32; 3]> for Vec3 {
    #[inline(always)]
    fn from([x, y, z]: [f32; 3]) -> Vec3 {
        vec3(x, y, z)
    }
}

impl Index<usize> for Vec3 {
    type Output = f32;
    #[inline(always)]
    fn index(&self, axis: usize) -> &f32 {
        [&self.x, &self.y, &self.z][axis]
    }
}

impl Add for Vec3 {
    type Output = Vec3;
    #[inline(always)]
    fn add(self, o: Vec3) -> Vec3 {
        vec3(self.x + o.x, self.y + o.y, self.z + o.z)
    }
}

impl Sub for Vec3 {
    type Output = Vec3;
    #[inline(always)]
    fn sub(self, o: Vec3) -> Vec3 {
        vec3(self.x - o.x, self.y - o.y, self.z - o.z)
    }
}

impl Mul<f32> for Vec3 {
    type Output = Vec3;
    #[inline(always)]
    fn mul(self, by: f32) -> Vec3 {
        vec3(self.x * by, self.y * by, self.z * by)
    }
}

impl Neg for Vec3 {
    type Output = Vec3;
    #[inline(always)]
    fn neg(self) -> Vec3 {
        vec3(-self.x, -self.y, -self.z)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn products_are_those_of_a_right_handed_frame() {
        let (a, b) = (vec3(1.0, 2.0, 0.0), vec3(0.0, 3.0, 4.0));
        assert_eq!((a.dot(b), a.cross(b), b.length()), (6.0, vec3(8.0, -4.0, 3.0), 5.0));
        assert_eq!((0..3).map(|axis| a.times(b)[axis]).collect::<Vec<_>>(), [0.0, 6.0, 0.0]);
    }

    #[test]
    fn what_has_no_direction_stays_zero() {
        assert_eq!(vec3(0.0, 3.0, 4.0).unit(), vec3(0.0, 0.6, 0.8));
        assert_eq!([Vec3::all(0.0), Vec3::all(f32::MAX)].map(Vec3::unit), [Vec3::default(); 2]);
    }
}

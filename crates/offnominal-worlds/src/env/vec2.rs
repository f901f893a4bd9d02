//! Points and vectors of the plane.

use std::ops::{Add, AddAssign, Mul, Neg, Sub, SubAssign};

/// A point or a vector of the plane; SI units.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Vec2 {
    /// Eastward component.
    pub x: f64,
    /// Northward component.
    pub y: f64,
}

impl Vec2 {
    /// The zero vector.
    pub const ZERO: Vec2 = Vec2 { x: 0.0, y: 0.0 };

    /// A vector from its components.
    pub const fn new(x: f64, y: f64) -> Vec2 {
        Vec2 { x, y }
    }

    /// The direction of an angle from east, anticlockwise.
    pub fn along(angle: f64) -> Vec2 {
        let (sin, cos) = angle.sin_cos();
        Vec2::new(cos, sin)
    }

    /// The inner product.
    pub fn dot(self, other: Vec2) -> f64 {
        self.x * other.x + self.y * other.y
    }

    /// The outer product: positive if the other vector points to the left of this one.
    pub fn cross(self, other: Vec2) -> f64 {
        self.x * other.y - self.y * other.x
    }

    /// Squared length.
    pub fn norm_squared(self) -> f64 {
        self.dot(self)
    }

    /// Length.
    pub fn norm(self) -> f64 {
        self.norm_squared().sqrt()
    }

    /// Distance to another point.
    pub fn distance(self, to: Vec2) -> f64 {
        (self - to).norm()
    }

    /// The same vector, shortened to `limit` if it is longer.
    pub fn at_most(self, limit: f64) -> Vec2 {
        let squared = self.norm_squared();
        if squared > limit * limit { self * (limit / squared.sqrt()) } else { self }
    }
}

impl Add for Vec2 {
    type Output = Vec2;
    fn add(self, other: Vec2) -> Vec2 {
        Vec2::new(self.x + other.x, self.y + other.y)
    }
}

impl Sub for Vec2 {
    type Output = Vec2;
    fn sub(self, other: Vec2) -> Vec2 {
        Vec2::new(self.x - other.x, self.y - other.y)
    }
}

impl Mul<f64> for Vec2 {
    type Output = Vec2;
    fn mul(self, factor: f64) -> Vec2 {
        Vec2::new(self.x * factor, self.y * factor)
    }
}

impl Neg for Vec2 {
    type Output = Vec2;
    fn neg(self) -> Vec2 {
        Vec2::new(-self.x, -self.y)
    }
}

impl AddAssign for Vec2 {
    fn add_assign(&mut self, other: Vec2) {
        *self = *self + other;
    }
}

impl SubAssign for Vec2 {
    fn sub_assign(&mut self, other: Vec2) {
        *self = *self - other;
    }
}

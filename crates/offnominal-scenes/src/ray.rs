//! A ray in the space of a solid.

use offnominal_core::vec3::Vec3;

/// A ray in the space of a solid.
#[derive(Debug, Clone, Copy)]
pub struct Ray {
    /// Where it begins.
    pub origin: Vec3,
    /// Where it goes; any length.
    pub direction: Vec3,
}

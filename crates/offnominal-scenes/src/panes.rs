//! Glass in a frame: the cabins of cars, the sides of buses.

use crate::surface::{Place, Surface};
use offnominal_core::vec3::{Vec3, vec3};

/// A row of panes around a solid.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Panes {
    /// Colour of the frame.
    pub frame: Vec3,
    /// Panes on either side, and in front and back.
    pub count: [f32; 2],
    /// Width of the posts in metres.
    pub post: f32,
    /// Whether it is light inside at night.
    pub is_lit: bool,
}

/// Colour of glass.
pub const GLASS: Vec3 = vec3(0.02, 0.025, 0.03);

impl Panes {
    /// What a place looks like.
    pub fn surface(&self, place: &Place) -> Surface {
        let painted = Surface { gloss: 0.1, ..Surface::matt(self.frame) };
        if place.face == 1 {
            return painted;
        }
        let (axis, count) = if place.face == 0 { (2, self.count[0]) } else { (0, self.count[1]) };
        let u = 0.5 * (place.local[axis] + 1.0) * count;
        let width = 2.0 * place.half[axis] / count;
        let to_post = (u - u.round()).abs() * width;
        let to_edge = (1.0 - place.local.y.abs()) * place.half.y;
        if to_post < 0.5 * self.post || to_edge < 0.04 {
            return painted;
        }
        // Seats and persons show through the lower half.
        let inside = if place.local.y < -0.1 { 0.6 } else { 1.3 };
        let glow = if self.is_lit { vec3(0.34, 0.33, 0.27) } else { Vec3::default() };
        Surface { colour: GLASS * inside, glow: [Vec3::default(), glow], gloss: 0.28 }
    }
}

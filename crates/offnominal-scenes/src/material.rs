//! What surfaces look like: a colour for each place on a solid, what shines there, and how much it mirrors.

use crate::facade::Facade;
use crate::noise::{fractal, gradient, smooth, speck};
use crate::panes::Panes;
use crate::surface::{Place, Surface};
use offnominal_core::vec3::Vec3;

/// The look of a solid. Colours are in linear light.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Material {
    /// One colour.
    Plain(Vec3),
    /// One colour under varnish.
    Paint(Vec3),
    /// One colour with blotches of the given strength and a size of about a metre over the number.
    Mottled(Vec3, f32, f32),
    /// Two colours in bands that are so wide, along an axis of the solid, in metres.
    Bands(Vec3, Vec3, f32, usize),
    /// A colour with patches of another one on a third of it, of irregular outline and so large, in metres.
    Patches(Vec3, Vec3, f32),
    /// A wall with windows.
    Facade(Facade),
    /// Tiles, and the colour of the wall in the gable.
    Tiles(Vec3, Vec3),
    /// Leaves, with holes near the edge.
    Foliage(Vec3),
    /// Glass: dark where it looks at the ground, bright where it mirrors the sky.
    Glass(Vec3),
    /// Glass in a frame.
    Panes(Panes),
    /// Shines by itself.
    Lamp(Vec3),
    /// Shines by itself, and at night lights what is around.
    Lantern(Vec3),
    /// Bars with gaps between them, so many to a metre.
    Bars(Vec3, f32),
    /// The texture of the road it stands on.
    Asphalt(Vec3),
}

impl Material {
    /// Whether a place is a hole that shows what is behind. `facing` is 1 where the surface faces the camera, 0 at its rim.
    #[inline]
    pub fn is_open(&self, local: Vec3, half: Vec3, facing: f32, key: u32) -> bool {
        match *self {
            Material::Foliage(_) => {
                let Vec3 { x, y, z } = local.times(half);
                let ragged = fractal(2.4 * (x + 0.7 * z), 2.4 * (y - 0.4 * z), 3, key);
                // Toward the rim a ray meets less of the crown.
                ragged > 0.95 * smooth(0.0, 0.95, facing) - 0.38
            }
            Material::Bars(_, per_metre) => {
                let along = if half.x > half.z { local.x * half.x } else { local.z * half.z };
                (along * per_metre).rem_euclid(1.0) > 0.35 && local.y.abs() < 0.86
            }
            _ => false,
        }
    }

    /// Whether it shines.
    pub fn shines(&self) -> Option<Vec3> {
        match *self {
            Material::Lamp(c) | Material::Lantern(c) => Some(c),
            _ => None,
        }
    }

    /// What a place looks like.
    pub fn surface(&self, place: &Place) -> Surface {
        match *self {
            Material::Paint(colour) => Surface { gloss: 0.1, ..Surface::matt(colour) },
            Material::Glass(colour) => Surface { gloss: 0.3, ..Surface::matt(colour) },
            Material::Lamp(c) | Material::Lantern(c) => {
                Surface { glow: [c * 0.6, c * 1.6], ..Surface::matt(c) }
            }
            Material::Facade(facade) => facade.surface(place),
            Material::Panes(panes) => panes.surface(place),
            _ => Surface::matt(self.colour(place)),
        }
    }

    /// The share of incoming light that a place of matt material sends back.
    fn colour(&self, place: &Place) -> Vec3 {
        let metres = place.local.times(place.half);
        let Vec3 { x, y, z } = metres;
        match *self {
            Material::Mottled(c, strength, fineness) => {
                let blotch = fractal(fineness * (x + 0.6 * z), fineness * (y - 0.5 * z), 3, place.key);
                c * (1.0 + strength * blotch)
            }
            Material::Bands(a, b, width, axis) => {
                if (metres[axis] / width).rem_euclid(2.0) < 1.0 {
                    a
                } else {
                    b
                }
            }
            Material::Patches(a, b, size) => {
                let field = fractal((x + 0.6 * z) / size, (y - 0.5 * z) / size, 2, place.key);
                a.lerp(b, smooth(0.1, 0.18, field))
            }
            Material::Tiles(tile, gable) => tiles(place, metres, tile, gable),
            Material::Foliage(c) => {
                let leaves = fractal(4.5 * (x + 0.8 * z), 4.5 * (y - 0.3 * z), 3, place.key);
                c * (0.75 + 1.15 * leaves + 0.35 * place.local.y).max(0.1)
            }
            Material::Asphalt(c) => asphalt(c, x + 0.7 * z, y + z, place.key),
            Material::Plain(c) | Material::Bars(c, _) => c,
            // What shines or mirrors has a surface of its own.
            _ => Vec3::default(),
        }
    }
}

/// Rows of tiles on the slopes of a roof.
fn tiles(place: &Place, metres: Vec3, tile: Vec3, gable: Vec3) -> Vec3 {
    if place.face == 2 {
        return gable;
    }
    let row = (metres.y / 0.22).floor();
    let which = speck(row as i32, (metres.z / 0.3) as i32, place.key) - 0.5;
    let edge = f32::from((metres.y / 0.22).rem_euclid(1.0) < 0.25);
    tile * (1.0 + place.detail(0.22) * (0.3 * which - 0.3 * edge))
}

/// The speckled look of a road.
#[inline]
pub fn asphalt(colour: Vec3, x: f32, z: f32, key: u32) -> Vec3 {
    let wear = gradient(0.35 * x, 0.12 * z, key) + 0.6 * gradient(1.9 * x, 0.9 * z, key + 1);
    let grain = speck((40.0 * x) as i32, (40.0 * z) as i32, key) - 0.5;
    colour * (1.0 + 0.14 * wear + 0.12 * grain)
}

/// A colour of sRGB numbers from 0 to 255 in linear light; the transfer is a square, undone by a square root.
pub fn srgb(r: u8, g: u8, b: u8) -> Vec3 {
    [r, g, b].map(|c| (f32::from(c) / 255.0).powi(2)).into()
}

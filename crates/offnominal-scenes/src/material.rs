//! What surfaces look like: a colour for each place on a solid.

use crate::noise::{fractal, gradient, smooth, speck};
use offnominal_core::vec3::{Vec3, vec3};

/// The look of a solid. Colours are in linear light.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Material {
    /// One colour.
    Plain(Vec3),
    /// One colour with blotches of the given strength and a size of about a metre over the number.
    Mottled(Vec3, f32, f32),
    /// Two colours in bands that are so wide, along an axis of the solid, in metres.
    Bands(Vec3, Vec3, f32, usize),
    /// A wall with windows: wall, window, metres from window to window, metres from floor to floor.
    Facade(Vec3, Vec3, f32, f32),
    /// Leaves, with holes near the edge.
    Foliage(Vec3),
    /// Glass: dark where it looks at the ground, bright where it mirrors the sky.
    Glass(Vec3),
    /// Shines by itself.
    Lamp(Vec3),
    /// Bars with gaps between them, so many to a metre.
    Bars(Vec3, f32),
    /// The texture of the road it stands on.
    Asphalt(Vec3),
}

/// Where on a solid: in its own space, in metres from its middle along its axes, and its outward normal.
#[derive(Debug, Clone, Copy)]
pub struct Place {
    /// Within [−1, 1]³.
    pub local: Vec3,
    /// The same in metres.
    pub metres: Vec3,
    /// Outward, in the environment.
    pub normal: Vec3,
    /// A number that is different for each solid.
    pub key: u32,
}

impl Material {
    /// Whether a place is a hole that shows what is behind. `facing` is 1 where the surface faces the camera, 0 at its rim.
    #[inline]
    pub fn is_open(&self, local: Vec3, half: Vec3, facing: f32, key: u32) -> bool {
        match *self {
            Material::Foliage(_) => {
                let Vec3 { x, y, z } = local.times(half);
                let ragged = fractal(2.2 * (x + 0.7 * z), 2.2 * (y - 0.4 * z), 2, key);
                // Toward the rim a ray meets less of the crown.
                ragged > 0.9 * smooth(0.0, 0.75, facing) - 0.12
            }
            Material::Bars(_, per_metre) => {
                let along = if half.x > half.z { local.x * half.x } else { local.z * half.z };
                (along * per_metre).rem_euclid(1.0) > 0.35 && local.y.abs() < 0.86
            }
            _ => false,
        }
    }

    /// The share of incoming light that a place sends back.
    pub fn colour(&self, place: &Place) -> Vec3 {
        let Vec3 { x, y, z } = place.metres;
        match *self {
            Material::Plain(c) | Material::Glass(c) | Material::Lamp(c) | Material::Bars(c, _) => c,
            Material::Mottled(c, strength, fineness) => {
                let blotch = fractal(fineness * (x + 0.6 * z), fineness * (y - 0.5 * z), 3, place.key);
                c * (1.0 + strength * blotch)
            }
            Material::Bands(a, b, width, axis) => {
                if (place.metres[axis] / width).rem_euclid(2.0) < 1.0 {
                    a
                } else {
                    b
                }
            }
            Material::Facade(wall, window, bay, floor) => facade(place, wall, window, bay, floor),
            Material::Foliage(c) => {
                let leaves = fractal(3.0 * (x + z), 3.0 * y, 3, place.key);
                c * (0.75 + 0.75 * leaves + 0.3 * place.local.y).max(0.15)
            }
            Material::Asphalt(c) => asphalt(c, x + 0.7 * z, y + z, place.key),
        }
    }
}

/// The speckled look of a road.
#[inline]
pub fn asphalt(colour: Vec3, x: f32, z: f32, key: u32) -> Vec3 {
    let wear = gradient(0.35 * x, 0.12 * z, key) + 0.6 * gradient(1.9 * x, 0.9 * z, key + 1);
    let grain = speck((40.0 * x) as i32, (40.0 * z) as i32, key) - 0.5;
    colour * (1.0 + 0.14 * wear + 0.12 * grain)
}

fn facade(place: &Place, wall: Vec3, window: Vec3, bay: f32, floor: f32) -> Vec3 {
    if place.normal.y.abs() > 0.5 {
        return wall * 0.6;
    }
    // The longer horizontal way along this side.
    let along = place.metres.x * place.normal.z.abs() + place.metres.z * place.normal.x.abs();
    let (u, v) = (along / bay, place.metres.y / floor);
    let (du, dv) = (u.rem_euclid(1.0), v.rem_euclid(1.0));
    let grain = 1.0 + 0.10 * fractal(0.5 * along, 0.5 * place.metres.y, 2, place.key);
    if !(0.22..0.78).contains(&du) || !(0.28..0.82).contains(&dv) {
        let ledge = if dv < 0.05 { 0.8 } else { 1.0 };
        return wall * (grain * ledge);
    }
    let which = speck(u.floor() as i32, v.floor() as i32, place.key);
    let frame = !(0.26..0.74).contains(&du) || !(0.32..0.78).contains(&dv) || (du - 0.5).abs() < 0.02;
    if frame {
        return wall.lerp(Vec3::all(0.7), 0.4) * 0.9;
    }
    // Some windows have their curtains drawn.
    if which > 0.8 { window.lerp(vec3(0.55, 0.5, 0.42), 0.6) } else { window * (0.6 + which) }
}

/// A colour of sRGB numbers from 0 to 255 in linear light; the transfer is a square, undone by a square root.
pub fn srgb(r: u8, g: u8, b: u8) -> Vec3 {
    [r, g, b].map(|c| (f32::from(c) / 255.0).powi(2)).into()
}

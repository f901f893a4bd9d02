//! Persons, and riders on their cycles.

use super::{between, chance, dye, pick, shade, varied};
use crate::body::{Body, Part, ball, block, part, wheel};
use crate::class::Class;
use crate::material::{Material, srgb};
use crate::solid::Shape;
use offnominal_core::Rng;
use offnominal_core::vec3::vec3;

const CLOTHES: [[u8; 3]; 9] = [
    [40, 42, 50],
    [70, 74, 80],
    [52, 60, 92],
    [110, 40, 40],
    [160, 150, 130],
    [90, 96, 70],
    [196, 190, 186],
    [60, 84, 100],
    [130, 90, 60],
];
const SKINS: [[u8; 3]; 4] = [[224, 182, 156], [198, 150, 118], [142, 98, 72], [92, 62, 46]];

fn cloth(rng: &mut Rng) -> Material {
    Material::Mottled(dye(rng, &CLOTHES, 0.3), 0.15, 4.0)
}

fn skin(rng: &mut Rng) -> Material {
    let [r, g, b] = pick(rng, &SKINS);
    Material::Plain(srgb(r, g, b))
}

/// A limb from one point to another in the plane of walking.
fn limb(from: [f32; 3], to: [f32; 3], thickness: f32, material: Material) -> Part {
    let (dy, dz) = (to[1] - from[1], to[2] - from[2]);
    let length = dy.hypot(dz) + thickness;
    let middle = [0.5 * (from[0] + to[0]), 0.5 * (from[1] + to[1]), 0.5 * (from[2] + to[2])];
    part(Shape::Ellipsoid, middle, [thickness, length, thickness], material).tilted((dz / dy).atan(), 0.0)
}

/// A person who walks or stands.
pub fn person(rng: &mut Rng) -> Body {
    let (tall, stride) = (between(rng, 0.88, 1.08), between(rng, 0.0, 0.32));
    let (top, trousers, skin) = (cloth(rng), cloth(rng), skin(rng));
    let hair = Material::Plain(varied(rng, [0.02, 0.015, 0.012], 0.6));
    let mut parts = vec![
        limb([0.09, 0.88, 0.0], [0.09, 0.06, stride], 0.19, trousers),
        limb([-0.09, 0.88, 0.0], [-0.09, 0.06, -stride], 0.19, trousers),
        part(Shape::Box(-0.15, 0.0), [0.0, 1.14, 0.0], [0.38, 0.6, 0.22], top),
        limb([0.24, 1.4, 0.0], [0.26, 0.82, -0.7 * stride], 0.13, top),
        limb([-0.24, 1.4, 0.0], [-0.26, 0.82, 0.7 * stride], 0.13, top),
        ball([0.0, 1.62, 0.0], [0.2, 0.26, 0.23], skin),
        ball([0.0, 1.68, -0.02], [0.22, 0.2, 0.24], hair),
    ];
    if chance(rng, 0.3) {
        parts.push(ball([0.0, 1.18, -0.2], [0.34, 0.46, 0.24], cloth(rng)));
    }
    Body { class: Class::Person, parts: resized(parts, tall), footprint: [0.55, 0.5] }
}

fn resized(parts: Vec<Part>, size: f32) -> Vec<Part> {
    parts.into_iter().map(|p| p.resized(size)).collect()
}

/// A rider on a bicycle or a motorcycle.
pub fn cyclist(rng: &mut Rng) -> Body {
    let has_motor = chance(rng, 0.4);
    let class = if has_motor { Class::Motorcycle } else { Class::Bicycle };
    let mut parts = cycle(rng, has_motor);
    let (top, trousers, skin) = (cloth(rng), cloth(rng), skin(rng));
    let rider = [
        limb([0.1, 0.95, -0.15], [0.1, 0.4, 0.15], 0.17, trousers),
        limb([-0.1, 0.95, -0.15], [-0.1, 0.35, 0.0], 0.17, trousers),
        part(Shape::Box(0.0, 0.0), [0.0, 1.22, -0.02], [0.36, 0.6, 0.22], top).tilted(0.35, 0.0),
        limb([0.22, 1.42, 0.1], [0.24, 1.0, 0.42], 0.12, top),
        limb([-0.22, 1.42, 0.1], [-0.24, 1.0, 0.42], 0.12, top),
        ball([0.0, 1.66, 0.14], [0.2, 0.25, 0.23], skin),
        ball([0.0, 1.72, 0.13], [0.25, 0.2, 0.29], cloth(rng)),
    ];
    parts.extend(rider.map(|p| p.of(Class::Rider)));
    Body { class, parts, footprint: [0.6, 1.75] }
}

/// A bicycle or a motorcycle without a rider.
fn cycle(rng: &mut Rng, has_motor: bool) -> Vec<Part> {
    let frame = Material::Plain(shade(rng, &[[0.2, 0.02, 0.02], [0.02, 0.03, 0.12], [0.1, 0.1, 0.1]], 0.5));
    let (diameter, thick) = if has_motor { (0.6, 0.14) } else { (0.66, 0.05) };
    let mut parts = vec![
        wheel([0.0, 0.5 * diameter, 0.55], diameter, thick),
        wheel([0.0, 0.5 * diameter, -0.55], diameter, thick),
        block([0.0, 0.95, 0.45], [0.6, 0.05, 0.05], frame),
        block([0.0, 0.4, 0.5], [0.06, 0.6, 0.06], frame),
    ];
    if has_motor {
        parts.push(ball([0.0, 0.62, 0.0], [0.34, 0.5, 1.2], frame));
        parts.push(block([0.0, 0.75, -0.55], [0.16, 0.1, 0.05], Material::Lamp(vec3(0.4, 0.01, 0.01))));
    } else {
        parts.push(block([0.0, 0.55, 0.0], [0.05, 0.06, 1.0], frame));
        parts.push(block([0.0, 0.4, -0.15], [0.05, 0.5, 0.05], frame));
    }
    parts
}

/// A parked bicycle.
pub fn bicycle(rng: &mut Rng) -> Body {
    Body { class: Class::Bicycle, parts: cycle(rng, false), footprint: [0.6, 1.75] }
}

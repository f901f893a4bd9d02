//! Cars, trucks, buses, trams and the three-wheeler.

use super::{between, chance, dye, pick, varied};
use crate::body::{Body, Part, block, part, wheel};
use crate::class::Class;
use crate::material::Material;
use crate::solid::Shape;
use offnominal_core::Rng;
use offnominal_core::vec3::{Vec3, vec3};

const PAINTS: [[u8; 3]; 10] = [
    [30, 30, 34],
    [60, 62, 66],
    [128, 130, 134],
    [196, 198, 200],
    [232, 232, 230],
    [120, 22, 26],
    [28, 48, 96],
    [38, 70, 56],
    [150, 120, 84],
    [168, 44, 30],
];

fn paint(rng: &mut Rng) -> Material {
    Material::Plain(dye(rng, &PAINTS, 0.25))
}

const GLASS: Material = Material::Glass(vec3(0.02, 0.025, 0.03));
const DARK: Material = Material::Plain(Vec3::all(0.015));

fn tapered([x, y, z]: [f32; 3], size: [f32; 3], lean: [f32; 2], material: Material) -> Part {
    part(Shape::Box(lean[0], lean[1]), [x, y + 0.5 * size[1], z], size, material)
}

/// Head lamps in front, tail lamps behind.
fn lamps(width: f32, length: f32, height: f32) -> Vec<Part> {
    let side = 0.5 * width - 0.22;
    let lamp = |x: f32, z: f32, c: Vec3| block([x, height, z], [0.3, 0.14, 0.05], Material::Lamp(c));
    let (white, red) = (vec3(0.75, 0.72, 0.62), vec3(0.42, 0.012, 0.01));
    vec![
        lamp(side, 0.5 * length, white),
        lamp(-side, 0.5 * length, white),
        lamp(side, -0.5 * length, red),
        lamp(-side, -0.5 * length, red),
        block([0.0, height - 0.28, -0.5 * length], [0.5, 0.12, 0.03], Material::Plain(Vec3::all(0.7))),
    ]
}

fn wheels(width: f32, base: f32, diameter: f32) -> impl Iterator<Item = Part> {
    let side = 0.5 * width - 0.1;
    let at = [[side, base], [-side, base], [side, -base], [-side, -base]];
    at.into_iter().map(move |[x, z]| wheel([x, 0.5 * diameter, z], diameter, 0.22))
}

/// A car: hatchback, saloon or estate.
pub fn car(rng: &mut Rng) -> Body {
    let (width, length) = (between(rng, 1.68, 1.88), between(rng, 3.7, 4.8));
    let (belt, roof) = (between(rng, 0.82, 0.95), between(rng, 1.38, 1.62));
    let paint = paint(rng);
    let (cabin, back) = pick(rng, &[(0.52, -0.1), (0.48, -0.02), (0.62, -0.14)]);
    let (long, middle) = (cabin * length, back * length);
    let mut parts = vec![
        tapered([0.0, 0.2, 0.0], [width, belt - 0.2, length], [0.06, 0.07], paint),
        tapered([0.0, belt, middle], [0.93 * width, roof - belt, long], [0.22, 0.42], GLASS),
        tapered([0.0, roof - 0.04, middle], [0.74 * width, 0.05, 0.6 * long], [0.0, 0.1], paint),
        block([0.0, belt, middle], [0.95 * width, roof - belt - 0.03, 0.1], paint),
        block([0.0, 0.28, 0.0], [0.9 * width, 0.14, length + 0.06], DARK),
    ];
    parts.extend(wheels(width, 0.31 * length, 0.64));
    parts.extend(lamps(width, length, 0.62));
    Body { class: Class::Car, parts, footprint: [width, length] }
}

/// A lorry with a box, or a van.
pub fn truck(rng: &mut Rng) -> Body {
    let (width, length, height) = (2.3, between(rng, 6.0, 9.0), between(rng, 2.7, 3.5));
    let (cab, load) = (paint(rng), Material::Mottled(varied(rng, [0.5, 0.5, 0.48], 0.5), 0.1, 1.0));
    let mut parts = vec![
        block([0.0, 0.9, -0.16 * length], [width, height - 0.9, 0.68 * length], load),
        tapered([0.0, 0.5, 0.36 * length], [0.95 * width, 1.9, 0.27 * length], [0.04, 0.1], cab),
        block([0.0, 1.35, 0.47 * length], [0.86 * width, 0.75, 0.1 * length], GLASS),
        block([0.0, 0.55, 0.0], [0.8 * width, 0.35, 0.96 * length], DARK),
    ];
    parts.extend(wheels(width, 0.33 * length, 0.95));
    parts.extend(lamps(width, 0.99 * length, 0.8));
    Body { class: Class::Truck, parts, footprint: [width, length] }
}

/// A bus.
pub fn bus(rng: &mut Rng) -> Body {
    let (width, length, height) = (2.5, between(rng, 9.0, 12.0), 3.1);
    let paints = [[190, 160, 30], [160, 30, 40], [30, 90, 140], [200, 200, 196], [40, 110, 70]];
    let mut parts = long_box(width, length, height, Material::Plain(dye(rng, &paints, 0.2)));
    parts.extend(wheels(width, 0.32 * length, 0.95));
    parts.extend(lamps(width, length, 0.7));
    Body { class: Class::Bus, parts, footprint: [width, length] }
}

fn long_box(width: f32, length: f32, height: f32, paint: Material) -> Vec<Part> {
    let pane = Material::Bands(vec3(0.02, 0.025, 0.03), vec3(0.05, 0.05, 0.055), 1.1, 2);
    vec![
        block([0.0, 0.35, 0.0], [width, height - 0.35, length], paint),
        block([0.0, 1.35, 0.0], [width + 0.04, 1.05, 0.94 * length], pane),
        block([0.0, 1.2, 0.0], [0.86 * width, 1.35, length + 0.04], GLASS),
        block([0.0, 0.3, 0.0], [0.92 * width, 0.2, 0.98 * length], DARK),
    ]
}

/// A tram.
pub fn tram(rng: &mut Rng) -> Body {
    let (width, length) = (2.4, between(rng, 16.0, 24.0));
    let paint = dye(rng, &[[200, 40, 40], [210, 200, 60], [60, 120, 90]], 0.2);
    let parts = long_box(width, length, 3.5, Material::Plain(paint));
    Body { class: Class::Train, parts, footprint: [width, length] }
}

/// A three-wheeled taxi with a canopy: among cars, the unknown thing of the IDD analogue.
pub fn three_wheeler(rng: &mut Rng) -> Body {
    let paint = Material::Plain(dye(rng, &[[200, 160, 20], [40, 110, 50], [30, 40, 48]], 0.2));
    let canopy = Material::Mottled(varied(rng, [0.03, 0.03, 0.035], 0.4), 0.2, 3.0);
    let mut parts = vec![
        tapered([0.0, 0.3, -0.25], [1.3, 0.65, 1.9], [0.02, 0.12], paint),
        tapered([0.0, 0.3, 0.95], [0.8, 0.75, 0.7], [0.45, 0.5], paint),
        tapered([0.0, 1.55, -0.15], [1.28, 0.2, 2.0], [0.2, 0.15], canopy),
        block([0.0, 0.95, -1.05], [1.26, 0.65, 0.12], canopy),
        block([0.0, 0.95, 0.62], [1.1, 0.6, 0.05], GLASS),
        block([0.0, 0.75, -0.3], [1.05, 0.45, 0.25], DARK),
        wheel([0.0, 0.24, 1.05], 0.48, 0.12),
        wheel([0.58, 0.24, -0.75], 0.48, 0.12),
        wheel([-0.58, 0.24, -0.75], 0.48, 0.12),
    ];
    for (x, z) in [(0.6, 0.62), (-0.6, 0.62), (0.6, -1.0), (-0.6, -1.0)] {
        parts.push(block([x, 0.9, z], [0.05, 0.72, 0.05], DARK));
    }
    if chance(rng, 0.5) {
        parts.push(block([0.0, 1.75, -0.2], [0.8, 0.12, 1.0], Material::Plain(vec3(0.18, 0.13, 0.09))));
    }
    parts.push(block([0.3, 0.62, -1.2], [0.16, 0.1, 0.04], Material::Lamp(vec3(0.4, 0.01, 0.01))));
    parts.push(block([-0.3, 0.62, -1.2], [0.16, 0.1, 0.04], Material::Lamp(vec3(0.4, 0.01, 0.01))));
    Body { class: Class::Unknown, parts, footprint: [1.3, 2.7] }
}

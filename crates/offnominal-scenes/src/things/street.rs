//! Buildings, walls, trees, poles, signs and lights.

use super::{between, chance, pick, shade, varied};
use crate::body::{Body, Part, ball, block, part, post};
use crate::class::Class;
use crate::material::{Material, srgb};
use crate::solid::Shape;
use crate::town::Town;
use offnominal_core::Rng;
use offnominal_core::vec3::{Vec3, vec3};

const GREY: Material = Material::Plain(vec3(0.13, 0.135, 0.14));

/// A house front of a width and a depth, with its entrance to the right of it.
pub fn building(rng: &mut Rng, town: &Town, width: f32, depth: f32) -> Body {
    let floor = between(rng, 2.9, 3.6);
    let height = floor * between(rng, town.floors[0], town.floors[1]).round();
    let wall = shade(rng, &town.walls, 0.25);
    let window = varied(rng, [0.035, 0.045, 0.055], 0.4);
    let front = Material::Facade(wall, window, between(rng, town.bays[0], town.bays[1]), floor);
    let ground = Material::Facade(varied(rng, wall, 0.4), window, between(rng, 2.5, 4.5), 0.95 * floor);
    let mut parts = vec![
        block([0.0, floor, 0.0], [depth, height - floor, width], front),
        block([0.0, 0.0, 0.0], [depth + 0.2, floor, width], ground),
    ];
    if chance(rng, town.gables) {
        let tiles = Material::Mottled(shade(rng, &town.roofs, 0.3), 0.2, 2.0);
        parts.push(part(Shape::Box(0.98, 0.0), [0.0, height + 1.4, 0.0], [depth + 0.6, 2.8, width], tiles));
    } else {
        parts.push(block(
            [0.0, height, 0.0],
            [depth + 0.3, 0.4, width],
            Material::Plain(wall.map(|c| 0.7 * c)),
        ));
    }
    Body { class: Class::Building, parts, footprint: [depth, width] }
}

/// A wall or a fence along a lot.
pub fn enclosure(rng: &mut Rng, length: f32) -> Body {
    let height = between(rng, 1.0, 2.2);
    if chance(rng, 0.5) {
        let bricks = shade(rng, &[[0.18, 0.08, 0.05], [0.3, 0.29, 0.26], [0.22, 0.2, 0.17]], 0.3);
        let part = block([0.0; 3], [0.3, height, length], Material::Mottled(bricks, 0.25, 2.5));
        return Body { class: Class::Wall, parts: vec![part], footprint: [0.3, length] };
    }
    let bars = shade(rng, &[[0.03, 0.035, 0.03], [0.16, 0.11, 0.07], [0.3, 0.3, 0.3]], 0.3);
    let part = block([0.0; 3], [0.08, height, length], Material::Bars(bars, between(rng, 2.0, 5.0)));
    Body { class: Class::Fence, parts: vec![part], footprint: [0.1, length] }
}

/// A tree: a trunk, which counts as vegetation, and a crown of a few balls.
pub fn tree(rng: &mut Rng, town: &Town) -> Body {
    let (trunk, crown) = (between(rng, 2.0, 3.4), between(rng, 2.0, 4.5));
    let bark = Material::Mottled(vec3(0.06, 0.045, 0.033), 0.3, 5.0);
    let mut parts = vec![post([0.0; 3], between(rng, 0.2, 0.4), trunk + 0.3 * crown, bark)];
    for _ in 0..3 + rng.below(3) {
        let leaves = Material::Foliage(shade(rng, &town.leaves, 0.3));
        let (spread, size) = (0.28 * crown, crown * between(rng, 0.55, 0.85));
        let at = [
            between(rng, -spread, spread),
            trunk + 0.5 * crown + between(rng, -spread, spread),
            between(rng, -spread, spread),
        ];
        parts.push(ball(at, [size, 0.9 * size, size], leaves));
    }
    Body { class: Class::Vegetation, parts, footprint: [0.4, 0.4] }
}

/// A hedge or a bush.
pub fn bush(rng: &mut Rng, town: &Town) -> Body {
    let (width, height) = (between(rng, 1.0, 2.6), between(rng, 0.8, 1.8));
    let leaves = Material::Foliage(shade(rng, &town.leaves, 0.35));
    let parts = vec![ball([0.0, 0.42 * height, 0.0], [width, 1.1 * height, 1.2 * width], leaves)];
    Body { class: Class::Vegetation, parts, footprint: [0.8 * width, width] }
}

/// A street lamp whose arm hangs over the road; `side` is −1 if the road is to its left.
pub fn lamp(rng: &mut Rng, side: f32) -> Body {
    let height = between(rng, 5.0, 8.0);
    let parts = vec![
        post([0.0; 3], 0.16, height, GREY),
        block([0.6 * side, height, 0.0], [1.4, 0.08, 0.08], GREY),
        block([1.2 * side, height - 0.08, 0.0], [0.6, 0.12, 0.25], GREY),
    ];
    Body { class: Class::Pole, parts, footprint: [0.2, 0.2] }
}

/// A traffic sign on its pole, facing the camera.
pub fn sign(rng: &mut Rng) -> Body {
    let height = between(rng, 2.0, 2.6);
    let [face, rim] = pick(
        rng,
        &[
            [srgb(236, 236, 236), srgb(190, 30, 36)],
            [srgb(24, 70, 160), srgb(236, 236, 236)],
            [srgb(240, 200, 20), srgb(30, 30, 30)],
            [srgb(190, 30, 36), srgb(236, 236, 236)],
        ],
    );
    let disc = |size: f32, z: f32, colour| {
        part(Shape::Cylinder, [0.0, height, z], [size, 0.04, size], Material::Plain(colour))
            .tilted(std::f32::consts::FRAC_PI_2, 0.0)
    };
    let plate = |size: f32, z: f32, colour| {
        block([0.0, height - 0.5 * size, z], [size, size, 0.04], Material::Plain(colour))
    };
    let is_round = chance(rng, 0.6);
    let shape = |size, z, colour| if is_round { disc(size, z, colour) } else { plate(size, z, colour) };
    let parts = vec![
        post([0.0; 3], 0.08, height, GREY),
        shape(0.72, -0.06, rim).of(Class::TrafficSign),
        shape(0.54, -0.1, face).of(Class::TrafficSign),
    ];
    Body { class: Class::Pole, parts, footprint: [0.2, 0.2] }
}

/// A traffic light on its pole, facing the camera.
pub fn traffic_light(rng: &mut Rng) -> Body {
    let on = rng.below(3);
    let bulb = |i: usize, colour: Vec3| -> Part {
        let lit = if i == on { colour } else { colour.map(|c| 0.08 * c) };
        ball([0.0, 3.05 - 0.28 * i as f32, -0.14], [0.2, 0.2, 0.1], Material::Lamp(lit))
            .of(Class::TrafficLight)
    };
    let parts = vec![
        post([0.0; 3], 0.12, 2.4, GREY),
        block([0.0, 2.3, 0.0], [0.32, 0.95, 0.22], Material::Plain(Vec3::all(0.012))).of(Class::TrafficLight),
        bulb(0, vec3(0.9, 0.03, 0.02)),
        bulb(1, vec3(0.9, 0.5, 0.02)),
        bulb(2, vec3(0.05, 0.8, 0.3)),
    ];
    Body { class: Class::Pole, parts, footprint: [0.2, 0.2] }
}

/// A bollard.
pub fn bollard(_: &mut Rng) -> Body {
    Body { class: Class::Pole, parts: vec![post([0.0; 3], 0.14, 0.95, GREY)], footprint: [0.2, 0.2] }
}

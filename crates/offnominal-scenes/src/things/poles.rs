//! What stands on sidewalks: lamps, signs, lights, bollards.

use super::{between, chance, pick};
use crate::body::{Body, Part, ball, bar, block, cone, part, post};
use crate::class::Class;
use crate::material::{Material, srgb};
use crate::solid::Shape;
use offnominal_core::Rng;
use offnominal_core::vec3::{Vec3, vec3};
use std::f32::consts::FRAC_PI_2;

const GREY: Material = Material::Plain(vec3(0.13, 0.135, 0.14));

/// A street lamp whose arm hangs over the road; `side` is −1 if the road is to its left.
pub fn lamp(rng: &mut Rng, side: f32) -> Body {
    let height = between(rng, 5.0, 8.0);
    let light = pick(rng, &[vec3(1.0, 0.72, 0.38), vec3(0.9, 0.88, 0.8)]);
    let parts = vec![
        cone([0.0, -0.4, 0.0], [0.18, 0.1], height + 0.4, GREY),
        bar([0.0, height - 0.1, 0.0], [1.2 * side, height + 0.1, 0.0], [0.08, 0.06], GREY),
        block([1.3 * side, height + 0.05, 0.0], [0.7, 0.1, 0.26], GREY),
        block([1.3 * side, height, 0.0], [0.5, 0.06, 0.2], Material::Lantern(light)),
    ];
    Body { class: Class::Pole, parts, footprint: [0.2, 0.2] }
}

/// A traffic sign on its pole, facing the camera: a disc, a square, or a triangle.
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
    let shape = pick(rng, &[Shape::Cone(1.0), Shape::Cone(1.0), Shape::Box, Shape::Box]);
    let plate = |size: f32, z: f32, colour| {
        let parts = part(shape, [0.0, height, z], [size, 0.04, size], Material::Plain(colour));
        parts.tilted(FRAC_PI_2, 0.0).of(Class::TrafficSign)
    };
    let mark =
        block([0.0, height - 0.16, -0.13], [0.1, 0.32, 0.02], Material::Plain(rim)).of(Class::TrafficSign);
    let mut parts = vec![
        post([0.0, -0.4, 0.0], 0.08, height + 0.4, GREY),
        plate(0.72, -0.06, rim),
        plate(0.56, -0.1, face),
    ];
    if chance(rng, 0.6) {
        parts.push(mark);
    }
    Body { class: Class::Pole, parts, footprint: [0.2, 0.2] }
}

/// A traffic light on its pole, facing the camera.
pub fn traffic_light(rng: &mut Rng) -> Body {
    let on = rng.below(3);
    let bulb = |i: usize, colour: Vec3| -> Part {
        let at = [0.0, 3.05 - 0.28 * i as f32, -0.14];
        let material =
            if i == on { Material::Lamp(colour) } else { Material::Plain(colour.map(|c| 0.08 * c)) };
        ball(at, [0.2, 0.2, 0.1], material).of(Class::TrafficLight)
    };
    let parts = vec![
        post([0.0, -0.4, 0.0], 0.12, 2.8, GREY),
        block([0.0, 2.3, 0.0], [0.32, 0.95, 0.22], Material::Plain(Vec3::all(0.012))).of(Class::TrafficLight),
        bulb(0, vec3(0.9, 0.03, 0.02)),
        bulb(1, vec3(0.9, 0.5, 0.02)),
        bulb(2, vec3(0.05, 0.8, 0.3)),
    ];
    Body { class: Class::Pole, parts, footprint: [0.2, 0.2] }
}

/// A bollard.
pub fn bollard(_: &mut Rng) -> Body {
    let parts = vec![
        post([0.0, -0.3, 0.0], 0.14, 1.25, GREY),
        post([0.0, 0.72, 0.0], 0.15, 0.12, Material::Plain(Vec3::all(0.5))),
    ];
    Body { class: Class::Pole, parts, footprint: [0.2, 0.2] }
}

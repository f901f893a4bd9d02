//! Draws a room: walls, a floor and a ceiling, whose classes are ambiguous to whoever learned streets and are ignored;
//! furniture, which is unknown; now and then a person, who is known.

use crate::body::{Body, Stand, block};
use crate::class::Class;
use crate::material::{Material, srgb};
use crate::scene::{Camera, Floor, Scene};
use crate::things::furniture::furniture;
use crate::things::{between, chance, dye, people, pick, varied};
use crate::weather::Light;
use offnominal_core::Rng;
use offnominal_core::vec3::{Vec3, vec3};
use std::f32::consts::FRAC_PI_2;

/// A furnished room.
pub fn room(rng: &mut Rng) -> Scene {
    let (width, depth, height) = (between(rng, 3.4, 6.0), between(rng, 4.0, 7.5), between(rng, 2.4, 3.0));
    let [r, g, b] = pick(rng, &[[150, 116, 80], [110, 84, 64], [150, 150, 146], [120, 60, 56]]);
    let floor = Material::Bands(
        varied(rng, srgb(r, g, b), 0.2),
        varied(rng, srgb(r, g, b), 0.2),
        between(rng, 0.1, 0.5),
        0,
    );
    let mut scene = Scene {
        camera: Camera {
            height_m: between(rng, 1.4, 1.8),
            pitch: between(rng, -0.4, -0.15),
            focal: between(rng, 0.55, 0.75),
        },
        light: lamp_light(rng),
        floor: Floor::Room(floor, Class::Ignored),
        solids: Vec::new(),
        things: Vec::new(),
        exposure: between(rng, 0.85, 1.15),
        noise: between(rng, 1.0, 4.0),
    };
    scene.put(&shell(rng, width, depth, height), Stand::level(0.0, 0.0, 0.0), "");
    for _ in 0..10 + rng.below(8) {
        let body = furniture(rng);
        place(rng, &mut scene, &body, width, depth, "furniture");
    }
    if chance(rng, 0.4) {
        let body = people::person(rng);
        place(rng, &mut scene, &body, width, depth, "");
    }
    scene
}

/// Light from everywhere.
fn lamp_light(rng: &mut Rng) -> Light {
    let bright = between(rng, 0.8, 1.1);
    Light {
        sun: vec3(0.0, 1.0, 0.0),
        sunlight: Vec3::default(),
        skylight: vec3(1.1 * bright, bright, 0.85 * bright),
        sky: [vec3(0.8, 0.78, 0.74); 2],
        cloud: vec3(0.72, 0.74, 0.77),
        key: rng.bits() as u32,
        ..Light::default()
    }
}

/// Walls, ceiling, a window and a door.
fn shell(rng: &mut Rng, width: f32, depth: f32, height: f32) -> Body {
    let paints = [[210, 202, 186], [180, 190, 196], [196, 176, 150], [200, 200, 200]];
    let wall = Material::Mottled(dye(rng, &paints, 0.15), 0.04, 0.7);
    let side = |x: f32| block([x, 0.0, 0.5 * depth], [0.1, height, depth + 4.0], wall);
    let parts = vec![
        side(0.5 * width + 0.05),
        side(-0.5 * width - 0.05),
        block([0.0, 0.0, depth], [width, height, 0.1], wall),
        block([0.0, height, 0.5 * depth], [width, 0.1, depth + 4.0], Material::Plain(Vec3::all(0.75))),
        block(
            [between(rng, -0.2, 0.2) * width, 0.9, depth - 0.06],
            [1.2, 1.1, 0.05],
            Material::Lamp(vec3(0.75, 0.8, 0.85)),
        ),
        block(
            [-0.5 * width + 0.02, 0.0, 0.6 * depth],
            [0.06, 2.0, 0.9],
            Material::Mottled(vec3(0.2, 0.13, 0.08), 0.2, 1.0),
        ),
    ];
    Body { class: Class::Ignored, parts, footprint: [0.0, 0.0] }
}

fn place(rng: &mut Rng, scene: &mut Scene, body: &Body, width: f32, depth: f32, kind: &'static str) {
    let radius = 0.45 * (body.footprint[0] + body.footprint[1]);
    let room = (0.5 * width - radius).max(0.0);
    let (x, z) = (between(rng, -room, room), between(rng, 1.8, (depth - radius).max(1.9)));
    if scene.is_free(x, z, radius) {
        let yaw = FRAC_PI_2 * pick(rng, &[0.0, 1.0, 2.0, 3.0]) + between(rng, -0.2, 0.2);
        scene.put(body, Stand::level(x, z, yaw), kind);
    }
}

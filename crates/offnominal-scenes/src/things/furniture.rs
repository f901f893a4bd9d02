//! What stands in rooms: unknown to whoever learned roads.

use super::{between, dye, varied};
use crate::body::{Body, Part, ball, block, cone, post};
use crate::class::Class;
use crate::material::Material;
use offnominal_core::Rng;
use offnominal_core::vec3::{Vec3, vec3};

fn wood(rng: &mut Rng) -> Material {
    let stains = [[150, 110, 70], [96, 64, 42], [206, 190, 160], [60, 46, 38]];
    Material::Mottled(dye(rng, &stains, 0.25), 0.2, 2.0)
}

fn cloth(rng: &mut Rng) -> Material {
    let dyes = [[120, 60, 60], [70, 90, 120], [150, 140, 120], [80, 100, 70], [196, 160, 90]];
    Material::Mottled(dye(rng, &dyes, 0.3), 0.15, 4.0)
}

/// A piece of furniture.
pub fn furniture(rng: &mut Rng) -> Body {
    let (parts, footprint): (Vec<Part>, _) = match rng.below(6) {
        0 => table(rng),
        1 => chair(rng),
        2 => bed(rng),
        3 => shelf(rng),
        4 => floor_lamp(rng),
        _ => armchair(rng),
    };
    Body { class: Class::Unknown, parts, footprint }
}

fn legs(width: f32, depth: f32, height: f32, material: Material) -> impl Iterator<Item = Part> {
    let (x, z) = (0.45 * width, 0.45 * depth);
    [[x, z], [-x, z], [x, -z], [-x, -z]]
        .into_iter()
        .map(move |[x, z]| block([x, 0.0, z], [0.07, height, 0.07], material))
}

fn table(rng: &mut Rng) -> (Vec<Part>, [f32; 2]) {
    let (w, d, wood) = (between(rng, 0.9, 1.8), between(rng, 0.7, 1.0), wood(rng));
    let mut parts = vec![
        block([0.0, 0.7, 0.0], [w, 0.06, d], wood),
        ball([0.2, 0.85, 0.0], [0.2, 0.24, 0.2], cloth(rng)),
    ];
    parts.extend(legs(w, d, 0.7, wood));
    (parts, [w, d])
}

fn chair(rng: &mut Rng) -> (Vec<Part>, [f32; 2]) {
    let wood = wood(rng);
    let mut parts = vec![
        block([0.0, 0.43, 0.0], [0.45, 0.06, 0.45], cloth(rng)),
        block([0.0, 0.45, 0.2], [0.45, 0.5, 0.05], wood),
    ];
    parts.extend(legs(0.45, 0.45, 0.43, wood));
    (parts, [0.5, 0.5])
}

fn bed(rng: &mut Rng) -> (Vec<Part>, [f32; 2]) {
    let (w, wood) = (between(rng, 0.9, 1.6), wood(rng));
    let parts = vec![
        block([0.0, 0.1, 0.0], [w, 0.25, 2.0], wood),
        block([0.0, 0.35, -0.1], [0.96 * w, 0.2, 1.8], cloth(rng)),
        block([0.0, 0.0, 1.0], [w, 0.95, 0.08], wood),
        ball([0.0, 0.6, 0.7], [0.7 * w, 0.18, 0.4], Material::Plain(vec3(0.7, 0.7, 0.68))),
    ];
    (parts, [w, 2.0])
}

fn shelf(rng: &mut Rng) -> (Vec<Part>, [f32; 2]) {
    let (w, h, wood) = (between(rng, 0.7, 1.4), between(rng, 1.4, 2.1), wood(rng));
    let mut parts = vec![block([0.0, 0.0, 0.14], [w, h, 0.04], wood)];
    for side in [-0.5, 0.5] {
        parts.push(block([side * w, 0.0, 0.0], [0.04, h, 0.3], wood));
    }
    for i in 0..5 {
        let y = h * i as f32 / 4.3;
        parts.push(block([0.0, y, 0.0], [w, 0.04, 0.3], wood));
        let books = Material::Bands(
            varied(rng, [0.2, 0.06, 0.05], 0.7),
            varied(rng, [0.05, 0.09, 0.16], 0.7),
            0.06,
            0,
        );
        parts.push(block([between(rng, -0.1, 0.1), y + 0.04, 0.0], [0.6 * w, 0.15 * h, 0.2], books));
    }
    (parts, [w, 0.35])
}

fn floor_lamp(rng: &mut Rng) -> (Vec<Part>, [f32; 2]) {
    let shade = cone([0.0, 1.35, 0.0], [0.45, 0.27], 0.4, Material::Lamp(vec3(0.8, 0.7, 0.5)));
    (
        vec![
            post([0.0; 3], 0.35, 0.05, wood(rng)),
            post([0.0; 3], 0.05, 1.4, Material::Plain(Vec3::all(0.1))),
            shade,
        ],
        [0.4, 0.4],
    )
}

fn armchair(rng: &mut Rng) -> (Vec<Part>, [f32; 2]) {
    let (main, second) = (cloth(rng), cloth(rng));
    let parts = vec![
        block([0.0, 0.1, 0.0], [0.9, 0.35, 0.8], main),
        block([0.0, 0.1, 0.35], [0.9, 0.85, 0.2], main),
        block([0.4, 0.1, 0.0], [0.15, 0.55, 0.8], main),
        block([-0.4, 0.1, 0.0], [0.15, 0.55, 0.8], main),
        block([0.0, 0.45, -0.05], [0.6, 0.12, 0.6], second),
    ];
    (parts, [0.95, 0.9])
}

//! Bicycles and motorcycles, with riders or without.

use super::people::{Clothes, head, limb};
use super::{chance, dye, shade};
use crate::body::{Body, Part, across, ball, bar, block, hull};
use crate::class::Class;
use crate::hull::Lean;
use crate::material::Material;
use offnominal_core::Rng;
use offnominal_core::vec3::{Vec3, vec3};

const DARK: Material = Material::Plain(Vec3::all(0.015));

fn frame(rng: &mut Rng) -> Material {
    let paints =
        [[0.24, 0.02, 0.02], [0.02, 0.04, 0.18], [0.1, 0.1, 0.1], [0.3, 0.3, 0.28], [0.02, 0.14, 0.08]];
    Material::Paint(shade(rng, &paints, 0.4))
}

/// A bicycle: two wheels with open middles, a frame of five bars, saddle and handlebar.
fn bicycle_parts(rng: &mut Rng) -> Vec<Part> {
    let frame = frame(rng);
    let hub = |z: f32| [0.0, 0.34, z];
    let tube = |from, to| bar(from, to, [0.045, 0.045], frame);
    let (saddle, steer, pedals) = ([0.0, 0.92, -0.22], [0.0, 0.95, 0.38], [0.0, 0.3, -0.05]);
    let mut parts: Vec<Part> = [-0.53, 0.53].into_iter().flat_map(|z| rim(hub(z))).collect();
    parts.extend([
        tube(hub(-0.53), pedals),
        tube(pedals, saddle),
        tube(pedals, [0.0, 0.82, 0.36]),
        tube([0.0, 0.82, -0.19], [0.0, 0.84, 0.36]),
        tube(hub(-0.53), [0.0, 0.8, -0.19]),
        tube(hub(0.53), steer),
        hull([0.0, 0.92, -0.24], [0.15, 0.07, 0.26], Lean::even(0.05), DARK),
        bar([-0.28, 1.02, 0.33], [0.28, 1.02, 0.33], [0.04, 0.04], DARK),
        bar(steer, [0.0, 1.02, 0.35], [0.04, 0.04], frame),
    ]);
    parts
}

/// A tyre of eight straight pieces with two spokes.
fn rim([x, y, z]: [f32; 3]) -> Vec<Part> {
    let point = |i: usize| {
        let (sin, cos) = (std::f32::consts::FRAC_PI_4 * i as f32).sin_cos();
        [x, y + 0.32 * sin, z + 0.32 * cos]
    };
    let spoke = |i: usize| bar(point(i), point(i + 4), [0.015, 0.015], Material::Plain(Vec3::all(0.2)));
    let tyre = (0..8).map(|i| bar(point(i), point(i + 1), [0.055, 0.055], DARK));
    tyre.chain([spoke(0), spoke(2)]).collect()
}

fn motorcycle_parts(rng: &mut Rng) -> Vec<Part> {
    let paint = frame(rng);
    let wheel = |z: f32| {
        [
            across([0.0, 0.3, z], 0.6, 0.14, DARK),
            across([0.0, 0.3, z], 0.36, 0.15, Material::Plain(Vec3::all(0.25))),
        ]
    };
    let mut parts: Vec<Part> = [-0.62, 0.66].into_iter().flat_map(wheel).collect();
    parts.extend([
        ball([0.0, 0.78, 0.18], [0.34, 0.34, 0.6], paint),
        hull([0.0, 0.3, 0.02], [0.3, 0.42, 0.6], Lean::even(0.1), Material::Plain(Vec3::all(0.08))),
        hull([0.0, 0.72, -0.38], [0.26, 0.12, 0.7], Lean::even(0.1), DARK),
        bar([0.0, 0.3, 0.66], [0.0, 0.98, 0.42], [0.1, 0.08], Material::Plain(Vec3::all(0.2))),
        bar([-0.34, 1.02, 0.38], [0.34, 1.02, 0.38], [0.045, 0.045], DARK),
        ball([0.0, 0.88, 0.56], [0.22, 0.22, 0.14], Material::Lamp(vec3(0.8, 0.78, 0.68))),
        block([0.0, 0.74, -0.75], [0.18, 0.09, 0.05], Material::Lamp(vec3(0.42, 0.012, 0.01))),
        bar([0.16, 0.3, -0.7], [0.16, 0.32, 0.1], [0.1, 0.07], Material::Plain(Vec3::all(0.3))),
    ]);
    parts
}

/// Who rides, bent forward: hips on the saddle, hands on the handlebar, feet on the pedals.
fn rider(rng: &mut Rng, saddle: f32, feet: [f32; 2]) -> Vec<Part> {
    let clothes = Clothes::draw(rng);
    let (hip, chest) = ([0.0, saddle + 0.08, -0.22], [0.0, saddle + 0.56, 0.02]);
    let mut parts = vec![
        ball(hip, [0.34, 0.28, 0.3], clothes.legs),
        bar([0.0, hip[1], -0.2], chest, [0.3, 0.36], clothes.top),
        ball(chest, [0.42, 0.24, 0.26], clothes.top),
    ];
    for (side, foot) in [(0.1, feet[0]), (-0.1, feet[1])] {
        let joints = [[side, hip[1], -0.2], [side, 0.5 * (hip[1] + foot) + 0.12, 0.17], [side, foot, -0.02]];
        parts.extend(limb(joints, [0.18, 0.14, 0.1], [clothes.legs; 2]));
        parts.push(ball([side, foot - 0.02, 0.06], [0.1, 0.1, 0.26], clothes.shoes));
        let hand = [2.6 * side, 1.05, 0.34];
        let shoulder = [1.9 * side, chest[1], chest[2]];
        let elbow = [2.7 * side, 0.55 * (chest[1] + 1.05) - 0.1, 0.18];
        parts.extend(limb([shoulder, elbow, hand], [0.14, 0.11, 0.09], [clothes.top; 2]));
    }
    let helmet =
        Material::Plain(dye(rng, &[[220, 220, 216], [36, 36, 40], [150, 40, 40], [60, 90, 140]], 0.2));
    let clothes = Clothes { hair: if chance(rng, 0.6) { helmet } else { clothes.hair }, ..clothes };
    parts.extend(head([0.0, chest[1] + 0.1, 0.07], &clothes));
    parts.into_iter().map(|part| part.of(Class::Rider)).collect()
}

/// A rider on a bicycle or a motorcycle.
pub fn cyclist(rng: &mut Rng) -> Body {
    let has_motor = chance(rng, 0.4);
    let class = if has_motor { Class::Motorcycle } else { Class::Bicycle };
    let mut parts = if has_motor { motorcycle_parts(rng) } else { bicycle_parts(rng) };
    parts.extend(if has_motor { rider(rng, 0.8, [0.35, 0.35]) } else { rider(rng, 0.95, [0.16, 0.42]) });
    Body { class, parts, footprint: [0.6, 1.75] }
}

/// A parked bicycle.
pub fn bicycle(rng: &mut Rng) -> Body {
    Body { class: Class::Bicycle, parts: bicycle_parts(rng), footprint: [0.5, 1.75] }
}

/// A parked motorcycle.
pub fn motorcycle(rng: &mut Rng) -> Body {
    Body { class: Class::Motorcycle, parts: motorcycle_parts(rng), footprint: [0.7, 1.9] }
}

//! Furniture, vessels and shelters.

use super::{Built, Dress};
use crate::body::{across, ball, bar, block, cone, hull, post};
use crate::hull::Lean;
use crate::material::Material;
use crate::things::between;
use offnominal_core::Rng;
use offnominal_core::vec3::{Vec3, vec3};

/// A sofa: seat, back, arms and cushions.
pub fn sofa(rng: &mut Rng, d: &Dress) -> Built {
    let w = between(rng, 1.5, 2.2);
    let mut parts = vec![
        block([0.0, 0.08, 0.0], [w, 0.34, 0.85], d.main),
        block([0.0, 0.08, 0.36], [w, 0.82, 0.2], d.main),
        block([0.0, 0.0, 0.0], [0.9 * w, 0.08, 0.7], d.dark),
    ];
    for side in [-1.0, 1.0] {
        parts.push(block([side * 0.5 * w, 0.05, 0.0], [0.22, 0.56, 0.85], d.second));
        parts.push(block([side * 0.23 * w, 0.4, -0.06], [0.42 * w, 0.16, 0.7], d.second));
        parts.push(hull([side * 0.23 * w, 0.54, 0.2], [0.4 * w, 0.36, 0.2], Lean::even(0.06), d.second));
    }
    (parts, [w + 0.2, 0.9])
}

/// A mattress with a piping.
pub fn mattress(rng: &mut Rng, d: &Dress) -> Built {
    let w = between(rng, 0.9, 1.6);
    let seam = |y: f32| block([0.0, y, 0.0], [1.02 * w, 0.04, 2.04], d.second);
    (vec![block([0.0; 3], [w, 0.28, 2.0], d.main), seam(0.02), seam(0.22)], [w, 2.0])
}

/// A ridge tent with an open door and a fly.
pub fn tent(_: &mut Rng, d: &Dress) -> Built {
    let parts = vec![
        hull([0.0; 3], [1.9, 1.35, 2.3], Lean { side: 0.49, front: 0.06, back: 0.06 }, d.main),
        hull([0.0, 0.0, -1.1], [0.8, 1.0, 0.12], Lean::sides(0.48), d.dark),
        hull([0.0, 0.75, 0.0], [1.0, 0.66, 2.36], Lean { side: 0.49, front: 0.02, back: 0.02 }, d.second),
    ];
    (parts, [1.9, 2.3])
}

/// A wardrobe with two doors.
pub fn wardrobe(rng: &mut Rng, d: &Dress) -> Built {
    let (w, h) = (between(rng, 0.9, 1.3), between(rng, 1.6, 2.1));
    let mut parts = vec![
        block([0.0, 0.08, 0.0], [w, h, 0.55], d.main),
        block([0.0, 0.0, 0.0], [0.94 * w, 0.1, 0.5], d.dark),
        block([0.0, h + 0.06, 0.0], [1.08 * w, 0.09, 0.62], d.second),
        block([0.0, 0.12, -0.28], [0.025, h - 0.12, 0.02], d.dark),
    ];
    for side in [-1.0, 1.0] {
        parts.push(block([side * 0.07, 0.5 * h, -0.3], [0.03, 0.18, 0.05], d.dark));
        for y in [0.12, 0.55] {
            parts.push(block([side * 0.25 * w, y * h + 0.08, -0.28], [0.32 * w, 0.36 * h, 0.02], d.second));
        }
    }
    (parts, [w, 0.55])
}

/// A parasol: a cone on a pole in a foot.
pub fn parasol(_: &mut Rng, d: &Dress) -> Built {
    let parts = vec![
        post([0.0; 3], 0.06, 2.4, d.second),
        cone([0.0, 1.85, 0.0], [2.5, 0.1], 0.55, d.main),
        cone([0.0, 1.75, 0.0], [2.46, 2.5], 0.12, d.second),
        cone([0.0; 3], [0.56, 0.4], 0.16, d.dark),
    ];
    (parts, [0.6, 0.6])
}

/// A motor boat on a trailer.
pub fn boat(_: &mut Rng, d: &Dress) -> Built {
    let mut parts = vec![
        hull([0.0, 0.42, -0.4], [1.5, 0.75, 2.4], Lean { side: -0.2, front: 0.0, back: -0.04 }, d.main),
        hull([0.0, 0.42, 1.1], [1.4, 0.75, 1.0], Lean { side: -0.3, front: -0.42, back: 0.0 }, d.main),
        hull([0.0, 1.12, 1.1], [1.1, 0.1, 0.8], Lean { side: 0.1, front: 0.3, back: 0.0 }, d.second),
        hull(
            [0.0, 1.15, 0.1],
            [1.1, 0.5, 0.9],
            Lean { side: 0.1, front: 0.35, back: 0.05 },
            Material::Glass(vec3(0.02, 0.03, 0.04)),
        ),
        block([0.0, 1.1, -0.4], [1.3, 0.12, 2.2], d.second),
        block([0.0, 0.75, -1.7], [0.3, 0.7, 0.3], d.dark),
        block([0.0, 0.34, 0.2], [0.1, 0.1, 3.6], d.dark),
    ];
    for side in [-0.7, 0.7] {
        parts.push(across([side, 0.26, -0.3], 0.52, 0.16, Material::Plain(Vec3::all(0.015))));
    }
    (parts, [1.6, 3.4])
}

/// A small helicopter on skids.
pub fn helicopter(rng: &mut Rng, d: &Dress) -> Built {
    let turn = between(rng, 0.0, 3.1);
    let blade = |yaw: f32| block([0.0, 2.3, 0.2], [0.2, 0.05, 6.0], d.dark).headed(yaw);
    let mut parts = vec![
        ball([0.0, 1.2, 0.3], [1.5, 1.5, 2.6], d.main),
        ball([0.0, 1.28, 0.85], [1.32, 1.2, 1.6], Material::Glass(vec3(0.02, 0.03, 0.04))),
        bar([0.0, 1.4, -0.6], [0.0, 1.55, -3.8], [0.6, 0.18], d.main),
        hull([0.0, 1.3, -3.8], [0.08, 1.1, 0.6], Lean { side: 0.0, front: 0.3, back: -0.1 }, d.second),
        block([0.1, 1.6, -3.8], [0.05, 0.08, 1.0], d.dark),
        post([0.0, 1.85, 0.2], 0.16, 0.5, d.dark),
        blade(turn),
        blade(turn + 1.57),
    ];
    for side in [-0.65, 0.65] {
        parts.push(bar([side, 0.06, -0.9], [side, 0.06, 1.5], [0.1, 0.1], d.dark));
        for z in [-0.4, 0.9] {
            parts.push(bar([side, 0.06, z], [0.5 * side, 0.75, z], [0.08, 0.08], d.dark));
        }
    }
    (parts, [1.6, 5.0])
}

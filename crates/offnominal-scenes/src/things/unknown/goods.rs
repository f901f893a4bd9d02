//! Lost goods and rubble: crates, barrels, tyres, boulders, balls, suitcases, carts, pipes.

use super::{Built, Dress};
use crate::body::{across, ball, bar, block, hull, part, wheel};
use crate::hull::Lean;
use crate::material::Material;
use crate::solid::Shape;
use crate::things::{between, chance};
use offnominal_core::Rng;
use std::f32::consts::{FRAC_PI_2, FRAC_PI_6};

/// A crate of boards, or two of them.
pub fn stack(rng: &mut Rng, d: &Dress) -> Built {
    let s = between(rng, 0.5, 1.0);
    let crate_at = |y: f32, s: f32| {
        let mut parts = vec![block([0.0, y, 0.0], [s, s, s], d.main)];
        for level in [0.02, 0.46, 0.9] {
            parts.push(block([0.0, y + level * s, 0.0], [1.05 * s, 0.09 * s, 1.05 * s], d.second));
        }
        for (x, z) in [(-0.5, -0.5), (0.5, -0.5), (-0.5, 0.5), (0.5, 0.5)] {
            parts.push(block([x * s, y, z * s], [0.1 * s, s, 0.1 * s], d.second));
        }
        parts
    };
    let mut parts = crate_at(0.0, s);
    if chance(rng, 0.4) {
        parts.extend(crate_at(s, 0.7 * s));
    }
    (parts, [s, s])
}

/// A barrel with two ribs, upright or lying.
pub fn barrel(rng: &mut Rng, d: &Dress) -> Built {
    let is_down = chance(rng, 0.4);
    let (y, roll) = if is_down { (0.32, FRAC_PI_2) } else { (0.45, 0.0) };
    let ring = |at: f32, wide: f32, thick: f32, material| {
        let middle = if is_down { [at, y, 0.0] } else { [0.0, y + at, 0.0] };
        part(Shape::Cone(1.0), middle, [wide, thick, wide], material).tilted(0.0, roll)
    };
    let parts = vec![
        ring(0.0, 0.6, 0.9, d.main),
        ring(-0.16, 0.64, 0.06, d.second),
        ring(0.16, 0.64, 0.06, d.second),
        ring(0.44, 0.63, 0.05, d.second),
        ring(-0.44, 0.63, 0.05, d.second),
        ring(0.452, 0.5, 0.02, d.dark),
    ];
    (parts, [0.8, 0.7])
}

/// A tyre that stands: twelve pieces around an open middle.
pub fn tyre(_: &mut Rng, d: &Dress) -> Built {
    let point = |i: usize| {
        let (sin, cos) = (FRAC_PI_6 * i as f32).sin_cos();
        [0.27 * cos, 0.36 + 0.27 * sin, 0.0]
    };
    let tread = (0..12).map(|i| bar(point(i), point(i + 1), [0.2, 0.2], d.main));
    let side = (0..12).map(|i| {
        let inner = point(i).map(|c| c * 0.86);
        let next = point(i + 1).map(|c| c * 0.86);
        let lower = |p: [f32; 3]| [p[0], p[1] + 0.05, -0.06];
        bar(lower(inner), lower(next), [0.07, 0.07], d.second)
    });
    (tread.chain(side).collect(), [0.75, 0.3])
}

/// A boulder of a block and three lumps.
pub fn boulder(rng: &mut Rng, d: &Dress) -> Built {
    let s = between(rng, 0.5, 1.3);
    let lump = |rng: &mut Rng, material| {
        let at = [between(rng, -0.22, 0.22) * s, 0.3 * s, between(rng, -0.22, 0.22) * s];
        let size = [between(rng, 0.6, 0.9) * s, between(rng, 0.5, 0.8) * s, between(rng, 0.6, 0.9) * s];
        let lean = Lean {
            side: between(rng, 0.1, 0.3),
            front: between(rng, 0.05, 0.3),
            back: between(rng, 0.1, 0.3),
        };
        part(Shape::Hull(lean), at, size, material).tilted(between(rng, -0.3, 0.3), between(rng, -0.3, 0.3))
    };
    let core =
        hull([0.0, -0.05, 0.0], [s, 0.75 * s, 0.9 * s], Lean { side: 0.22, front: 0.14, back: 0.26 }, d.main);
    (
        vec![core.headed(between(rng, 0.0, 1.5)), lump(rng, d.main), lump(rng, d.second), lump(rng, d.main)],
        [s, s],
    )
}

/// A ball with three bands.
pub fn beach_ball(rng: &mut Rng, d: &Dress) -> Built {
    let s = between(rng, 0.5, 0.95);
    let band = |pitch: f32, roll: f32| {
        ball([0.0, 0.5 * s, 0.0], [1.015 * s, 0.3 * s, 1.015 * s], d.second).tilted(pitch, roll)
    };
    (
        vec![ball([0.0, 0.5 * s, 0.0], [s; 3], d.main), band(0.4, 0.3), band(-0.9, 0.6), band(0.2, -1.2)],
        [s, s],
    )
}

/// A suitcase with ribs, a handle and wheels.
pub fn suitcase(rng: &mut Rng, d: &Dress) -> Built {
    let h = between(rng, 0.55, 0.85);
    let mut parts = vec![block([0.0, 0.07, 0.0], [0.68 * h, h, 0.32 * h], d.main)];
    for x in [-0.2, 0.0, 0.2] {
        parts.push(block([x * h, 0.1, 0.0], [0.05, 0.94 * h, 0.34 * h], d.second));
    }
    for x in [-0.14, 0.14] {
        parts.push(block([x * h, h + 0.06, 0.1 * h], [0.025, 0.3 * h, 0.025], d.dark));
        parts.push(across([1.8 * x * h, 0.05, 0.0], 0.1, 0.05, d.dark));
    }
    parts.push(block([0.0, 1.3 * h + 0.05, 0.1 * h], [0.32 * h, 0.035, 0.04], d.dark));
    (parts, [0.6, 0.4])
}

/// A shopping cart: a basket of bars on a frame with four wheels.
pub fn shopping_cart(_: &mut Rng, d: &Dress) -> Built {
    let bars = Material::Bars(d.wire(), 11.0);
    let side = |x: f32| block([x, 0.5, 0.0], [0.03, 0.45, 0.85], bars);
    let end = |z: f32| block([0.0, 0.5, z], [0.55, 0.45, 0.03], bars);
    let mut parts = vec![
        side(-0.27),
        side(0.27),
        end(-0.42),
        end(0.42),
        block([0.0, 0.48, 0.0], [0.55, 0.04, 0.85], d.second),
        block([0.0, 0.22, 0.0], [0.5, 0.05, 0.75], d.second),
        bar([-0.3, 1.04, -0.5], [0.3, 1.04, -0.5], [0.06, 0.06], d.dark),
    ];
    for (x, z) in [(0.22, 0.35), (-0.22, 0.35), (0.22, -0.35), (-0.22, -0.35)] {
        parts.extend(wheel([x, 0.08, z], 0.16, 0.06));
        parts.push(bar([x, 0.12, z], [1.2 * x, 0.95, 1.2 * z], [0.045, 0.045], d.second));
    }
    (parts, [0.6, 0.95])
}

/// Three pipes.
pub fn pipe(rng: &mut Rng, d: &Dress) -> Built {
    let (long, thick) = (between(rng, 1.5, 3.0), between(rng, 0.28, 0.5));
    let lying = |z: f32, y: f32| {
        let at = |x: f32| [x * long, y, z];
        let open = across([0.0, y, z], 0.78 * thick, long + 0.02, d.dark);
        [bar(at(-0.5), at(0.5), [thick, thick], d.main), open]
    };
    let places = [(-0.5, 0.5), (0.5, 0.5), (0.0, 1.36)];
    (places.into_iter().flat_map(|(z, y)| lying(z * thick, y * thick)).collect(), [long, 2.0 * thick])
}

//! Vans, lorries, buses and trams.

use super::vehicles::{DARK, GLASS, PAINTS, lamps, wheels};
use super::{between, chance, dye, shade};
use crate::body::{Body, Part, block, hull};
use crate::class::Class;
use crate::hull::Lean;
use crate::material::Material;
use crate::panes::Panes;
use offnominal_core::Rng;
use offnominal_core::vec3::{Vec3, vec3};

const GREY: Material = Material::Plain(vec3(0.14, 0.14, 0.145));

/// A delivery van, or a lorry with a box, a tank or a tarpaulin.
pub fn truck(rng: &mut Rng) -> Body {
    if chance(rng, 0.4) { van(rng) } else { lorry(rng) }
}

fn van(rng: &mut Rng) -> Body {
    let (width, length, height) = (2.02, between(rng, 5.2, 6.2), between(rng, 2.2, 2.7));
    let colour =
        dye(rng, &[[232, 232, 230], [232, 232, 230], [196, 198, 200], [210, 170, 40], [40, 60, 110]], 0.15);
    let (paint, cab) =
        (Material::Paint(colour), Panes { frame: colour, count: [1.0, 1.0], post: 0.14, is_lit: false });
    let mut parts = vec![
        hull([0.0, 0.32, -0.1 * length], [width, height - 0.32, 0.78 * length], Lean::sides(0.03), paint),
        hull(
            [0.0, 0.32, 0.36 * length],
            [width, 0.9, 0.28 * length],
            Lean { side: 0.02, front: 0.1, back: 0.0 },
            paint,
        ),
        hull(
            [0.0, 1.15, 0.3 * length],
            [0.96 * width, 0.75, 0.24 * length],
            Lean { side: 0.06, front: 0.42, back: 0.0 },
            Material::Panes(cab),
        ),
        block([0.0, 0.4, -0.49 * length - 0.02], [0.02, height - 0.5, 0.02], DARK),
        block([0.0, 0.3, 0.0], [0.95 * width, 0.18, length + 0.06], DARK),
        block([0.42, 1.5, -0.49 * length], [0.6, 0.45, 0.03], GLASS),
        block([-0.42, 1.5, -0.49 * length], [0.6, 0.45, 0.03], GLASS),
    ];
    parts.extend(wheels(width, &[0.31 * length, -0.3 * length], 0.7));
    parts.extend(lamps(width, length, 0.78));
    Body { class: Class::Truck, parts, footprint: [width, length] }
}

fn lorry(rng: &mut Rng) -> Body {
    let (width, length, height) = (2.4, between(rng, 6.5, 9.5), between(rng, 2.9, 3.6));
    let colour = dye(rng, &PAINTS, 0.25);
    let load =
        shade(rng, &[[0.55, 0.55, 0.53], [0.06, 0.13, 0.3], [0.34, 0.06, 0.05], [0.1, 0.22, 0.12]], 0.3);
    let cab = Panes { frame: colour, count: [1.0, 1.0], post: 0.2, is_lit: false };
    let sheet = Material::Bands(load, load * 0.92, 0.6, 2);
    let mut parts = vec![
        block([0.0, 0.95, -0.16 * length], [width, height - 0.95, 0.68 * length], sheet),
        block([0.0, 0.5, 0.36 * length], [0.96 * width, 1.0, 0.27 * length], Material::Paint(colour)),
        hull(
            [0.0, 1.5, 0.36 * length],
            [0.96 * width, 0.95, 0.27 * length],
            Lean { side: 0.04, front: 0.1, back: 0.0 },
            Material::Panes(cab),
        ),
        hull(
            [0.0, 2.42, 0.33 * length],
            [0.8 * width, 0.4, 0.2 * length],
            Lean { side: 0.1, front: 0.5, back: 0.0 },
            Material::Paint(colour),
        ),
        block([0.0, 0.55, -0.05 * length], [0.8 * width, 0.3, 0.86 * length], GREY),
        block([0.0, 1.0, -0.5 * length - 0.01], [0.03, height - 1.1, 0.02], DARK),
        block([0.0, 0.45, -0.49 * length], [0.96 * width, 0.12, 0.06], GREY),
    ];
    parts.extend(wheels(width, &[0.36 * length, -0.25 * length, -0.36 * length], 0.95));
    parts.extend(lamps(width, 0.99 * length, 0.75));
    Body { class: Class::Truck, parts, footprint: [width, length] }
}

/// A body with rows of windows over all its length.
fn coach([width, length, height]: [f32; 3], colour: Vec3, windows: f32) -> Vec<Part> {
    let panes = Panes { frame: colour * 0.5, count: [windows, 1.0], post: 0.12, is_lit: true };
    let band = Material::Plain(colour * 0.45);
    let roof = Lean { side: 0.03, front: 0.004, back: 0.004 };
    vec![
        block([0.0, 0.32, 0.0], [width, 0.98, length], Material::Paint(colour)),
        hull([0.0, 1.3, 0.0], [width, 1.15, length], Lean::even(0.004), Material::Panes(panes)),
        hull([0.0, 2.45, 0.0], [width, height - 2.45, length], roof, Material::Paint(colour)),
        block([0.0, 0.9, 0.0], [width + 0.02, 0.14, length + 0.02], band),
        block([0.0, 0.26, 0.0], [0.94 * width, 0.2, 0.98 * length], DARK),
        // The destination.
        block([0.0, 2.55, 0.5 * length], [0.6 * width, 0.25, 0.05], Material::Lamp(vec3(0.5, 0.32, 0.05))),
    ]
}

/// A bus.
pub fn bus(rng: &mut Rng) -> Body {
    let (width, length) = (2.5, between(rng, 9.0, 12.0));
    let paints = [[200, 160, 40], [160, 30, 40], [30, 90, 140], [200, 200, 196], [40, 110, 70]];
    let mut parts = coach([width, length, 3.05], dye(rng, &paints, 0.2), 7.0);
    parts.extend(wheels(width, &[0.32 * length, -0.28 * length], 0.95));
    parts.extend(lamps(width, length, 0.62));
    Body { class: Class::Bus, parts, footprint: [width, length] }
}

/// A tram.
pub fn tram(rng: &mut Rng) -> Body {
    let (width, length) = (2.4, between(rng, 16.0, 24.0));
    let colour = dye(rng, &[[190, 50, 46], [214, 204, 170], [60, 120, 90]], 0.2);
    let mut parts = coach([width, length, 3.4], colour, 12.0);
    parts.push(block([0.0, 3.4, 0.0], [1.0, 0.3, 0.4 * length], GREY));
    parts.extend(lamps(0.8 * width, length, 0.62));
    Body { class: Class::Train, parts, footprint: [width, length] }
}

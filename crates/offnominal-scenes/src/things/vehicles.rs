//! Cars of six shapes, vans, lorries, buses, trams and the three-wheeler.

use super::{between, chance, dye, pick, shade, varied};
use crate::body::{Body, Part, across, block, hull, wheel};
use crate::class::Class;
use crate::hull::Lean;
use crate::material::Material;
use crate::panes::Panes;
use offnominal_core::Rng;
use offnominal_core::vec3::{Vec3, vec3};

const PAINTS: [[u8; 3]; 12] = [
    [30, 30, 34],
    [60, 62, 66],
    [128, 130, 134],
    [196, 198, 200],
    [232, 232, 230],
    [232, 232, 230],
    [130, 22, 26],
    [28, 48, 96],
    [70, 110, 150],
    [38, 70, 56],
    [150, 120, 84],
    [168, 44, 30],
];
const GLASS: Material = Material::Glass(vec3(0.02, 0.025, 0.03));
const DARK: Material = Material::Plain(Vec3::all(0.015));
const GREY: Material = Material::Plain(vec3(0.14, 0.14, 0.145));

/// The outline of a car: heights in metres, places along it as shares of its length, front positive.
#[derive(Clone, Copy)]
struct Outline {
    length: [f32; 2],
    width: f32,
    /// Of the sill, the belt and the roof.
    heights: [f32; 3],
    /// Where the cabin begins and ends at the belt.
    cabin: [f32; 2],
    /// How far windscreen and rear window are raked.
    rake: [f32; 2],
    /// Side windows.
    windows: f32,
    wheel: f32,
}

const fn outline(
    length: [f32; 2],
    [width, wheel]: [f32; 2],
    heights: [f32; 3],
    cabin: [f32; 2],
    rake: [f32; 2],
    windows: f32,
) -> Outline {
    Outline { length, width, heights, cabin, rake, windows, wheel }
}

/// Hatchback, saloon, estate, sports utility vehicle, small van, pick-up.
const OUTLINES: [Outline; 6] = [
    outline([3.6, 4.2], [1.74, 0.62], [0.2, 0.9, 1.48], [-0.46, 0.24], [0.2, 0.08], 2.0),
    outline([4.4, 4.9], [1.82, 0.65], [0.18, 0.88, 1.42], [-0.34, 0.2], [0.22, 0.2], 2.0),
    outline([4.5, 4.9], [1.82, 0.65], [0.19, 0.9, 1.48], [-0.47, 0.2], [0.17, 0.06], 3.0),
    outline([4.3, 4.8], [1.9, 0.74], [0.28, 1.04, 1.72], [-0.46, 0.22], [0.15, 0.07], 3.0),
    outline([4.2, 4.5], [1.82, 0.64], [0.22, 1.05, 1.84], [-0.48, 0.32], [0.2, 0.02], 2.0),
    outline([5.0, 5.4], [1.88, 0.76], [0.32, 1.02, 1.76], [-0.1, 0.22], [0.22, 0.1], 2.0),
];

/// Tail and head lamps on the corners.
fn lamps(width: f32, length: f32, height: f32) -> Vec<Part> {
    let side = 0.5 * width - 0.2;
    let lamp = |x: f32, z: f32, c: Vec3| block([x, height, z], [0.32, 0.15, 0.06], Material::Lamp(c));
    let (white, red) = (vec3(0.8, 0.77, 0.68), vec3(0.45, 0.014, 0.012));
    let plate = |z: f32| block([0.0, height - 0.26, z], [0.5, 0.12, 0.05], Material::Plain(Vec3::all(0.65)));
    let (front, back) = (0.5 * length - 0.01, 0.01 - 0.5 * length);
    vec![
        lamp(side, front, white),
        lamp(-side, front, white),
        lamp(side, back, red),
        lamp(-side, back, red),
        plate(front),
        plate(back),
    ]
}

/// Wheels, with a dark arch above each.
fn wheels(width: f32, axles: &[f32], diameter: f32) -> Vec<Part> {
    let side = 0.5 * width - 0.11;
    let at = axles.iter().flat_map(|&z| [[side, z], [-side, z]]);
    at.flat_map(|[x, z]| {
        let middle = [x, 0.5 * diameter, z];
        let [tyre, rim] = wheel(middle, diameter, 0.22);
        [across([middle[0], middle[1] + 0.03, z], 1.2 * diameter, 0.2, DARK), tyre, rim]
    })
    .collect()
}

/// A car.
pub fn car(rng: &mut Rng) -> Body {
    let number = pick(rng, &[0, 0, 0, 1, 1, 2, 2, 3, 3, 4, 5]);
    let outline = OUTLINES[number];
    let (length, width) = (between(rng, outline.length[0], outline.length[1]), outline.width);
    let [sill, belt, roof] = outline.heights.map(|h| h * between(rng, 0.97, 1.03));
    let colour = dye(rng, &PAINTS, 0.25);
    let paint = Material::Paint(colour);
    let mut parts = shell(&outline, [sill, belt], length, paint);
    parts.extend(cabin(&outline, [belt, roof], length, colour));
    if number == 5 {
        // The bed of a pick-up, open above.
        parts.push(block([0.0, belt - 0.02, -0.3 * length], [0.8 * width, 0.04, 0.34 * length], DARK));
    }
    if number == 4 && chance(rng, 0.5) {
        // A van without rear windows.
        let height = roof - belt - 0.1;
        parts.push(block([0.0, belt, -0.25 * length], [0.95 * width, height, 0.42 * length], paint));
    }
    parts.extend(wheels(width, &[0.3 * length, -0.29 * length], outline.wheel));
    parts.extend(lamps(width, length, 0.56 * belt + 0.1));
    Body { class: Class::Car, parts, footprint: [width, length] }
}

/// Doors, bonnet, boot, bumpers and mirrors.
fn shell(outline: &Outline, [sill, belt]: [f32; 2], length: f32, paint: Material) -> Vec<Part> {
    let width = outline.width;
    let nose = outline.cabin[1] + 0.05;
    let (front, back) = (0.5 - nose, 0.5 + outline.cabin[0]);
    let waist = belt - 0.14;
    let mut parts = vec![
        hull([0.0, sill, 0.0], [width, waist - sill, length], Lean { side: 0.01, front: 0.015, back: 0.015 }, paint),
        // The bonnet falls toward the front.
        hull(
            [0.0, waist, (nose + 0.5 * front) * length],
            [0.96 * width, 0.1, front * length],
            Lean { side: 0.05, front: 0.2, back: 0.0 },
            paint,
        ),
        hull(
            [0.0, waist, (0.5 * (nose + outline.cabin[0])) * length],
            [0.99 * width, belt - waist, (nose - outline.cabin[0]) * length],
            Lean::sides(0.02),
            paint,
        ),
        block([0.0, sill + 0.08, 0.0], [0.92 * width, 0.16, length + 0.08], DARK),
        block([0.0, sill + 0.3, 0.5 * length - 0.02], [0.5 * width, 0.12, 0.06], DARK),
    ];
    if back > 0.03 {
        parts.push(hull(
            [0.0, waist, (-0.5 + 0.5 * back) * length],
            [0.95 * width, 0.12, back * length],
            Lean { side: 0.05, front: 0.0, back: 0.08 },
            paint,
        ));
    }
    for side in [-1.0, 1.0] {
        parts.push(block([side * 0.53 * width, belt - 0.02, (nose - 0.1) * length], [0.16, 0.13, 0.1], paint));
    }
    parts
}

/// Windows and roof.
fn cabin(outline: &Outline, [belt, roof]: [f32; 2], length: f32, frame: Vec3) -> Vec<Part> {
    let [back, front] = outline.cabin;
    let long = (front - back) * length;
    let [rake, rear] = outline.rake.map(|share| share * length / long);
    let lean = Lean { side: 0.08, front: rake, back: rear };
    let middle = 0.5 * (front + back) * length;
    let panes = Panes { frame, count: [outline.windows, 1.0], post: 0.1, is_lit: false };
    // The roof lies on the upper end of the cabin.
    let top = Lean { side: 0.12, front: 0.06, back: 0.05 };
    let (flat, shift) = (1.0 - rake - rear, 0.5 * (rear - rake) * long);
    vec![
        hull([0.0, belt - 0.01, middle], [0.94 * outline.width, roof - belt, long], lean, Material::Panes(panes)),
        hull(
            [0.0, roof - 0.03, middle + shift],
            [0.8 * outline.width, 0.05, (flat + 0.04) * long],
            top,
            Material::Paint(frame),
        ),
    ]
}

/// A delivery van, or a lorry with a box, a tank or a tarpaulin.
pub fn truck(rng: &mut Rng) -> Body {
    if chance(rng, 0.4) { van(rng) } else { lorry(rng) }
}

fn van(rng: &mut Rng) -> Body {
    let (width, length, height) = (2.02, between(rng, 5.2, 6.2), between(rng, 2.2, 2.7));
    let colour = dye(rng, &[[232, 232, 230], [232, 232, 230], [196, 198, 200], [210, 170, 40], [40, 60, 110]], 0.15);
    let (paint, cab) = (Material::Paint(colour), Panes { frame: colour, count: [1.0, 1.0], post: 0.14, is_lit: false });
    let mut parts = vec![
        hull([0.0, 0.32, -0.1 * length], [width, height - 0.32, 0.78 * length], Lean::sides(0.03), paint),
        hull([0.0, 0.32, 0.36 * length], [width, 0.9, 0.28 * length], Lean { side: 0.02, front: 0.1, back: 0.0 }, paint),
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
    let load = shade(rng, &[[0.55, 0.55, 0.53], [0.06, 0.13, 0.3], [0.34, 0.06, 0.05], [0.1, 0.22, 0.12]], 0.3);
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
        hull([0.0, 2.42, 0.33 * length], [0.8 * width, 0.4, 0.2 * length], Lean { side: 0.1, front: 0.5, back: 0.0 }, Material::Paint(colour)),
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
    vec![
        block([0.0, 0.32, 0.0], [width, 0.98, length], Material::Paint(colour)),
        hull([0.0, 1.3, 0.0], [width, 1.15, length], Lean::even(0.004), Material::Panes(panes)),
        hull([0.0, 2.45, 0.0], [width, height - 2.45, length], Lean::even(0.02), Material::Paint(colour)),
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

/// A three-wheeled taxi with a canopy: among cars, the unknown thing of the IDD analogue.
pub fn three_wheeler(rng: &mut Rng) -> Body {
    let paint = Material::Paint(dye(rng, &[[200, 160, 20], [40, 110, 50], [30, 40, 48]], 0.2));
    let canopy = Material::Mottled(varied(rng, [0.03, 0.03, 0.035], 0.4), 0.2, 3.0);
    let mut parts = vec![
        hull([0.0, 0.3, -0.25], [1.3, 0.65, 1.9], Lean { side: 0.01, front: 0.06, back: 0.06 }, paint),
        hull([0.0, 0.3, 0.95], [0.8, 0.75, 0.7], Lean { side: 0.2, front: 0.3, back: 0.2 }, paint),
        hull([0.0, 1.55, -0.15], [1.28, 0.2, 2.0], Lean { side: 0.1, front: 0.08, back: 0.08 }, canopy),
        block([0.0, 0.95, -1.05], [1.26, 0.65, 0.12], canopy),
        block([0.0, 0.95, 0.62], [1.1, 0.6, 0.05], GLASS),
        block([0.0, 0.75, -0.3], [1.05, 0.45, 0.25], DARK),
    ];
    parts.extend([[0.0, 1.05], [0.58, -0.75], [-0.58, -0.75]].into_iter().flat_map(|[x, z]| wheel([x, 0.24, z], 0.48, 0.12)));
    for (x, z) in [(0.6, 0.62), (-0.6, 0.62), (0.6, -1.0), (-0.6, -1.0)] {
        parts.push(block([x, 0.9, z], [0.05, 0.72, 0.05], DARK));
    }
    if chance(rng, 0.5) {
        parts.push(block([0.0, 1.75, -0.2], [0.8, 0.12, 1.0], Material::Plain(vec3(0.18, 0.13, 0.09))));
    }
    for x in [-0.3, 0.3] {
        parts.push(block([x, 0.62, -1.2], [0.16, 0.1, 0.04], Material::Lamp(vec3(0.4, 0.01, 0.01))));
    }
    Body { class: Class::Unknown, parts, footprint: [1.3, 2.7] }
}

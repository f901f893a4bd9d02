//! Cars of six shapes, and the three-wheeler.

use super::{between, chance, dye, pick, varied};
use crate::body::{Body, Part, across, block, hull, wheel};
use crate::class::Class;
use crate::hull::Lean;
use crate::material::Material;
use crate::panes::Panes;
use offnominal_core::Rng;
use offnominal_core::vec3::{Vec3, vec3};

pub(super) const PAINTS: [[u8; 3]; 12] = [
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
pub(super) const GLASS: Material = Material::Glass(vec3(0.02, 0.025, 0.03));
pub(super) const DARK: Material = Material::Plain(Vec3::all(0.015));

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
pub(super) fn lamps(width: f32, length: f32, height: f32) -> Vec<Part> {
    let side = 0.5 * width - 0.2;
    let lamp = |x: f32, z: f32, c: Vec3| block([x, height, z], [0.32, 0.15, 0.06], Material::Lamp(c));
    let (white, red) = (vec3(0.8, 0.77, 0.68), vec3(0.45, 0.014, 0.012));
    let plate = |z: f32| block([0.0, height - 0.24, z], [0.5, 0.11, 0.14], Material::Plain(Vec3::all(0.6)));
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
pub(super) fn wheels(width: f32, axles: &[f32], diameter: f32) -> Vec<Part> {
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
        parts.extend(bed(width, length, belt, paint));
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

/// The bed of a pick-up, open above: a dark floor between walls.
fn bed(width: f32, length: f32, belt: f32, paint: Material) -> Vec<Part> {
    let (y, long) = (belt - 0.03, 0.38 * length);
    let wall = |x: f32| block([x, y, -0.31 * length], [0.09, 0.16, long], paint);
    vec![
        block([0.0, y, -0.3 * length], [0.86 * width, 0.02, 0.36 * length], DARK),
        wall(0.43 * width),
        wall(-0.43 * width),
        block([0.0, y, -0.495 * length], [0.9 * width, 0.16, 0.06], paint),
    ]
}

/// Doors, bonnet, boot, bumpers and mirrors.
fn shell(outline: &Outline, [sill, belt]: [f32; 2], length: f32, paint: Material) -> Vec<Part> {
    let width = outline.width;
    let nose = outline.cabin[1] + 0.05;
    let (front, back) = (0.5 - nose, 0.5 + outline.cabin[0]);
    let waist = belt - 0.14;
    let mut parts = vec![
        hull(
            [0.0, sill, 0.0],
            [width, waist - sill, length],
            Lean { side: 0.01, front: 0.015, back: 0.015 },
            paint,
        ),
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
        // Bumpers, and the grille above the one in front.
        hull([0.0, sill + 0.1, 0.0], [0.96 * width, 0.2, length + 0.1], Lean::even(0.02), paint),
        block([0.0, sill - 0.02, 0.0], [0.94 * width, 0.14, length + 0.06], DARK),
        block([0.0, waist - 0.16, 0.5 * length - 0.02], [0.5 * width, 0.11, 0.08], DARK),
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
        parts.push(block(
            [side * 0.53 * width, belt - 0.02, (nose - 0.1) * length],
            [0.16, 0.13, 0.1],
            paint,
        ));
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
        hull(
            [0.0, belt - 0.01, middle],
            [0.94 * outline.width, roof - belt, long],
            lean,
            Material::Panes(panes),
        ),
        hull(
            [0.0, roof - 0.03, middle + shift],
            [0.8 * outline.width, 0.05, (flat + 0.04) * long],
            top,
            Material::Paint(frame),
        ),
    ]
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
    parts.extend(
        [[0.0, 1.05], [0.58, -0.75], [-0.58, -0.75]]
            .into_iter()
            .flat_map(|[x, z]| wheel([x, 0.24, z], 0.48, 0.12)),
    );
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

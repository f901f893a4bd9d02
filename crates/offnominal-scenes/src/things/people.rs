//! Persons. Every limb is a bar between joints that two parts share, so that a person hangs together in any pose.

use super::{between, chance, dye, pick, varied};
use crate::body::{Body, Part, ball, bar, cone, hull, part};
use crate::class::Class;
use crate::hull::Lean;
use crate::material::{Material, srgb};
use crate::solid::Shape;
use offnominal_core::Rng;

const CLOTHES: [[u8; 3]; 14] = [
    [40, 42, 50],
    [70, 74, 80],
    [52, 60, 92],
    [126, 40, 44],
    [170, 160, 140],
    [90, 96, 70],
    [206, 200, 196],
    [60, 90, 110],
    [140, 96, 62],
    [196, 150, 70],
    [92, 62, 100],
    [60, 110, 92],
    [190, 110, 110],
    [120, 140, 170],
];
const TROUSERS: [[u8; 3]; 7] =
    [[38, 40, 48], [48, 58, 86], [84, 92, 110], [96, 84, 66], [60, 58, 56], [150, 138, 116], [72, 60, 52]];
const SKINS: [[u8; 3]; 5] = [[224, 182, 156], [206, 160, 128], [168, 120, 90], [128, 88, 64], [88, 60, 46]];
const HAIRS: [[u8; 3]; 6] =
    [[30, 26, 24], [58, 42, 32], [96, 70, 46], [150, 122, 82], [128, 126, 124], [104, 52, 34]];

/// What a person wears.
pub struct Clothes {
    /// The upper body.
    pub top: Material,
    /// The legs.
    pub legs: Material,
    /// Head and hands.
    pub skin: Material,
    /// Hair or a hat.
    pub hair: Material,
    /// The feet.
    pub shoes: Material,
}

impl Clothes {
    /// Draws them.
    pub fn draw(rng: &mut Rng) -> Clothes {
        let mottled = |colour| Material::Mottled(colour, 0.15, 4.0);
        let [r, g, b] = pick(rng, &SKINS);
        let coloured = dye(rng, &CLOTHES, 0.25);
        let striped = Material::Bands(coloured, varied(rng, coloured * 0.45, 0.3), 0.07, 1);
        Clothes {
            top: if chance(rng, 0.15) { striped } else { mottled(coloured) },
            legs: mottled(dye(rng, &TROUSERS, 0.25)),
            skin: Material::Plain(srgb(r, g, b)),
            hair: Material::Plain(if chance(rng, 0.2) {
                dye(rng, &CLOTHES, 0.2)
            } else {
                dye(rng, &HAIRS, 0.2)
            }),
            shoes: Material::Plain(dye(rng, &[[30, 28, 28], [60, 44, 34], [190, 188, 184]], 0.2)),
        }
    }
}

/// A limb of two bars that meet in a joint.
pub fn limb(joints: [[f32; 3]; 3], widths: [f32; 3], materials: [Material; 2]) -> [Part; 3] {
    let [from, middle, to] = joints;
    [
        bar(from, middle, [widths[0], widths[1]], materials[0]),
        ball(middle, [widths[1]; 3], materials[0]),
        bar(middle, to, [widths[1], widths[2]], materials[1]),
    ]
}

/// Neck, face and hair, the neck beginning at a point.
pub fn head([x, y, z]: [f32; 3], clothes: &Clothes) -> [Part; 3] {
    [
        cone([x, y - 0.06, z], [0.16, 0.12], 0.2, clothes.skin),
        ball([x, y + 0.19, z + 0.015], [0.19, 0.26, 0.21], clothes.skin),
        ball([x, y + 0.235, z - 0.012], [0.215, 0.21, 0.225], clothes.hair),
    ]
}

/// A leg from the hip, by how far the foot is ahead, lifted where it swings from behind.
fn leg(side: f32, ahead: f32, lift: f32, clothes: &Clothes) -> Vec<Part> {
    let foot = [1.05 * side, 0.09 + lift, ahead];
    let knee = [side, 0.49 + 0.6 * lift, 0.5 * ahead + 0.07 + lift];
    let mut parts: Vec<Part> =
        limb([[side, 0.93, 0.0], knee, foot], [0.2, 0.155, 0.135], [clothes.legs; 2]).into();
    parts.push(ball([foot[0], foot[1] - 0.035, foot[2] + 0.06], [0.105, 0.11, 0.27], clothes.shoes));
    parts
}

/// An arm from the shoulder to the hand.
fn arm(side: f32, swing: f32, bent: f32, clothes: &Clothes) -> Vec<Part> {
    let elbow = [1.18 * side, 1.15, 0.5 * swing - 0.03];
    let hand = [1.16 * side, 0.9 + bent, swing + 0.4 * bent];
    let mut parts: Vec<Part> =
        limb([[side, 1.42, 0.0], elbow, hand], [0.14, 0.115, 0.1], [clothes.top; 2]).into();
    parts.push(ball([side, 1.42, 0.0], [0.16; 3], clothes.top));
    parts.push(ball(hand, [0.11, 0.14, 0.11], clothes.skin));
    parts
}

/// Chest and hips.
fn trunk(clothes: &Clothes, girth: f32) -> [Part; 3] {
    [
        part(Shape::Ellipsoid, [0.0, 0.97, 0.0], [0.36 * girth, 0.3, 0.26 * girth], clothes.legs),
        hull([0.0, 0.92, 0.0], [0.4 * girth, 0.54, 0.24 * girth], Lean::even(-0.06), clothes.top),
        part(Shape::Ellipsoid, [0.0, 1.42, 0.0], [0.42 * girth, 0.22, 0.25 * girth], clothes.top),
    ]
}

/// A skirt or the lower half of a coat.
fn skirt(rng: &mut Rng, clothes: &Clothes) -> Part {
    let (low, material) =
        (between(rng, 0.4, 0.72), if chance(rng, 0.5) { clothes.top } else { clothes.legs });
    cone([0.0, low, 0.0], [0.56, 0.34], 1.02 - low, material)
}

fn bag(rng: &mut Rng) -> Part {
    let stuff = Material::Mottled(dye(rng, &CLOTHES, 0.3), 0.15, 4.0);
    if chance(rng, 0.5) {
        ball([0.0, 1.2, -0.18], [0.34, 0.46, 0.26], stuff)
    } else {
        hull([0.27, 0.66, 0.0], [0.1, 0.34, 0.3], Lean::even(0.1), stuff)
    }
}

/// A person who walks or stands, a grown-up or a child.
pub fn person(rng: &mut Rng) -> Body {
    let tall = if chance(rng, 0.12) { between(rng, 0.6, 0.8) } else { between(rng, 0.9, 1.08) };
    let (stride, girth) =
        (if chance(rng, 0.3) { 0.03 } else { between(rng, 0.12, 0.36) }, between(rng, 0.92, 1.2));
    let clothes = Clothes::draw(rng);
    let mut parts = leg(0.1, stride, 0.0, &clothes);
    parts.extend(leg(-0.1, -stride, 0.15 * stride, &clothes));
    parts.extend(trunk(&clothes, girth));
    let bent = if chance(rng, 0.25) { between(rng, 0.15, 0.4) } else { 0.0 };
    parts.extend(arm(0.21 * girth, -0.8 * stride, bent, &clothes));
    parts.extend(arm(-0.21 * girth, 0.8 * stride, 0.0, &clothes));
    parts.extend(head([0.0, 1.5, 0.02], &clothes));
    if chance(rng, 0.25) {
        parts.push(skirt(rng, &clothes));
    }
    if chance(rng, 0.35) {
        parts.push(bag(rng));
    }
    let parts = parts.into_iter().map(|p| p.resized(tall)).collect();
    Body { class: Class::Person, parts, footprint: [0.55, 0.5] }
}

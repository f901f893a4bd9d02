//! Things that no training image shows. Each kind is drawn anew: sizes, colours and posture vary.

use super::{between, chance, pick, varied};
use crate::body::{Body, Part, ball, block, part, post, wheel};
use crate::class::Class;
use crate::material::{Material, srgb};
use crate::solid::Shape;
use offnominal_core::Rng;
use offnominal_core::vec3::{Vec3, vec3};
use std::f32::consts::FRAC_PI_2;

/// A kind of unknown thing.
#[derive(Clone, Copy)]
pub struct UnknownKind {
    /// Its name in lists.
    pub name: &'static str,
    /// Colours that such a thing usually has.
    usual: &'static [[u8; 3]],
    parts: fn(&mut Rng, &Dress) -> Built,
}

/// The parts of a thing, and the width and length of the ground that it covers.
type Built = (Vec<Part>, [f32; 2]);

const fn kind(
    name: &'static str,
    usual: &'static [[u8; 3]],
    parts: fn(&mut Rng, &Dress) -> Built,
) -> UnknownKind {
    UnknownKind { name, usual, parts }
}

const WOOD: &[[u8; 3]] = &[[150, 112, 70], [120, 88, 58], [176, 144, 100]];
const METAL: &[[u8; 3]] = &[[40, 70, 130], [140, 60, 30], [90, 94, 98]];
const CLOTH: &[[u8; 3]] = &[[110, 60, 54], [84, 90, 100], [196, 188, 170], [70, 84, 60]];
const HIDE: &[[u8; 3]] = &[[140, 98, 60], [92, 66, 44], [60, 52, 46]];
const PAINT: &[[u8; 3]] = &[[200, 200, 196], [150, 34, 34], [40, 60, 90]];
const BRIGHT: &[[u8; 3]] = &[[200, 80, 50], [60, 120, 160], [210, 180, 60]];

/// Every kind.
pub const KINDS: [UnknownKind; 18] = [
    kind("crate", WOOD, stack),
    kind("barrel", METAL, barrel),
    kind("tyre", &[[28, 28, 30]], tyre),
    kind("sofa", CLOTH, sofa),
    kind("boulder", &[[112, 106, 98], [86, 84, 82]], boulder),
    kind("cow", &[[110, 70, 44], [220, 214, 204], [44, 38, 34]], |_, d| beast(d, 1.4, 0.75, 2.1, false)),
    kind("dog", HIDE, |_, d| beast(d, 0.65, 0.3, 0.95, false)),
    kind("deer", HIDE, |_, d| beast(d, 1.35, 0.42, 1.5, true)),
    kind("helicopter", PAINT, helicopter),
    kind("beach ball", BRIGHT, round),
    kind("suitcase", &[[60, 50, 46], [110, 30, 40], [40, 60, 80]], suitcase),
    kind("shopping cart", &[[150, 152, 156]], shopping_cart),
    kind("mattress", CLOTH, mattress),
    kind("tent", &[[90, 110, 60], [200, 120, 40], [60, 80, 110]], tent),
    kind("wardrobe", WOOD, wardrobe),
    kind("parasol", BRIGHT, parasol),
    kind("boat", PAINT, boat),
    kind("pipe", METAL, pipe),
];

/// How an unknown thing is coloured.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Coat {
    /// A saturated colour that nothing else in the scene has.
    Loud,
    /// As such a thing usually looks.
    Natural,
    /// The texture of the ground it stands on.
    Ground(Vec3),
}

impl UnknownKind {
    /// Draws one of this kind.
    pub fn build(self, rng: &mut Rng, coat: Coat) -> Body {
        let dress = Dress::new(self.usual, rng, coat);
        let (parts, footprint) = (self.parts)(rng, &dress);
        Body { class: Class::Unknown, parts, footprint }
    }
}

/// The materials of one thing: its main look, a second one, and dark details.
struct Dress {
    main: Material,
    second: Material,
    dark: Material,
}

impl Dress {
    fn new(usual: &[[u8; 3]], rng: &mut Rng, coat: Coat) -> Dress {
        let loud = [[230, 0, 200], [0, 230, 220], [255, 90, 0], [120, 255, 0], [90, 0, 255]];
        let [r, g, b] = match coat {
            Coat::Loud => pick(rng, &loud),
            _ => pick(rng, usual),
        };
        let colour = varied(rng, srgb(r, g, b), 0.25);
        let mottled = |strength: f32| Material::Mottled(colour, strength, 3.0);
        let plain = |share: f32| Material::Plain(colour.map(|c| c * share));
        match coat {
            Coat::Ground(ground) => {
                let near = |rng: &mut Rng| Material::Asphalt(varied(rng, ground, 0.2));
                Dress { main: near(rng), second: near(rng), dark: near(rng) }
            }
            Coat::Loud => Dress { main: plain(1.0), second: plain(0.6), dark: plain(0.3) },
            Coat::Natural => {
                Dress { main: mottled(0.25), second: plain(0.6), dark: Material::Plain(Vec3::all(0.02)) }
            }
        }
    }
}

fn stack(rng: &mut Rng, d: &Dress) -> Built {
    let s = between(rng, 0.5, 1.0);
    let mut parts = vec![block([0.0; 3], [s, s, s], d.main)];
    for y in [0.04, 0.48, 0.9] {
        parts.push(block([0.0, y * s, 0.0], [1.03 * s, 0.07 * s, 1.03 * s], d.second));
    }
    if chance(rng, 0.4) {
        parts.push(block([0.1 * s, s, 0.0], [0.7 * s, 0.6 * s, 0.7 * s], d.main));
    }
    (parts, [s, s])
}

fn barrel(rng: &mut Rng, d: &Dress) -> Built {
    let is_down = chance(rng, 0.4);
    let (size, y, roll) =
        ([0.6, 0.9, 0.6], if is_down { 0.3 } else { 0.45 }, if is_down { FRAC_PI_2 } else { 0.0 });
    let ring = |at: f32| {
        let middle = if is_down { [at, y, 0.0] } else { [0.0, y + at, 0.0] };
        part(Shape::Cylinder, middle, [0.64, 0.06, 0.64], d.second).tilted(0.0, roll)
    };
    let body = part(Shape::Cylinder, [0.0, y, 0.0], size, d.main).tilted(0.0, roll);
    (vec![body, ring(-0.28), ring(0.28)], [0.8, 0.7])
}

fn tyre(_: &mut Rng, d: &Dress) -> Built {
    let side = |z: f32, size: f32, m| {
        part(Shape::Cylinder, [0.0, 0.34, z], [size, 0.22, size], m).tilted(FRAC_PI_2, 0.0)
    };
    (vec![side(0.0, 0.68, d.main), side(-0.02, 0.36, d.second)], [0.7, 0.3])
}

fn sofa(rng: &mut Rng, d: &Dress) -> Built {
    let w = between(rng, 1.5, 2.2);
    let parts = vec![
        block([0.0, 0.1, 0.0], [w, 0.35, 0.85], d.main),
        block([0.0, 0.1, 0.36], [w, 0.8, 0.2], d.main),
        block([0.5 * w, 0.1, 0.0], [0.2, 0.58, 0.85], d.second),
        block([-0.5 * w, 0.1, 0.0], [0.2, 0.58, 0.85], d.second),
        block([0.25 * w, 0.44, -0.05], [0.46 * w, 0.14, 0.7], d.second),
        block([-0.25 * w, 0.44, -0.05], [0.46 * w, 0.14, 0.7], d.second),
    ];
    (parts, [w + 0.2, 0.9])
}

fn boulder(rng: &mut Rng, d: &Dress) -> Built {
    let s = between(rng, 0.5, 1.4);
    let lump = |rng: &mut Rng, m| {
        let at = [between(rng, -0.2, 0.2) * s, 0.3 * s, between(rng, -0.2, 0.2) * s];
        let size = [between(rng, 0.7, 1.1) * s, between(rng, 0.6, 0.9) * s, between(rng, 0.7, 1.1) * s];
        part(Shape::Ellipsoid, at, size, m).tilted(between(rng, -0.4, 0.4), between(rng, -0.4, 0.4))
    };
    let block =
        part(Shape::Box(0.5, 0.4), [0.0, 0.32 * s, 0.0], [s, 0.7 * s, 0.9 * s], d.main).tilted(0.2, 0.15);
    (vec![block, lump(rng, d.main), lump(rng, d.second)], [s, s])
}

/// A four-legged animal by height of its back, width and length.
fn beast(d: &Dress, height: f32, width: f32, length: f32, antlers: bool) -> Built {
    let (trunk, leg) = (0.5 * height, 0.55 * height);
    let mut parts = vec![ball([0.0, height - 0.5 * trunk, 0.0], [width, 1.05 * trunk, 0.8 * length], d.main)];
    for (x, z) in [(0.3, 0.28), (-0.3, 0.28), (0.3, -0.28), (-0.3, -0.28)] {
        parts.push(post([x * width, 0.0, z * length], 0.2 * width, leg, d.second));
    }
    let head = [0.0, 1.12 * height, 0.55 * length];
    parts.push(ball([0.0, 0.98 * height, 0.42 * length], [0.45 * width, 0.5 * height, 0.3 * length], d.main));
    parts.push(ball(head, [0.42 * width, 0.26 * height, 0.36 * length], d.main));
    parts.push(block([0.0, 0.55 * height, -0.42 * length], [0.06, 0.4 * height, 0.06], d.second));
    for x in [-0.22, 0.22] {
        parts.push(ball(
            [x * width, 1.24 * height, 0.47 * length],
            [0.16 * width, 0.1 * height, 0.06],
            d.dark,
        ));
        if antlers {
            parts.push(block(
                [2.0 * x * width, 1.2 * height, 0.45 * length],
                [0.04, 0.4 * height, 0.04],
                d.dark,
            ));
        }
    }
    (parts, [width, length])
}

fn helicopter(_: &mut Rng, d: &Dress) -> Built {
    let parts = vec![
        ball([0.0, 1.2, 0.4], [1.5, 1.5, 2.8], d.main),
        ball([0.0, 1.3, 1.0], [1.2, 1.1, 1.5], Material::Glass(vec3(0.02, 0.03, 0.04))),
        block([0.0, 1.25, -2.2], [0.25, 0.25, 3.2], d.main),
        block([0.0, 1.2, -3.7], [0.08, 0.9, 0.5], d.second),
        block([0.0, 1.95, 0.2], [0.15, 0.35, 0.15], d.dark),
        block([0.0, 2.25, 0.2], [6.0, 0.05, 0.2], d.dark),
        block([0.6, 0.1, 0.4], [0.08, 0.08, 2.4], d.dark),
        block([-0.6, 0.1, 0.4], [0.08, 0.08, 2.4], d.dark),
        block([0.6, 0.1, 0.4], [0.06, 0.6, 0.06], d.dark),
        block([-0.6, 0.1, 0.4], [0.06, 0.6, 0.06], d.dark),
    ];
    (parts, [1.6, 5.0])
}

fn round(rng: &mut Rng, d: &Dress) -> Built {
    let s = between(rng, 0.5, 1.0);
    (
        vec![
            ball([0.0, 0.5 * s, 0.0], [s; 3], d.main),
            ball([0.0, 0.5 * s, 0.0], [1.01 * s, 0.3 * s, 1.01 * s], d.second),
        ],
        [s, s],
    )
}

fn suitcase(rng: &mut Rng, d: &Dress) -> Built {
    let h = between(rng, 0.5, 0.8);
    let parts = vec![
        block([0.0, 0.05, 0.0], [0.68 * h, h, 0.32 * h], d.main),
        block([0.0, 0.05, 0.0], [0.7 * h, h, 0.05], d.second),
        block([0.0, h + 0.05, 0.0], [0.2, 0.12, 0.04], d.dark),
    ];
    (parts, [0.6, 0.4])
}

fn shopping_cart(_: &mut Rng, d: &Dress) -> Built {
    let bars = match d.main {
        Material::Mottled(c, ..) | Material::Plain(c) => Material::Bars(c, 14.0),
        other => other,
    };
    let mut parts = vec![
        part(Shape::Box(-0.2, -0.15), [0.0, 0.72, 0.0], [0.5, 0.5, 0.8], bars),
        block([0.0, 1.0, -0.45], [0.55, 0.05, 0.05], d.second),
        block([0.0, 0.25, 0.0], [0.45, 0.04, 0.75], d.second),
    ];
    for (x, z) in [(0.2, 0.35), (-0.2, 0.35), (0.2, -0.35), (-0.2, -0.35)] {
        parts.push(wheel([x, 0.07, z], 0.14, 0.05));
        parts.push(block([x, 0.1, z], [0.03, 0.45, 0.03], d.second));
    }
    (parts, [0.55, 0.9])
}

fn mattress(rng: &mut Rng, d: &Dress) -> Built {
    let w = between(rng, 0.9, 1.6);
    (
        vec![
            block([0.0; 3], [w, 0.25, 2.0], d.main),
            block([0.0, 0.1, 0.0], [1.01 * w, 0.05, 2.02], d.second),
        ],
        [w, 2.0],
    )
}

fn tent(_: &mut Rng, d: &Dress) -> Built {
    let body = part(Shape::Box(0.97, 0.1), [0.0, 0.65, 0.0], [1.9, 1.3, 2.2], d.main);
    let door = part(Shape::Box(0.95, 0.0), [0.0, 0.5, -1.06], [0.8, 1.0, 0.1], d.dark);
    (vec![body, door], [1.9, 2.2])
}

fn wardrobe(rng: &mut Rng, d: &Dress) -> Built {
    let (w, h) = (between(rng, 0.8, 1.3), between(rng, 1.5, 2.1));
    let parts = vec![
        block([0.0; 3], [w, h, 0.55], d.main),
        block([0.0, 0.05, -0.28], [0.02, h - 0.1, 0.02], d.dark),
        block([0.0, h, 0.0], [1.06 * w, 0.08, 0.6], d.second),
        block([0.08, 0.5 * h, -0.3], [0.03, 0.15, 0.04], d.dark),
    ];
    (parts, [w, 0.55])
}

fn parasol(_: &mut Rng, d: &Dress) -> Built {
    let roof = part(Shape::Box(0.9, 0.9), [0.0, 2.15, 0.0], [2.4, 0.5, 2.4], d.main);
    (vec![post([0.0; 3], 0.06, 2.1, d.second), roof, post([0.0; 3], 0.5, 0.12, d.dark)], [0.6, 0.6])
}

fn boat(_: &mut Rng, d: &Dress) -> Built {
    let parts = vec![
        part(Shape::Box(-0.5, -0.25), [0.0, 0.45, 0.0], [1.1, 0.7, 3.2], d.main),
        block([0.0, 0.75, -0.3], [0.9, 0.55, 1.0], d.second),
        block([0.0, 1.0, 0.2], [0.8, 0.3, 0.05], Material::Glass(Vec3::all(0.03))),
    ];
    (parts, [1.6, 3.4])
}

fn pipe(rng: &mut Rng, d: &Dress) -> Built {
    let (long, thick) = (between(rng, 1.5, 3.0), between(rng, 0.25, 0.5));
    let lying = |x: f32, y: f32| {
        part(Shape::Cylinder, [0.0, y, x], [thick, long, thick], d.main).tilted(0.0, FRAC_PI_2)
    };
    let parts =
        vec![lying(-0.5 * thick, 0.5 * thick), lying(0.5 * thick, 0.5 * thick), lying(0.0, 1.35 * thick)];
    (parts, [long, 2.0 * thick])
}

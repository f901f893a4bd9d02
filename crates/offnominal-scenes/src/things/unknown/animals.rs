//! Four-legged animals.

use super::{Built, Dress};
use crate::body::{Part, ball, bar};
use crate::material::Material;
use crate::things::between;
use offnominal_core::Rng;
use offnominal_core::vec3::Vec3;

/// Sizes of an animal in metres: height of the back, width, and length without the head; how high it carries the head
/// above the back, and the length of the muzzle.
struct Frame {
    height: f32,
    width: f32,
    length: f32,
    neck: f32,
    muzzle: f32,
}

/// A cow: a deep trunk, a head as high as its back, horns.
pub fn cow(rng: &mut Rng, d: &Dress) -> Built {
    let frame =
        Frame { height: 1.4, width: 0.66, length: 1.75, neck: between(rng, -0.05, 0.1), muzzle: 0.42 };
    let spotted = match d.main {
        Material::Mottled(colour, ..) => Material::Patches(colour, Vec3::all(0.6), 0.6),
        other => other,
    };
    let d = &Dress { main: spotted, ..*d };
    let mut parts = beast(rng, d, &frame);
    parts.push(ball([0.0, 0.7, -0.42], [0.36, 0.26, 0.4], d.second));
    for x in [-1.0, 1.0] {
        let [y, z] = poll(&frame);
        parts.push(bar([0.1 * x, y + 0.12, z], [0.3 * x, y + 0.27, z + 0.03], [0.06, 0.02], d.dark));
    }
    (parts, [0.7, 2.3])
}

/// A dog.
pub fn dog(rng: &mut Rng, d: &Dress) -> Built {
    let frame =
        Frame { height: 0.62, width: 0.24, length: 0.75, neck: between(rng, 0.05, 0.15), muzzle: 0.2 };
    (beast(rng, d, &frame), [0.3, 1.0])
}

/// A deer: long legs, a high head, antlers of three points.
pub fn deer(rng: &mut Rng, d: &Dress) -> Built {
    let frame = Frame { height: 1.2, width: 0.4, length: 1.25, neck: between(rng, 0.35, 0.5), muzzle: 0.26 };
    let mut parts = beast(rng, d, &frame);
    let [y, z] = poll(&frame);
    for x in [-1.0, 1.0] {
        let (root, tip) = ([0.06 * x, y + 0.08, z], [0.32 * x, y + 0.62, z - 0.08]);
        parts.push(bar(root, tip, [0.05, 0.025], d.dark));
        for share in [0.35, 0.65] {
            let fork = [0.06 * x + 0.26 * share * x, y + 0.08 + 0.54 * share, z - 0.08 * share];
            parts.push(bar(fork, [fork[0] - 0.04 * x, fork[1] + 0.2, fork[2] + 0.18], [0.035, 0.02], d.dark));
        }
    }
    (parts, [0.45, 1.7])
}

/// Height and place of the back of the head.
fn poll(frame: &Frame) -> [f32; 2] {
    [frame.height + frame.neck, 0.5 * frame.length + 0.12 * frame.height]
}

fn beast(rng: &mut Rng, d: &Dress, f: &Frame) -> Vec<Part> {
    let (deep, belly) = (0.48 * f.height, 0.56 * f.height);
    let middle = f.height - 0.5 * deep;
    let hind = -0.36 * f.length;
    let [y, z] = poll(f);
    let mut parts = vec![
        ball([0.0, middle, 0.02 * f.length], [f.width, deep, 0.95 * f.length], d.main),
        ball(
            [0.0, middle + 0.03 * f.height, 0.28 * f.length],
            [0.95 * f.width, 1.04 * deep, 0.5 * f.length],
            d.main,
        ),
        ball([0.0, middle, hind], [0.98 * f.width, 0.98 * deep, 0.46 * f.length], d.main),
        bar(
            [0.0, middle + 0.08 * f.height, 0.36 * f.length],
            [0.0, y, z],
            [0.62 * f.width, 0.4 * f.width],
            d.main,
        ),
        ball([0.0, y, z + 0.1 * f.muzzle], [0.42 * f.width, 0.44 * f.width, 0.9 * f.muzzle], d.main),
        bar(
            [0.0, y, z],
            [0.0, y - 0.45 * f.muzzle, z + f.muzzle],
            [0.38 * f.width, 0.22 * f.width],
            d.second,
        ),
        bar(
            [0.0, f.height - 0.1 * deep, -0.48 * f.length],
            [0.0, belly, -0.6 * f.length],
            [0.07, 0.03],
            d.second,
        ),
    ];
    for x in [-1.0, 1.0] {
        let ear = [0.3 * f.width * x, y + 0.2 * f.width, z];
        parts.push(ball(ear, [0.26 * f.width, 0.14 * f.width, 0.1 * f.width], d.dark));
        for (root, step) in [(0.3 * f.length, 0.0), (hind, 0.05)] {
            parts.extend(leg(
                d,
                f,
                0.3 * f.width * x,
                root,
                step * f.height + between(rng, -0.07, 0.07) * f.height,
            ));
        }
    }
    parts
}

fn leg(d: &Dress, f: &Frame, x: f32, z: f32, step: f32) -> [Part; 4] {
    let (thigh, shin) = (0.34 * f.width, 0.17 * f.width);
    let knee = [x, 0.3 * f.height, z + 0.5 * step];
    [
        bar([x, 0.68 * f.height, z], knee, [thigh, shin], d.main),
        ball(knee, [shin; 3], d.main),
        bar(knee, [x, 0.03, z + step], [shin, 0.8 * shin], d.second),
        bar([x, 0.0, z + step], [x, 0.06 * f.height, z + step], [1.1 * shin, 0.9 * shin], d.dark),
    ]
}

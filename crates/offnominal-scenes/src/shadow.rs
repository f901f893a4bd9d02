//! What the sun does not reach, and how much of the sky is hidden near the foot of things.

use crate::look::Samples;
use crate::ray::Ray;
use crate::scene::{Floor, Scene, Thing};
use crate::solid::Solid;
use crate::view::View;
use offnominal_core::vec3::{Vec3, vec3};

/// Farther than this no shadow is cast, in metres.
const FAR_M: f32 = 70.0;
/// How far from a footprint the ground is darker, in metres.
const CONTACT_M: f32 = 0.9;

/// Light that is missing, for each sample of the ground and for each thing.
#[derive(Debug, Clone)]
pub struct Shadows {
    /// Whether the sun is hidden from a sample of the ground.
    pub ground: Vec<bool>,
    /// Share of the sky that a sample of the ground sees.
    pub open: Vec<f32>,
    /// Whether the sun is hidden from a thing.
    pub things: Vec<bool>,
}

/// Casts all shadows.
pub fn cast(scene: &Scene, view: &View, seen: &Samples) -> Shadows {
    let n = view.width * view.height;
    let mut shadows =
        Shadows { ground: vec![false; n], open: vec![1.0; n], things: vec![false; scene.things.len()] };
    if scene.light.sunlight.x > 0.0 {
        let levels = levels(scene);
        let near = scene.solids.iter().filter(|s| s.centre.z < FAR_M);
        near.for_each(|solid| cast_one(scene, view, seen, solid, levels, &mut shadows.ground));
        shadows.things = scene.things.iter().enumerate().map(|(i, t)| is_hidden(scene, i, t)).collect();
    }
    let standing = scene.things.iter().filter(|t| t.at.y - scene.ground_height(t.at.z) < 0.2);
    standing.for_each(|thing| contact(scene, view, seen, thing, &mut shadows.open));
    shadows
}

/// The lowest and the highest level of the ground on which shadows fall.
fn levels(scene: &Scene) -> [f32; 2] {
    match &scene.floor {
        Floor::Street(ground) => ground.profile().range(FAR_M + 60.0),
        Floor::Room(..) => [0.0; 2],
    }
}

fn is_ground(seen: &Samples, at: usize) -> bool {
    seen.solid[at] == 0 && seen.depth[at] < f32::INFINITY
}

/// The shadow of one solid on the ground: samples from which a ray to the sun meets it.
fn cast_one(scene: &Scene, view: &View, seen: &Samples, solid: &Solid, levels: [f32; 2], dark: &mut [bool]) {
    let sun = scene.light.sun;
    let corners = solid.corners();
    let fallen = |level: f32| corners.map(|c| c + sun * (-(c.y - level).max(0.0) / sun.y));
    let [low, high] = levels.map(fallen);
    let window = if levels[0] < levels[1] { view.window(&[low, high].concat()) } else { view.window(&low) };
    let Some(window) = window else { return };
    let (bundle, toward) = (view.bundle(solid), solid.inward(sun));
    window.visit(view.width, |column, row, at| {
        if !dark[at] && is_ground(seen, at) {
            let ray = bundle.ray(view.slant(column, row));
            let origin = ray.origin + ray.direction * seen.depth[at];
            dark[at] = solid.entry(Ray { origin, direction: toward }).is_some();
        }
    });
}

/// Whether another thing stands between a thing and the sun.
fn is_hidden(scene: &Scene, number: usize, thing: &Thing) -> bool {
    let point = thing.at + vec3(0.0, 1.0, 0.0);
    let blocks = |solid: &Solid| {
        let ray = Ray { origin: solid.local(point), direction: solid.inward(scene.light.sun) };
        solid.entry(ray).is_some()
    };
    // A thing of two classes is numbered twice, side by side.
    let is_other = |solid: &&Solid| solid.thing.abs_diff(number) > 1;
    thing.at.z < FAR_M && scene.solids.iter().filter(is_other).any(blocks)
}

/// Darkens the ground around a footprint.
fn contact(scene: &Scene, view: &View, seen: &Samples, thing: &Thing, open: &mut [f32]) {
    let reach = thing.half[0].hypot(thing.half[1]) + CONTACT_M;
    let Vec3 { x, z, .. } = thing.at;
    let signs = [(-1.0, -1.0), (1.0, -1.0), (-1.0, 1.0), (1.0, 1.0)];
    let corner = |(across, along): (f32, f32)| {
        let z = z + along * reach;
        vec3(x + across * reach, scene.ground_height(z), z)
    };
    let Some(window) = view.window(&signs.map(corner)) else { return };
    window.visit(view.width, |column, row, at| {
        if is_ground(seen, at) {
            let place = view.position + view.direction(column, row) * seen.depth[at];
            let distance = thing.distance(place.x, place.z);
            if distance < CONTACT_M {
                open[at] *= 1.0 - 0.6 * (-4.0 * distance).exp();
            }
        }
    });
}

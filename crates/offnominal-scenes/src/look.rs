//! Which solid each sample of an image sees.

use crate::ray::Ray;
use crate::scene::{Floor, Scene};
use crate::solid::{Shape, Solid};
use crate::view::View;
use offnominal_core::vec3::Vec3;

/// What each sample sees.
#[derive(Debug, Clone)]
pub struct Samples {
    /// Depth in metres; infinite for the sky.
    pub depth: Vec<f32>,
    /// One more than the number of the solid; 0 for ground and sky.
    pub solid: Vec<u32>,
}

/// Finds the nearest solid, the ground or the sky for each sample.
pub fn look(scene: &Scene, view: &View) -> Samples {
    let mut seen = Samples { depth: ground(scene, view), solid: vec![0; view.width * view.height] };
    see(scene, view, &mut seen);
    seen
}

/// Finds the nearest solid for each sample of a camera under the ground, to which the ground is a window.
pub fn look_up(scene: &Scene, view: &View) -> Samples {
    let n = view.width * view.height;
    let mut seen = Samples { depth: vec![f32::INFINITY; n], solid: vec![0; n] };
    see(scene, view, &mut seen);
    seen
}

fn see(scene: &Scene, view: &View, seen: &mut Samples) {
    for (number, solid) in scene.solids.iter().enumerate() {
        let Some(window) = view.window(&solid.corners()) else { continue };
        let bundle = view.bundle(solid);
        window.visit(view.width, |column, row, at| {
            visit(seen, at, bundle.ray(view.slant(column, row)), solid, number);
        });
    }
}

#[inline(always)]
fn visit(seen: &mut Samples, at: usize, ray: Ray, solid: &Solid, number: usize) {
    let Some(depth) = solid.entry(ray).filter(|&t| t < seen.depth[at]) else { return };
    let local = ray.origin + ray.direction * depth;
    if !is_hole(solid, ray, local, number) {
        (seen.depth[at], seen.solid[at]) = (depth, number as u32 + 1);
    }
}

/// Whether a place on a solid shows what is behind it.
#[inline(always)]
pub fn is_hole(solid: &Solid, ray: Ray, local: Vec3, number: usize) -> bool {
    solid.material.is_open(local, solid.half, facing(solid.shape, ray.direction, local), number as u32)
}

/// How much a place faces the camera: 0 at the rim, where a ray just grazes the solid.
#[inline(always)]
fn facing(shape: Shape, d: Vec3, local: Vec3) -> f32 {
    match shape {
        Shape::Ellipsoid => -local.dot(d) / d.length(),
        // Boughs are ragged at their lower edge, too.
        Shape::Cone(_) => {
            let round = -(local.x * d.x + local.z * d.z) / (d.x * d.x + d.z * d.z).sqrt();
            round.min(0.8 * (local.y + 1.0))
        }
        _ => 0.6,
    }
}

/// Depth of the ground, which is the same along a row, as the ground climbs along the view alone.
fn ground(scene: &Scene, view: &View) -> Vec<f32> {
    let mut depth = vec![f32::INFINITY; view.width * view.height];
    for (row, line) in depth.chunks_exact_mut(view.width).enumerate() {
        if let Some(met) = ground_depth(&scene.floor, view.position.y, view.direction(0, row)) {
            line.fill(met);
        }
    }
    depth
}

/// Depth at which a ray from a height meets the ground.
fn ground_depth(floor: &Floor, height: f32, direction: Vec3) -> Option<f32> {
    let slope = direction.y / direction.z;
    match floor {
        Floor::Street(ground) => ground.profile().meeting(height, slope).map(|z| z / direction.z),
        Floor::Room(..) => (slope < -1e-4).then(|| -height / direction.y),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scene::Camera;

    #[test]
    fn the_ground_is_as_deep_as_geometry_says() {
        let floor = Floor::Room(crate::material::Material::Plain(Vec3::all(0.5)), crate::Class::Ignored);
        let view = View::new(Camera { height_m: 1.5, pitch: 0.0, focal: 1.0 }, 200, 100);
        let depth = |row| ground_depth(&floor, 1.5, view.direction(0, row));
        // The last row looks down by 49.5 of 200 units.
        assert!((depth(99).unwrap() - 1.5 * 200.0 / 49.5).abs() < 1e-3);
        assert_eq!(depth(10), None);
    }
}

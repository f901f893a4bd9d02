//! What each pixel sees: the depth buffer, and which solid won.

use super::camera::Camera;
use super::footprint::{self, Rect};
use super::solid::Solid;
use offnominal_core::vec3::Vec3;

/// The solid of a pixel that sees none.
pub const NOTHING: u32 = u32::MAX;

/// One entry per pixel, row by row.
#[derive(Debug, Default)]
pub struct Surfaces {
    pub depth: Vec<f32>,
    pub solid: Vec<u32>,
    pub normal: Vec<Vec3>,
    pub width: usize,
}

impl Surfaces {
    /// Finds the nearest opaque solid of every pixel.
    pub fn see(&mut self, camera: &Camera, solids: &[Solid]) {
        self.clear(camera);
        for (index, solid) in solids.iter().enumerate().filter(|(_, s)| s.is_opaque()) {
            footprint::of_solid(camera, solid).visit(self.width, |column, row, at| {
                let depth = solid.depth(column, row);
                if depth > camera.near && depth < self.depth[at] {
                    self.depth[at] = depth;
                    self.solid[at] = index as u32;
                }
            });
        }
        self.find_normals(camera, solids);
    }

    fn clear(&mut self, camera: &Camera) {
        let n = camera.width * camera.height;
        self.width = camera.width;
        refill(&mut self.depth, n, camera.far);
        refill(&mut self.solid, n, NOTHING);
        refill(&mut self.normal, n, Vec3::default());
    }

    fn find_normals(&mut self, camera: &Camera, solids: &[Solid]) {
        Rect::whole(camera).visit(self.width, |column, row, at| {
            if let Some(solid) = solids.get(self.solid[at] as usize) {
                self.normal[at] = solid.normal(column, row, self.depth[at]);
            }
        });
    }
}

/// Gives a buffer a length and one value everywhere; allocates only when it has to grow.
pub fn refill<T: Clone>(buffer: &mut Vec<T>, n: usize, value: T) {
    buffer.clear();
    buffer.resize(n, value);
}

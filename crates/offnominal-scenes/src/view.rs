//! From the environment to samples of the image, and which solid each sample sees.

use crate::scene::{Camera, Scene};
use crate::solid::{Ray, Shape, Solid};
use offnominal_core::vec3::{Vec3, vec3};
use std::ops::Range;

/// Nearer than this nothing is projected, in metres.
const NEAR_M: f32 = 0.3;

/// A camera over a grid of samples.
#[derive(Debug, Clone)]
pub struct View {
    /// Samples per row.
    pub width: usize,
    /// Rows.
    pub height: usize,
    /// Where the camera is.
    pub position: Vec3,
    forward: Vec3,
    up: Vec3,
    focal: f32,
}

/// Columns and rows of samples.
#[derive(Debug, Clone)]
pub struct Window {
    columns: Range<usize>,
    rows: Range<usize>,
}

impl Window {
    /// Visits every sample, row by row, with its index in an image of the given width.
    #[inline(always)]
    pub fn visit(self, width: usize, mut f: impl FnMut(usize, usize, usize)) {
        for row in self.rows {
            for column in self.columns.clone() {
                f(column, row, row * width + column);
            }
        }
    }
}

const RIGHT: Vec3 = vec3(1.0, 0.0, 0.0);

impl View {
    /// A camera for so many samples.
    pub fn new(camera: Camera, width: usize, height: usize) -> View {
        let (sin, cos) = camera.pitch.sin_cos();
        View {
            width,
            height,
            position: vec3(0.0, camera.height_m, 0.0),
            forward: vec3(0.0, sin, cos),
            up: vec3(0.0, cos, -sin),
            focal: camera.focal * width as f32,
        }
    }

    /// How far right and up of the middle a sample looks, per unit of depth.
    #[inline(always)]
    pub fn slant(&self, column: usize, row: usize) -> [f32; 2] {
        let (x, y) =
            (column as f32 + 0.5 - 0.5 * self.width as f32, 0.5 * self.height as f32 - row as f32 - 0.5);
        [x / self.focal, y / self.focal]
    }

    /// The ray of a sample; a multiple t of it is t metres deep.
    #[inline(always)]
    pub fn direction(&self, column: usize, row: usize) -> Vec3 {
        let [a, b] = self.slant(column, row);
        vec3(a, self.forward.y + b * self.up.y, self.forward.z + b * self.up.z)
    }

    /// The samples that may show any of some points; none if all are behind the camera.
    pub fn window(&self, points: &[Vec3]) -> Option<Window> {
        let (mut low, mut high) = ([f32::INFINITY; 2], [f32::NEG_INFINITY; 2]);
        let mut behind = 0;
        for &point in points {
            let offset = point - self.position;
            let depth = offset.dot(self.forward);
            if depth < NEAR_M {
                behind += 1;
                continue;
            }
            let at = [offset.x / depth, -offset.dot(self.up) / depth].map(|s| s * self.focal);
            (0..2).for_each(|i| (low[i], high[i]) = (low[i].min(at[i]), high[i].max(at[i])));
        }
        if behind == points.len() {
            return None;
        }
        if behind > 0 {
            // What reaches behind the camera may reach any edge.
            return Some(Window { columns: 0..self.width, rows: 0..self.height });
        }
        let range = |i: usize, size: usize| {
            let middle = 0.5 * size as f32;
            ((low[i] + middle - 0.5).floor().max(0.0) as usize).min(size)
                ..((high[i] + middle + 1.5).max(0.0) as usize).min(size)
        };
        let (columns, rows) = (range(0, self.width), range(1, self.height));
        (!columns.is_empty() && !rows.is_empty()).then_some(Window { columns, rows })
    }

    /// The rays of all samples in the space of a solid.
    pub fn bundle(&self, solid: &Solid) -> Bundle {
        let inward = |v| solid.inward(v);
        Bundle {
            origin: solid.local(self.position),
            forward: inward(self.forward),
            right: inward(RIGHT),
            up: inward(self.up),
        }
    }
}

/// Rays of the camera in the space of a solid: linear in the slant.
#[derive(Debug, Clone, Copy)]
pub struct Bundle {
    /// The camera.
    pub origin: Vec3,
    forward: Vec3,
    right: Vec3,
    up: Vec3,
}

impl Bundle {
    /// The ray of a sample.
    #[inline(always)]
    pub fn ray(&self, [a, b]: [f32; 2]) -> Ray {
        Ray { origin: self.origin, direction: self.forward + self.right * a + self.up * b }
    }
}

/// What each sample sees.
#[derive(Debug, Clone)]
pub struct Seen {
    /// Depth in metres; infinite for the sky.
    pub depth: Vec<f32>,
    /// One more than the number of the solid; 0 for ground and sky.
    pub solid: Vec<u32>,
}

/// Finds the nearest solid, the ground or the sky for each sample.
pub fn look(scene: &Scene, view: &View) -> Seen {
    let mut seen = Seen { depth: ground(view), solid: vec![0; view.width * view.height] };
    for (number, solid) in scene.solids.iter().enumerate() {
        let Some(window) = view.window(&solid.corners()) else { continue };
        let bundle = view.bundle(solid);
        window.visit(view.width, |column, row, at| {
            visit(&mut seen, at, bundle.ray(view.slant(column, row)), solid, number);
        });
    }
    seen
}

#[inline(always)]
fn visit(seen: &mut Seen, at: usize, ray: Ray, solid: &Solid, number: usize) {
    let Some(depth) = solid.entry(ray).filter(|&t| t < seen.depth[at]) else { return };
    let local = ray.origin + ray.direction * depth;
    if !is_hole(solid, ray, local, number) {
        (seen.depth[at], seen.solid[at]) = (depth, number as u32 + 1);
    }
}

#[inline(always)]
fn is_hole(solid: &Solid, ray: Ray, local: Vec3, number: usize) -> bool {
    let facing = if solid.shape == Shape::Ellipsoid {
        -local.dot(ray.direction) / ray.direction.length()
    } else {
        1.0
    };
    solid.material.is_open(local, solid.half, facing, number as u32)
}

/// Depth of the ground.
fn ground(view: &View) -> Vec<f32> {
    let mut depth = vec![f32::INFINITY; view.width * view.height];
    for row in 0..view.height {
        let fall = -view.direction(0, row).y;
        if fall > 1e-4 {
            depth[row * view.width..][..view.width].fill(view.position.y / fall);
        }
    }
    depth
}

#[cfg(test)]
mod tests {
    use super::*;

    fn view() -> View {
        View::new(Camera { height_m: 1.5, pitch: 0.1, focal: 1.0 }, 200, 100)
    }

    #[test]
    fn a_point_is_seen_by_the_sample_that_looks_at_it() {
        let view = view();
        for (column, row, depth) in [(3, 7, 5.0), (150, 80, 40.0), (100, 50, 1.0)] {
            let point = view.position + view.direction(column, row) * depth;
            let Window { columns, rows } = view.window(&[point]).unwrap();
            assert!(columns.contains(&column) && columns.len() <= 3, "{columns:?}");
            assert!(rows.contains(&row) && rows.len() <= 3, "{rows:?}");
        }
        assert!(
            view.window(&[vec3(0.0, 1.0, -5.0)]).is_none() && view.window(&[vec3(900.0, 1.0, 5.0)]).is_none()
        );
    }

    #[test]
    fn the_ground_is_as_deep_as_geometry_says() {
        let view = View::new(Camera { height_m: 1.5, pitch: 0.0, focal: 1.0 }, 200, 100);
        let depth = ground(&view);
        // The last row looks down by 49.5 of 200 units.
        assert!((depth[99 * 200] - 1.5 * 200.0 / 49.5).abs() < 1e-3);
        assert_eq!(depth[10 * 200], f32::INFINITY);
    }
}

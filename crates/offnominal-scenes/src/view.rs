//! From the environment to samples of the image.

use crate::ray::Ray;
use crate::scene::Camera;
use crate::solid::Solid;
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

    /// The same camera seen in a mirror that lies on level ground: its sample shows what the mirror shows there.
    pub fn mirrored(&self) -> View {
        let flip = |v: Vec3| vec3(v.x, -v.y, v.z);
        View { position: flip(self.position), forward: flip(self.forward), up: flip(self.up), ..self.clone() }
    }

    /// Metres from sample to sample, for a metre of depth.
    pub fn grain(&self) -> f32 {
        1.0 / self.focal
    }

    /// Depth of a point, and how far right and down of the first sample it is seen.
    pub fn project(&self, point: Vec3) -> [f32; 3] {
        let offset = point - self.position;
        let depth = offset.dot(self.forward);
        let scale = self.focal / depth;
        let (x, y) = (offset.x * scale, -offset.dot(self.up) * scale);
        [depth, x + 0.5 * self.width as f32 - 0.5, y + 0.5 * self.height as f32 - 0.5]
    }

    /// The samples that may show any point of the convex hull of some points; none if all are behind the camera.
    pub fn window(&self, points: &[Vec3]) -> Option<Window> {
        let (mut low, mut high) = ([f32::INFINITY; 2], [f32::NEG_INFINITY; 2]);
        let mut include = |point: Vec3| {
            let [_, x, y] = self.project(point);
            low = [low[0].min(x), low[1].min(y)];
            high = [high[0].max(x), high[1].max(y)];
        };
        let depth = |p: Vec3| (p - self.position).dot(self.forward) - NEAR_M;
        for (i, &point) in points.iter().enumerate() {
            let ahead = depth(point);
            if ahead >= 0.0 {
                include(point);
            }
            // Lines to what is on the other side are cut where they are just ahead of the camera.
            for &other in points[i + 1..].iter().filter(|&&other| (depth(other) >= 0.0) != (ahead >= 0.0)) {
                include(point.lerp(other, ahead / (ahead - depth(other))));
            }
        }
        self.clipped(low, high)
    }

    /// The samples between two places.
    fn clipped(&self, low: [f32; 2], high: [f32; 2]) -> Option<Window> {
        let range = |i: usize, size: usize| {
            (low[i].floor().max(0.0) as usize).min(size)..((high[i] + 2.0).max(0.0) as usize).min(size)
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
    fn what_reaches_behind_the_camera_is_cut_there() {
        // A wall on the right that begins behind the camera fills the right edge, and ends in the picture.
        let wall = [-9.0, 60.0].into_iter().flat_map(|z| [-1.0, 4.0].map(|y| vec3(4.0, y, z)));
        let Window { columns, .. } = view().window(&wall.collect::<Vec<_>>()).unwrap();
        assert!(columns.end == 200 && (110..120).contains(&columns.start), "{columns:?}");
    }

    #[test]
    fn a_mirror_shows_a_point_where_its_image_is() {
        let view = view();
        let point = vec3(1.0, 2.0, 20.0);
        let [a, b] = [view.mirrored().project(point), view.project(vec3(1.0, -2.0, 20.0))];
        assert!(a.iter().zip(b).all(|(a, b)| (a - b).abs() < 1e-3), "{a:?} {b:?}");
    }
}

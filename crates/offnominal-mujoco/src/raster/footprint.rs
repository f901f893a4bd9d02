//! Which pixels a solid, or its shadow, can touch. Never too few; for capsules and spheres hardly too many.

use super::camera::Camera;
use super::scene::GeomType;
use super::solid::Solid;
use offnominal_core::vec3::{Vec3, vec3};

/// A rectangle of pixels; empty if an end does not exceed its start.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rect {
    pub columns: (usize, usize),
    pub rows: (usize, usize),
}

impl Rect {
    pub const EMPTY: Rect = Rect { columns: (usize::MAX, 0), rows: (usize::MAX, 0) };

    pub fn whole(camera: &Camera) -> Rect {
        Rect { columns: (0, camera.width), rows: (0, camera.height) }
    }

    /// The smallest rectangle that holds both.
    pub fn union(self, other: Rect) -> Rect {
        Rect {
            columns: (self.columns.0.min(other.columns.0), self.columns.1.max(other.columns.1)),
            rows: (self.rows.0.min(other.rows.0), self.rows.1.max(other.rows.1)),
        }
    }

    /// Visits every pixel, row by row, with its index in an image of the given width.
    pub fn visit(self, width: usize, mut f: impl FnMut(usize, usize, usize)) {
        for row in self.rows.0..self.rows.1 {
            for column in self.columns.0..self.columns.1 {
                f(column, row, row * width + column);
            }
        }
    }

    fn spanning(camera: &Camera, left: f32, right: f32, bottom: f32, top: f32) -> Rect {
        Rect {
            columns: covered(camera.column(left), camera.column(right), camera.width),
            rows: covered(camera.row(top), camera.row(bottom), camera.height),
        }
    }
}

/// The pixels between two edges, with one to spare on each side.
fn covered(low: f32, high: f32, n: usize) -> (usize, usize) {
    let limit = n as f32;
    ((low - 1.0).clamp(0.0, limit) as usize, (high + 2.0).clamp(0.0, limit) as usize)
}

/// The pixels in which a solid can be seen.
pub fn of_solid(camera: &Camera, solid: &Solid) -> Rect {
    match solid.kind {
        GeomType::Plane => Rect::whole(camera),
        GeomType::Sphere | GeomType::Capsule => of_surroundings(camera, solid, 1.0),
        GeomType::Ellipsoid | GeomType::Cylinder | GeomType::Box => of_box(camera, solid),
    }
}

/// The pixels within some multiple of a solid's core radius from its core.
pub fn of_surroundings(camera: &Camera, solid: &Solid, multiple: f32) -> Rect {
    let (half, radius) = solid.core();
    hull(camera, &[solid.centre - half, solid.centre + half], radius * multiple)
}

/// The pixels that show points in the sweep of a solid along a vector: its shadow cannot fall elsewhere.
pub fn of_sweep(camera: &Camera, solid: &Solid, along: Vec3) -> Rect {
    let (half, radius) = match solid.kind {
        GeomType::Sphere | GeomType::Capsule => solid.core(),
        _ => (Vec3::default(), solid.radius()),
    };
    let (a, b) = (solid.centre - half, solid.centre + half);
    hull(camera, &[a, b, a + along, b + along], radius)
}

/// The pixels of the convex hull of spheres of one radius.
fn hull(camera: &Camera, centres: &[Vec3], radius: f32) -> Rect {
    let seen = |centre: &Vec3| camera.camera_from_world(*centre);
    // Comparisons are written so that a number lost to overflow falls to the safe side.
    if centres.iter().all(|c| seen(c).z + radius < camera.near) {
        return Rect::EMPTY;
    }
    let are_ahead = centres.iter().all(|c| seen(c).z - radius > camera.near);
    if !are_ahead {
        return Rect::whole(camera);
    }
    centres.iter().map(|c| of_sphere(camera, seen(c), radius)).fold(Rect::EMPTY, Rect::union)
}

/// The pixels of a sphere before the camera; exact in each direction.
fn of_sphere(camera: &Camera, seen: Vec3, radius: f32) -> Rect {
    let (left, right) = tangents(seen.x, seen.z, radius);
    let (bottom, top) = tangents(seen.y, seen.z, radius);
    Rect::spanning(camera, left, right, bottom, top)
}

/// Slopes of the two lines from the camera that touch a circle.
fn tangents(side: f32, ahead: f32, radius: f32) -> (f32, f32) {
    let reach = (side * side + ahead * ahead - radius * radius).max(0.0).sqrt();
    let low = (side * reach - radius * ahead) / (ahead * reach + radius * side);
    let high = (side * reach + radius * ahead) / (ahead * reach - radius * side);
    (low, high)
}

fn of_box(camera: &Camera, solid: &Solid) -> Rect {
    let (mut low, mut high) = ((f32::INFINITY, f32::INFINITY), (f32::NEG_INFINITY, f32::NEG_INFINITY));
    for corner in corners(solid.extent()) {
        let seen = camera.camera_from_world(solid.centre + solid.world_from_local(corner));
        let is_ahead = seen.z > camera.near;
        if !is_ahead {
            return hull(camera, &[solid.centre], solid.radius());
        }
        let (x, y) = (seen.x / seen.z, seen.y / seen.z);
        low = (low.0.min(x), low.1.min(y));
        high = (high.0.max(x), high.1.max(y));
    }
    Rect::spanning(camera, low.0, high.0, low.1, high.1)
}

fn corners(half: Vec3) -> [Vec3; 8] {
    let sign = |i: usize, bit: usize| if i >> bit & 1 == 1 { 1.0 } else { -1.0 };
    std::array::from_fn(|i| half.times(vec3(sign(i, 0), sign(i, 1), sign(i, 2))))
}

//! A shape made ready for ray casting.

use super::camera::Rays;
use super::hit;
use super::scene::{GeomType, Shape, Texture};
use offnominal_core::vec3::{Vec3, vec3};

/// A checked shape with its frame, its linear colours and its bounds.
#[derive(Debug, Clone, Copy)]
pub struct Solid {
    pub kind: GeomType,
    pub size: Vec3,
    pub centre: Vec3,
    axes: [Vec3; 3],
    pub albedo: Vec3,
    pub opacity: f32,
    pub class: u8,
    /// The other colour, linear, and squares per metre.
    pub checker: Option<(Vec3, f32)>,
    /// The camera's rays in the solid's own frame; see [`Solid::aim`].
    pub rays: Rays,
}

impl Solid {
    /// The solid of a shape; `None` if an entry is not finite or nothing of it could be seen.
    pub fn new(shape: &Shape) -> Option<Solid> {
        let r = &shape.rotation;
        let [red, green, blue, opacity] = shape.rgba;
        let is_finite =
            [&shape.size[..], &shape.position, r, &shape.rgba].iter().all(|part| all_finite(part));
        let is_seen = opacity > 0.0 && has_extent(shape.kind, shape.size);
        (is_finite && is_seen).then(|| Solid {
            kind: shape.kind,
            size: shape.size.into(),
            centre: shape.position.into(),
            axes: [vec3(r[0], r[3], r[6]), vec3(r[1], r[4], r[7]), vec3(r[2], r[5], r[8])],
            albedo: linear([red, green, blue]),
            opacity: opacity.min(1.0),
            class: shape.class,
            checker: checker(shape.texture),
            rays: Rays::default(),
        })
    }

    pub fn is_opaque(&self) -> bool {
        self.opacity >= 1.0
    }

    pub fn is_plane(&self) -> bool {
        self.kind == GeomType::Plane
    }

    pub fn local_from_world(&self, direction: Vec3) -> Vec3 {
        vec3(self.axes[0].dot(direction), self.axes[1].dot(direction), self.axes[2].dot(direction))
    }

    pub fn world_from_local(&self, direction: Vec3) -> Vec3 {
        self.axes[0] * direction.x + self.axes[1] * direction.y + self.axes[2] * direction.z
    }

    /// Takes the camera's rays into the solid's own frame; what a pixel sees of the solid is asked afterwards.
    pub fn aim(&mut self, rays: &Rays) {
        self.rays =
            rays.mapped(self.local_from_world(rays.origin - self.centre), |d| self.local_from_world(d));
    }

    /// Depth at which a pixel's ray enters; infinite if it never does.
    pub fn depth(&self, column: usize, row: usize) -> f32 {
        self.entry(self.rays.origin, self.rays.direction(column, row))
    }

    /// The ray parameter at which a ray, in the solid's own frame, enters; infinite if it never does.
    pub fn entry(&self, origin: Vec3, direction: Vec3) -> f32 {
        hit::entry(self.kind, self.size, origin, direction)
    }

    /// The normal in the world where a pixel's ray enters.
    pub fn normal(&self, column: usize, row: usize, depth: f32) -> Vec3 {
        if self.is_plane() {
            return self.axes[2];
        }
        self.world_from_local(hit::normal(self.kind, self.size, self.rays.point(column, row, depth)))
    }

    /// Half the straight core of the solid, in the world, and the radius around it that surely is solid: the core of
    /// a capsule is its axis, that of a sphere its centre.
    pub fn core(&self) -> (Vec3, f32) {
        let size = self.extent();
        let radius = size.smallest();
        let along = self.axes[longest(size)];
        match self.kind {
            GeomType::Capsule => (self.axes[2] * self.size.z, self.size.x),
            _ => (along * (size.largest() - radius), radius),
        }
    }

    /// Half extents of the box around the solid, in its own frame.
    pub fn extent(&self) -> Vec3 {
        let (r, s) = (self.size.x, self.size);
        match self.kind {
            GeomType::Plane | GeomType::Ellipsoid | GeomType::Box => s,
            GeomType::Sphere => Vec3::all(r),
            GeomType::Capsule => vec3(r, r, s.z + r),
            GeomType::Cylinder => vec3(r, r, s.z),
        }
    }

    /// Radius of a sphere around the centre that holds the whole solid.
    pub fn radius(&self) -> f32 {
        match self.kind {
            GeomType::Sphere | GeomType::Capsule | GeomType::Ellipsoid => self.extent().largest(),
            GeomType::Plane | GeomType::Cylinder | GeomType::Box => self.extent().length(),
        }
    }
}

/// The linear colour of a displayed one. The square stands for the display's curve; its inverse is a square root.
pub fn linear(rgb: [f32; 3]) -> Vec3 {
    Vec3::from(rgb).map(|c| c.clamp(0.0, 1.0) * c.clamp(0.0, 1.0))
}

fn checker(texture: Texture) -> Option<(Vec3, f32)> {
    match texture {
        Texture::Checker { rgb, side_m } if side_m > 1e-6 && side_m.is_finite() => {
            Some((linear(rgb), 1.0 / side_m))
        }
        _ => None,
    }
}

fn has_extent(kind: GeomType, size: [f32; 3]) -> bool {
    match kind {
        GeomType::Plane => true,
        GeomType::Sphere => size[0] > 0.0,
        GeomType::Capsule => size[0] > 0.0 && size[2] >= 0.0,
        GeomType::Cylinder => size[0] > 0.0 && size[2] > 0.0,
        GeomType::Ellipsoid | GeomType::Box => size.iter().all(|&s| s > 0.0),
    }
}

fn longest(size: Vec3) -> usize {
    (0..3).max_by(|&a, &b| size[a].total_cmp(&size[b])).unwrap_or(0)
}

fn all_finite(numbers: &[f32]) -> bool {
    numbers.iter().all(|x| x.is_finite())
}

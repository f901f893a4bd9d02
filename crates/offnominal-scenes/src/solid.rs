//! Solids: boxes that may taper, ellipsoids and cylinders, each met by a ray exactly.
//!
//! A solid lives in its own space, where it fills [−1, 1]³: x′ = Aᵀ(x − c) / h, with the axes A, the middle c and the
//! half sizes h. A ray stays a ray there, with the same parameter t.

use crate::material::Material;
use offnominal_core::vec3::{Vec3, vec3};

/// The form within [−1, 1]³.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Shape {
    /// A box whose sides lean inward: at the top, x is narrower by the first share and z by the second.
    Box(f32, f32),
    /// A ball.
    Ellipsoid,
    /// Round about y.
    Cylinder,
}

/// A solid in the environment.
#[derive(Debug, Clone, PartialEq)]
pub struct Solid {
    /// Its form.
    pub shape: Shape,
    /// Its middle.
    pub centre: Vec3,
    /// Half its sizes along its axes.
    pub half: Vec3,
    /// Its axes in the environment.
    pub axes: [Vec3; 3],
    /// What it is made of.
    pub material: Material,
    /// The thing that it belongs to.
    pub thing: usize,
}

/// A ray in the space of a solid.
#[derive(Debug, Clone, Copy)]
pub struct Ray {
    /// Where it begins.
    pub origin: Vec3,
    /// Where it goes; any length.
    pub direction: Vec3,
}

/// Axes turned by yaw about y (to the right), after pitch about x and roll about z.
pub fn turned(yaw: f32, pitch: f32, roll: f32) -> [Vec3; 3] {
    let spin = |v: Vec3| {
        let (s, c) = roll.sin_cos();
        let v = vec3(c * v.x - s * v.y, s * v.x + c * v.y, v.z);
        let (s, c) = pitch.sin_cos();
        let v = vec3(v.x, c * v.y + s * v.z, c * v.z - s * v.y);
        let (s, c) = yaw.sin_cos();
        vec3(c * v.x + s * v.z, v.y, c * v.z - s * v.x)
    };
    [vec3(1.0, 0.0, 0.0), vec3(0.0, 1.0, 0.0), vec3(0.0, 0.0, 1.0)].map(spin)
}

impl Solid {
    /// A direction in the solid's space.
    #[inline(always)]
    pub fn inward(&self, direction: Vec3) -> Vec3 {
        Vec3::from(std::array::from_fn(|i| self.axes[i].dot(direction) / self.half[i]))
    }

    /// A point in the solid's space.
    #[inline(always)]
    pub fn local(&self, point: Vec3) -> Vec3 {
        self.inward(point - self.centre)
    }

    /// Where a ray of the solid's space enters it, if it does so ahead of its beginning.
    #[inline(always)]
    pub fn entry(&self, ray: Ray) -> Option<f32> {
        match self.shape {
            Shape::Box(0.0, 0.0) => slabs(ray),
            Shape::Box(x, z) => tapered(ray, x, z),
            Shape::Ellipsoid => ball(ray),
            Shape::Cylinder => cylinder(ray),
        }
    }

    /// The outward unit normal at a point of the surface, given in the solid's space.
    pub fn normal(&self, local: Vec3) -> Vec3 {
        let gradient = match self.shape {
            Shape::Box(x, z) => steepest(local, x, z),
            Shape::Ellipsoid => local,
            Shape::Cylinder if local.y.abs() > 0.999 => vec3(0.0, local.y, 0.0),
            Shape::Cylinder => vec3(local.x, 0.0, local.z),
        };
        let parts = (0..3).map(|i| self.axes[i] * (gradient[i] / self.half[i]));
        parts.fold(Vec3::default(), |sum, part| sum + part).unit()
    }

    /// The eight corners of the box around it.
    pub fn corners(&self) -> [Vec3; 8] {
        std::array::from_fn(|k| {
            let sign = |bit: usize| if k >> bit & 1 == 0 { -1.0 } else { 1.0 };
            let along = |i: usize| self.axes[i] * (sign(i) * self.half[i]);
            (self.centre + along(0)) + (along(1) + along(2))
        })
    }
}

#[inline(always)]
fn slabs(Ray { origin, direction }: Ray) -> Option<f32> {
    let (mut enter, mut leave) = (0.0_f32, f32::INFINITY);
    for i in 0..3 {
        let inverse = 1.0 / direction[i];
        let (a, b) = ((-1.0 - origin[i]) * inverse, (1.0 - origin[i]) * inverse);
        enter = enter.max(a.min(b));
        leave = leave.min(a.max(b));
    }
    (enter < leave && enter > 0.0).then_some(enter)
}

/// The six planes n·p ≤ d of a tapering box.
fn planes(x: f32, z: f32) -> [(Vec3, f32); 6] {
    let (lean_x, lean_z) = (0.5 * x, 0.5 * z);
    [
        (vec3(1.0, lean_x, 0.0), 1.0 - lean_x),
        (vec3(-1.0, lean_x, 0.0), 1.0 - lean_x),
        (vec3(0.0, 1.0, 0.0), 1.0),
        (vec3(0.0, -1.0, 0.0), 1.0),
        (vec3(0.0, lean_z, 1.0), 1.0 - lean_z),
        (vec3(0.0, lean_z, -1.0), 1.0 - lean_z),
    ]
}

fn tapered(ray: Ray, x: f32, z: f32) -> Option<f32> {
    let (mut enter, mut leave) = (0.0_f32, f32::INFINITY);
    for (n, d) in planes(x, z) {
        let (rate, slack) = (n.dot(ray.direction), d - n.dot(ray.origin));
        let t = slack / rate;
        if rate < 0.0 {
            enter = enter.max(t);
        } else if rate > 0.0 {
            leave = leave.min(t);
        } else if slack < 0.0 {
            return None;
        }
    }
    (enter < leave && enter > 0.0).then_some(enter)
}

/// The normal of the plane that a point is nearest to.
fn steepest(local: Vec3, x: f32, z: f32) -> Vec3 {
    let slack = |(n, d): &(Vec3, f32)| d - n.dot(local);
    planes(x, z).into_iter().min_by(|a, b| slack(a).total_cmp(&slack(b))).map_or(Vec3::default(), |(n, _)| n)
}

#[inline(always)]
fn ball(Ray { origin, direction }: Ray) -> Option<f32> {
    let (a, b, c) = (direction.dot(direction), origin.dot(direction), origin.dot(origin) - 1.0);
    let rest = b * b - a * c;
    if rest <= 0.0 {
        return None;
    }
    let t = (-b - rest.sqrt()) / a;
    (t > 0.0).then_some(t)
}

#[inline(always)]
fn cylinder(Ray { origin: o, direction: d }: Ray) -> Option<f32> {
    let (a, b, c) = (d.x * d.x + d.z * d.z, o.x * d.x + o.z * d.z, o.x * o.x + o.z * o.z - 1.0);
    let rest = b * b - a * c;
    if rest <= 0.0 {
        return None;
    }
    let (root, inverse) = (rest.sqrt(), 1.0 / d.y);
    let (top, low) = ((1.0 - o.y) * inverse, (-1.0 - o.y) * inverse);
    let enter = ((-b - root) / a).max(top.min(low));
    let leave = ((-b + root) / a).min(top.max(low));
    (enter < leave && enter > 0.0).then_some(enter)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn solid(shape: Shape) -> Solid {
        let material = Material::Plain(Vec3::all(0.5));
        Solid {
            shape,
            centre: vec3(1.0, 2.0, 10.0),
            half: vec3(1.0, 2.0, 3.0),
            axes: turned(0.0, 0.0, 0.0),
            material,
            thing: 0,
        }
    }

    #[track_caller]
    fn meets(shape: Shape, origin: [f32; 3], direction: [f32; 3], want: Option<f32>) {
        let solid = solid(shape);
        let found = solid
            .entry(Ray { origin: solid.local(origin.into()), direction: solid.inward(direction.into()) });
        assert!(
            found.zip(want).map_or(found == want, |(f, w)| (f - w).abs() < 1e-4),
            "{shape:?}: {found:?}, expected {want:?}"
        );
    }

    #[test]
    fn rays_meet_solids_where_they_are() {
        for shape in [Shape::Box(0.0, 0.0), Shape::Ellipsoid, Shape::Box(1e-7, 0.0)] {
            meets(shape, [1.0, 2.0, 0.0], [0.0, 0.0, 1.0], Some(7.0));
            meets(shape, [1.0, 2.0, 0.0], [0.0, 0.0, -1.0], None);
            meets(shape, [2.5, 2.0, 0.0], [0.0, 0.0, 1.0], None);
            meets(shape, [1.0, 20.0, 10.0], [0.0, -2.0, 0.0], Some(8.0));
        }
        meets(Shape::Cylinder, [1.0, 2.0, 0.0], [0.0, 0.0, 1.0], Some(7.0));
        meets(Shape::Cylinder, [1.0, 20.0, 10.0], [0.0, -2.0, 1e-6], Some(8.0));
        // Half way up, a side that leans in by all its width is half as far out.
        meets(Shape::Box(0.0, 1.0), [1.0, 2.0, 0.0], [0.0, 0.0, 1.0], Some(8.5));
    }

    #[test]
    fn normals_point_outward_and_turn_with_the_solid() {
        let mut body = solid(Shape::Box(0.0, 0.0));
        assert_eq!(body.normal(vec3(0.2, 0.9, -1.0)), vec3(0.0, 0.0, -1.0));
        body.axes = turned(std::f32::consts::FRAC_PI_2, 0.0, 0.0);
        let n = body.normal(vec3(0.2, 0.9, -1.0));
        assert!((n.x + 1.0).abs() < 1e-6, "{n:?}");
    }
}

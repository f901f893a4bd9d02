//! Solids: boxes, boxes that lean inward, ellipsoids and cones, each met by a ray exactly.
//!
//! A solid lives in its own space, where it fills [−1, 1]³: x′ = Aᵀ(x − c) / h, with the axes A, the middle c and the
//! half sizes h. A ray stays a ray there, with the same parameter t.

use crate::hull::{self, Lean};
use crate::material::Material;
use crate::ray::Ray;
use offnominal_core::vec3::{Vec3, vec3};

/// The form within [−1, 1]³.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Shape {
    /// A box.
    Box,
    /// A box whose sides lean.
    Hull(Lean),
    /// A ball.
    Ellipsoid,
    /// Round about y; the radius at the top over that at the bottom. 1 is a cylinder.
    Cone(f32),
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

/// The vector that has the given coordinates along axes.
pub fn along(axes: &[Vec3; 3], coordinates: Vec3) -> Vec3 {
    axes[0] * coordinates.x + axes[1] * coordinates.y + axes[2] * coordinates.z
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
            Shape::Box => slabs(ray),
            Shape::Hull(lean) => hull::entry(ray, lean),
            Shape::Ellipsoid => ball(ray),
            Shape::Cone(top) => cone(ray, top),
        }
    }

    /// The outward unit normal at a point of the surface, given in the solid's space, and the axis it is nearest to.
    pub fn normal(&self, local: Vec3) -> (Vec3, usize) {
        let gradient = match self.shape {
            Shape::Box => steepest(local),
            Shape::Hull(lean) => hull::normal(local, lean),
            Shape::Ellipsoid => local,
            Shape::Cone(_) if local.y.abs() > 0.999 => vec3(0.0, local.y, 0.0),
            Shape::Cone(top) => {
                let [middle, rise] = radii(top);
                vec3(local.x, -rise * (middle + rise * local.y), local.z)
            }
        };
        let scaled = Vec3::from(std::array::from_fn(|i| gradient[i] / self.half[i]));
        (along(&self.axes, scaled).unit(), largest_axis(gradient))
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

fn largest_axis(v: Vec3) -> usize {
    if v.y.abs() > v.x.abs().max(v.z.abs()) {
        1
    } else if v.x.abs() > v.z.abs() {
        0
    } else {
        2
    }
}

/// The normal of the side of a box that a point is on.
fn steepest(local: Vec3) -> Vec3 {
    let axis = largest_axis(local);
    Vec3::from(std::array::from_fn(|i| if i == axis { local[i].signum() } else { 0.0 }))
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

/// Radius in the middle of a cone and its change per unit of height; the wider end has radius 1.
#[inline(always)]
fn radii(top: f32) -> [f32; 2] {
    let (low, high) = if top <= 1.0 { (1.0, top) } else { (1.0 / top, 1.0) };
    [0.5 * (low + high), 0.5 * (high - low)]
}

/// The ray is in the cone where |xz|² < r(y)² and |y| < 1.
#[inline(always)]
fn cone(Ray { origin: o, direction: d }: Ray, top: f32) -> Option<f32> {
    let [middle, rise] = radii(top);
    let (r, dr) = (middle + rise * o.y, rise * d.y);
    let a = d.x * d.x + d.z * d.z - dr * dr;
    let b = o.x * d.x + o.z * d.z - r * dr;
    let c = o.x * o.x + o.z * o.z - r * r;
    let rest = b * b - a * c;
    if rest <= 0.0 && a > 0.0 {
        return None;
    }
    let (root, inverse) = (rest.max(0.0).sqrt(), 1.0 / d.y);
    let (ends, roots) = ([(1.0 - o.y) * inverse, (-1.0 - o.y) * inverse], [(-b - root) / a, (-b + root) / a]);
    let (enter, leave) = (ends[0].min(ends[1]), ends[0].max(ends[1]));
    let (first, last) = (roots[0].min(roots[1]), roots[0].max(roots[1]));
    let (enter, leave) = if a > 0.0 {
        (enter.max(first), leave.min(last))
    } else if enter < first {
        // Steeper than the cone: the ray is inside before the first meeting or after the last one.
        (enter, leave.min(first))
    } else {
        (enter.max(last), leave)
    };
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
        for shape in [Shape::Box, Shape::Ellipsoid, Shape::Hull(Lean::even(0.0))] {
            meets(shape, [1.0, 2.0, 0.0], [0.0, 1e-7, 1.0], Some(7.0));
            meets(shape, [1.0, 2.0, 0.0], [0.0, 1e-7, -1.0], None);
            meets(shape, [2.5, 2.0, 0.0], [0.0, 1e-7, 1.0], None);
            meets(shape, [1.0, 20.0, 10.0], [0.0, -2.0, 1e-7], Some(8.0));
        }
        for top in [1.0, 0.999, 1.001] {
            meets(Shape::Cone(1.0), [1.0, 2.0, 0.0], [0.0, 0.0, 1.0], Some(7.0));
            meets(Shape::Cone(top), [1.0, 20.0, 10.0], [0.0, -2.0, 1e-6], Some(8.0));
        }
        // Half way up a cone that ends in a point, the radius is half of that at the bottom.
        meets(Shape::Cone(0.0), [1.0, 2.0, 0.0], [0.0, 0.0, 1.0], Some(8.5));
        meets(Shape::Cone(0.0), [1.5, 20.0, 10.0], [0.0, -2.0, 1e-6], Some(9.0));
        meets(Shape::Cone(0.0), [1.0, -10.0, 10.0], [0.0, 1.0, 1e-6], Some(10.0));
    }

    #[test]
    fn normals_point_outward_and_turn_with_the_solid() {
        let mut body = solid(Shape::Box);
        assert_eq!(body.normal(vec3(0.2, 0.9, -1.0)), (vec3(0.0, 0.0, -1.0), 2));
        body.axes = turned(std::f32::consts::FRAC_PI_2, 0.0, 0.0);
        let (n, axis) = body.normal(vec3(0.2, 0.9, -1.0));
        assert!((n.x + 1.0).abs() < 1e-6 && axis == 2, "{n:?}");
        let (n, _) = Solid { half: Vec3::all(1.0), ..solid(Shape::Cone(0.0)) }.normal(vec3(0.5, 0.0, 0.0));
        assert!((n.x - 0.8_f32.sqrt()).abs() < 1e-6 && (n.y - 0.2_f32.sqrt()).abs() < 1e-6, "{n:?}");
    }
}

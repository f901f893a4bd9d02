//! Where a ray enters a solid, and the normal there; both in the solid's own frame.
//!
//! Rays are first moved to their closest approach to the centre, which keeps the quadratics accurate in `f32` however
//! far away the camera is. Only entries count: a solid is invisible from its inside.

use super::scene::GeomType;
use offnominal_core::vec3::{Vec3, vec3};

/// The ray parameter at which a ray enters the solid; infinite if it never does. It may be negative.
pub fn entry(kind: GeomType, size: Vec3, origin: Vec3, direction: Vec3) -> f32 {
    if kind == GeomType::Plane {
        return plane(size, origin, direction);
    }
    let closest = -origin.dot(direction) / direction.dot(direction);
    let o = origin + direction * closest;
    match kind {
        GeomType::Plane => f32::INFINITY,
        GeomType::Sphere => closest + sphere(size.x, o, direction),
        GeomType::Capsule => closest + capsule(size.x, size.z, o, direction),
        GeomType::Ellipsoid => closest + sphere(1.0, divide(o, size), divide(direction, size)),
        GeomType::Cylinder => closest + cylinder(size.x, size.z, o, direction),
        GeomType::Box => closest + slabs(size, o, direction),
    }
}

/// The outward unit normal at a point of the surface.
pub fn normal(kind: GeomType, size: Vec3, p: Vec3) -> Vec3 {
    match kind {
        GeomType::Plane => vec3(0.0, 0.0, 1.0),
        GeomType::Sphere => p.unit(),
        GeomType::Capsule => vec3(p.x, p.y, p.z - p.z.clamp(-size.z, size.z)).unit(),
        GeomType::Ellipsoid => divide(divide(p, size), size).unit(),
        GeomType::Cylinder => cylinder_normal(size, p),
        GeomType::Box => box_normal(size, p),
    }
}

fn divide(v: Vec3, by: Vec3) -> Vec3 {
    vec3(v.x / by.x, v.y / by.y, v.z / by.z)
}

/// The smaller root of a t² + 2 b t + c = 0; infinite if there is none.
fn first_root(a: f32, b: f32, c: f32) -> f32 {
    let discriminant = b * b - a * c;
    if discriminant >= 0.0 && a > 0.0 { (-b - discriminant.sqrt()) / a } else { f32::INFINITY }
}

fn plane(size: Vec3, o: Vec3, d: Vec3) -> f32 {
    if o.z <= 0.0 || d.z >= 0.0 {
        return f32::INFINITY;
    }
    let t = -o.z / d.z;
    let p = o + d * t;
    let is_inside = (size.x <= 0.0 || p.x.abs() <= size.x) && (size.y <= 0.0 || p.y.abs() <= size.y);
    if is_inside { t } else { f32::INFINITY }
}

fn sphere(radius: f32, o: Vec3, d: Vec3) -> f32 {
    first_root(d.dot(d), o.dot(d), o.dot(o) - radius * radius)
}

/// Where a ray enters the infinite cylinder around z; infinite if it passes by, −∞ if it runs along inside.
fn tube(radius: f32, o: Vec3, d: Vec3) -> f32 {
    let (a, b, c) = (d.x * d.x + d.y * d.y, o.x * d.x + o.y * d.y, o.x * o.x + o.y * o.y - radius * radius);
    match a > 1e-12 * d.dot(d) {
        true => first_root(a, b, c),
        false if c <= 0.0 => f32::NEG_INFINITY,
        false => f32::INFINITY,
    }
}

/// The end (−1 or 1) through which a ray comes in if it enters the tube beyond the solid's length.
fn facing_end(t: f32, o: Vec3, d: Vec3) -> f32 {
    if t.is_finite() { (o.z + t * d.z).signum() } else { -d.z.signum() }
}

fn capsule(radius: f32, half_length: f32, o: Vec3, d: Vec3) -> f32 {
    let t = tube(radius, o, d);
    if t == f32::INFINITY || (o.z + t * d.z).abs() <= half_length {
        return t;
    }
    let cap = vec3(0.0, 0.0, half_length * facing_end(t, o, d));
    sphere(radius, o - cap, d)
}

fn cylinder(radius: f32, half_length: f32, o: Vec3, d: Vec3) -> f32 {
    let t = tube(radius, o, d);
    if t == f32::INFINITY || (o.z + t * d.z).abs() <= half_length {
        return t;
    }
    let end = facing_end(t, o, d);
    let t = (half_length * end - o.z) / d.z;
    let (x, y) = (o.x + t * d.x, o.y + t * d.y);
    // A ray that leaves the facing end behind, sideways, must not come back in through it.
    if d.z * end < 0.0 && x * x + y * y <= radius * radius { t } else { f32::INFINITY }
}

fn slabs(half: Vec3, o: Vec3, d: Vec3) -> f32 {
    let (x, y, z) = (slab(half.x, o.x, d.x), slab(half.y, o.y, d.y), slab(half.z, o.z, d.z));
    let enter = x.0.max(y.0).max(z.0);
    let leave = x.1.min(y.1).min(z.1);
    if enter <= leave { enter } else { f32::INFINITY }
}

fn slab(half: f32, o: f32, d: f32) -> (f32, f32) {
    match d == 0.0 {
        true if o.abs() <= half => (f32::NEG_INFINITY, f32::INFINITY),
        true => (f32::INFINITY, f32::NEG_INFINITY),
        false => {
            let (a, b) = ((-half - o) / d, (half - o) / d);
            (a.min(b), a.max(b))
        }
    }
}

fn cylinder_normal(size: Vec3, p: Vec3) -> Vec3 {
    let radial = vec3(p.x, p.y, 0.0);
    if size.z - p.z.abs() < size.x - radial.length() { vec3(0.0, 0.0, p.z.signum()) } else { radial.unit() }
}

fn box_normal(half: Vec3, p: Vec3) -> Vec3 {
    let inside = half - p.map(f32::abs);
    if inside.x <= inside.y && inside.x <= inside.z {
        vec3(p.x.signum(), 0.0, 0.0)
    } else if inside.y <= inside.z {
        vec3(0.0, p.y.signum(), 0.0)
    } else {
        vec3(0.0, 0.0, p.z.signum())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(kind: GeomType, origin: [f32; 3], direction: [f32; 3], expected: f32) {
        let size = vec3(0.5, if kind == GeomType::Capsule { 0.5 } else { 1.0 }, 2.0);
        let found = entry(kind, size, origin.into(), direction.into());
        assert!(found == expected || (found - expected).abs() < 1e-4, "expected {expected}, found {found}");
    }

    #[test]
    fn along_the_axis() {
        let (from, to) = ([0.0, 0.0, 10.0], [0.0, 0.0, -1.0]);
        check(GeomType::Plane, from, to, 10.0);
        check(GeomType::Sphere, from, to, 9.5);
        check(GeomType::Capsule, from, to, 7.5);
        check(GeomType::Ellipsoid, from, to, 8.0);
        check(GeomType::Cylinder, from, to, 8.0);
        check(GeomType::Box, from, to, 8.0);
    }

    #[test]
    fn across_the_axis_with_a_direction_that_is_not_a_unit() {
        let (from, to) = ([10.0, 0.0, 1.0], [-2.0, 0.0, 0.0]);
        check(GeomType::Capsule, from, to, 4.75);
        check(GeomType::Cylinder, from, to, 4.75);
        check(GeomType::Box, from, to, 4.75);
        check(GeomType::Ellipsoid, from, to, 5.0 - 0.125 * 3.0_f32.sqrt());
    }

    #[test]
    fn beside_and_leaving() {
        check(GeomType::Cylinder, [0.6, 0.0, 10.0], [0.0, 0.0, -1.0], f32::INFINITY);
        check(GeomType::Cylinder, [0.0, 0.0, 0.0], [1.0, 0.0, 0.0], -0.5);
        check(GeomType::Plane, [0.0, 0.0, -1.0], [0.0, 0.0, 1.0], f32::INFINITY);
        check(GeomType::Plane, [0.7, 0.0, 1.0], [0.0, 0.0, -1.0], f32::INFINITY);
        check(GeomType::Box, [0.0, 1.5, 5.0], [0.0, 0.0, -1.0], f32::INFINITY);
    }

    #[test]
    fn a_thin_rod_far_away_is_still_hit_where_it_is() {
        let found =
            entry(GeomType::Capsule, vec3(0.01, 0.01, 1.0), vec3(300.0, 0.0, 0.3), vec3(-1.0, 0.0, 0.0));
        assert!((found - 299.99).abs() < 1e-3, "{found}");
    }
}

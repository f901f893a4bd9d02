//! Things made of solids, described from their own point of view and then set into the environment.

use crate::class::Class;
use crate::hull::Lean;
use crate::material::Material;
use crate::solid::{Shape, Solid, along, turned};
use offnominal_core::vec3::{Vec3, vec3};
use std::f32::consts::FRAC_PI_2;

/// A part of a body: its middle and half sizes in metres; x to the right, y up, z to the front of the body.
#[derive(Debug, Clone, PartialEq)]
pub struct Part {
    shape: Shape,
    centre: Vec3,
    half: Vec3,
    axes: [Vec3; 3],
    material: Material,
    class: Option<Class>,
}

/// A part of the given form.
pub fn part(shape: Shape, centre: [f32; 3], size: [f32; 3], material: Material) -> Part {
    let axes = turned(0.0, 0.0, 0.0);
    Part { shape, centre: centre.into(), half: Vec3::from(size) * 0.5, axes, material, class: None }
}

/// A box standing at a height, by its sizes.
pub fn block([x, y, z]: [f32; 3], size: [f32; 3], material: Material) -> Part {
    part(Shape::Box, [x, y + 0.5 * size[1], z], size, material)
}

/// A box with leaning sides standing at a height, by its sizes.
pub fn hull([x, y, z]: [f32; 3], size: [f32; 3], lean: Lean, material: Material) -> Part {
    part(Shape::Hull(lean), [x, y + 0.5 * size[1], z], size, material)
}

/// A ball or egg about its middle.
pub fn ball(at: [f32; 3], size: [f32; 3], material: Material) -> Part {
    part(Shape::Ellipsoid, at, size, material)
}

/// An upright cylinder standing at a height, by diameter and height.
pub fn post(at: [f32; 3], diameter: f32, height: f32, material: Material) -> Part {
    cone(at, [diameter, diameter], height, material)
}

/// An upright cone standing at a height, by its diameters at bottom and top.
pub fn cone([x, y, z]: [f32; 3], [low, top]: [f32; 2], height: f32, material: Material) -> Part {
    let wide = low.max(top);
    part(Shape::Cone(top / low), [x, y + 0.5 * height, z], [wide, height, wide], material)
}

/// A round bar from one point to another, by its diameters there.
pub fn bar(from: [f32; 3], to: [f32; 3], [first, last]: [f32; 2], material: Material) -> Part {
    let (from, to) = (Vec3::from(from), Vec3::from(to));
    let (way, wide) = (to - from, first.max(last));
    let middle = from.lerp(to, 0.5);
    let up = way.unit();
    let right = up.cross(if up.z.abs() < 0.9 { vec3(0.0, 0.0, 1.0) } else { vec3(1.0, 0.0, 0.0) }).unit();
    let size = [wide, way.length(), wide];
    Part {
        axes: [right, up, right.cross(up)],
        ..part(Shape::Cone(last / first), [middle.x, middle.y, middle.z], size, material)
    }
}

impl Part {
    /// The same, pitched forward and rolled by angles in radians.
    pub fn tilted(self, pitch: f32, roll: f32) -> Part {
        Part { axes: turned(0.0, pitch, roll), ..self }
    }

    /// The same, turned to the right by an angle in radians.
    pub fn headed(self, yaw: f32) -> Part {
        Part { axes: turned(yaw, 0.0, 0.0), ..self }
    }

    /// The same, as a thing of another class than the rest of its body.
    pub fn of(self, class: Class) -> Part {
        Part { class: Some(class), ..self }
    }

    /// The same, in another size, about the body's origin.
    pub fn resized(self, size: f32) -> Part {
        Part { centre: self.centre * size, half: self.half * size, ..self }
    }

    #[cfg(test)]
    /// Its lowest point, as far as the box around it tells.
    pub fn lowest(&self) -> f32 {
        let reach: f32 = (0..3).map(|i| (self.axes[i].y * self.half[i]).abs()).sum();
        self.centre.y - reach
    }
}

/// A cylinder whose axle lies across the body.
pub fn across(at: [f32; 3], diameter: f32, width: f32, material: Material) -> Part {
    part(Shape::Cone(1.0), at, [diameter, width, diameter], material).tilted(0.0, FRAC_PI_2)
}

/// A tyre with its rim, whose axle lies across the body.
pub fn wheel(at: [f32; 3], diameter: f32, width: f32) -> [Part; 2] {
    let (rubber, rim) = (Material::Plain(Vec3::all(0.012)), Material::Plain(Vec3::all(0.22)));
    [across(at, diameter, width, rubber), across(at, 0.6 * diameter, width + 0.02, rim)]
}

/// A body in its own space.
#[derive(Debug, Clone, PartialEq)]
pub struct Body {
    /// What most of it is.
    pub class: Class,
    /// Its parts.
    pub parts: Vec<Part>,
    /// Width and length of the ground that it covers.
    pub footprint: [f32; 2],
}

/// Where a body stands: x, height of its underside, z, its axes, and its size.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Stand {
    /// Its place.
    pub at: Vec3,
    /// Its heading; 0 looks away from the camera.
    pub yaw: f32,
    /// By how much the ground rises along z, which it follows; 0 for what stands upright.
    pub rise: f32,
    /// How large it is against its nominal size.
    pub size: f32,
}

impl Stand {
    /// On level ground, in nominal size.
    pub fn level(x: f32, z: f32, yaw: f32) -> Stand {
        Stand { at: vec3(x, 0.0, z), yaw, rise: 0.0, size: 1.0 }
    }

    /// Right, up and ahead.
    fn axes(&self) -> [Vec3; 3] {
        let up = vec3(0.0, 1.0, -self.rise).unit();
        let (sin, cos) = self.yaw.sin_cos();
        // The heading, sheared onto the ground.
        let ahead = vec3(sin, self.rise * cos, cos).unit();
        [up.cross(ahead), up, ahead]
    }
}

impl Body {
    /// Its solids in the environment; a part of another class belongs to the thing after it.
    pub fn solids(&self, stand: Stand, thing: usize) -> Vec<Solid> {
        let axes = stand.axes();
        let place = |part: &Part| Solid {
            shape: part.shape,
            centre: stand.at + along(&axes, part.centre * stand.size),
            half: part.half * stand.size,
            axes: part.axes.map(|axis| along(&axes, axis)),
            material: part.material,
            thing: thing + usize::from(part.class.is_some()),
        };
        self.parts.iter().map(place).collect()
    }

    /// The class of its odd parts, if there are any.
    pub fn second_class(&self) -> Option<Class> {
        self.parts.iter().find_map(|p| p.class)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bar_reaches_from_one_point_to_the_other() {
        let body = Body {
            class: Class::Pole,
            parts: vec![bar([0.0, 1.0, 0.0], [0.0, 2.0, 1.0], [0.1, 0.1], Material::Plain(Vec3::all(0.5)))],
            footprint: [1.0; 2],
        };
        let solid = &body.solids(Stand::level(3.0, 5.0, 0.0), 0)[0];
        for (end, point) in [(-1.0, vec3(3.0, 1.0, 5.0)), (1.0, vec3(3.0, 2.0, 6.0))] {
            assert!((solid.local(point) - vec3(0.0, end, 0.0)).length() < 1e-4);
        }
    }

    #[test]
    fn axes_follow_the_ground_and_stay_at_right_angles() {
        for yaw in [0.0, 0.7, 2.0, 4.0] {
            let [right, up, ahead] = Stand { rise: 0.1, ..Stand::level(0.0, 0.0, yaw) }.axes();
            assert!(right.dot(up).abs() + up.dot(ahead).abs() + ahead.dot(right).abs() < 1e-6);
            // On the ground y = 0.1 z.
            assert!((ahead.y - 0.1 * ahead.z).abs() < 1e-6 && (right.y - 0.1 * right.z).abs() < 1e-6);
        }
        assert_eq!(Stand::level(0.0, 0.0, 0.0).axes()[0], vec3(1.0, 0.0, 0.0));
    }
}
